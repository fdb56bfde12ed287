"""How long the generator takes: from nothing, when nothing changed, and for its checks.

Rule: it works on a copy, so that a measurement changes nothing.
"""

from __future__ import annotations

import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 3


def main() -> None:
    """Print one line a command: the median time in seconds."""
    root = pathlib.Path(__file__).resolve().parent.parent
    print(f"{'generator, s (median of ' + str(ROUNDS) + ')':34} {'seconds':>16}")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ("specs", "templates"):
            shutil.copytree(root / name, copy / name)
        cases = (
            ("generate from nothing", "generate", True),
            ("generate, nothing changed", "generate", False),
            ("lint", "lint", False),
        )
        for label, command, fresh in cases:
            times = []
            for _ in range(ROUNDS):
                if fresh:
                    shutil.rmtree(copy / "generated", ignore_errors=True)
                start = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-m", "revgen", command, "--root", str(copy)], capture_output=True, check=True
                )
                times.append(time.perf_counter() - start)
            print(f"{label:34} {statistics.median(times):16.2f}")


if __name__ == "__main__":
    main()
