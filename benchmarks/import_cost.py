"""What importing costs beyond pydantic: the median of nine fresh processes each, all of them interleaved in one run.

Rule: every figure stands beside `import pydantic` of the same round, so that a slow machine slows both.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

ROUNDS = 9

_PROGRAM = """
import time
start = time.perf_counter()
import pydantic
pydantic.BaseModel, pydantic.TypeAdapter
middle = time.perf_counter()
{statement}
end = time.perf_counter()
print((middle - start) * 1000, (end - middle) * 1000)
"""


def statements() -> dict[str, str]:
    """What is measured: a label → the statements that are timed after pydantic."""
    from mcp_revisions import AdapterSet

    found = {"import mcp_revisions": "import mcp_revisions", "import mcp_anyrev": "import mcp_anyrev"}
    found["Client"] = "from mcp_anyrev import Client"
    for version in AdapterSet.default().versions:
        package = f"mcp_revisions.v{version.replace('-', '_')}"
        found[f"models of {version}"] = f"import {package}.models"
        found[f"adapter of {version}"] = f"import {package}.adapter"
    return found


def main() -> None:
    """Print one line a statement: milliseconds beyond pydantic, and pydantic's own."""
    timed = {label: _PROGRAM.format(statement=statement) for label, statement in statements().items()}
    measured: dict[str, list[tuple[float, float]]] = {label: [] for label in timed}
    for turn in range(ROUNDS + 1):
        for label, program in timed.items():
            out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            if turn:  # the first round writes the bytecode
                pydantic, beyond = map(float, out.split())
                measured[label].append((pydantic, beyond))
    print(f"{'import, ms (median of ' + str(ROUNDS) + ')':34} {'beyond pydantic':>16} {'pydantic itself':>16}")
    for label, pairs in measured.items():
        beyond, pydantic = (statistics.median(pair[place] for pair in pairs) for place in (1, 0))
        print(f"{label:34} {beyond:16.1f} {pydantic:16.1f}")


if __name__ == "__main__":
    main()
