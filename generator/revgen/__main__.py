"""`python -m revgen` is the command `revgen`."""

from __future__ import annotations

from .main import main

# Where processes are not forked, each that renders imports this module under another name.
if __name__ == "__main__":
    main()
