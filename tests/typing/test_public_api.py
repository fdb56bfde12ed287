"""The typed script runs; that it is clean for mypy and pyright, `make check` shows."""

import pathlib
import subprocess
import sys


def test_the_script_that_the_checkers_read_runs() -> None:
    script = pathlib.Path(__file__).with_name("public_api.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
