"""What the suite found in a leg.

Rule: a scenario that checked nothing is not clean, and a leg that ran nothing does not hold.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections import Counter
from dataclasses import dataclass, field

_STAMP = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")
_WORDS = 300


@dataclass
class Verdict:
    """The verdict on a leg.

    Attributes:
        leg: its name.
        scenarios: how many ran.
        clean: how many of them passed something, and failed and warned of nothing.
        checks: how many checks had each outcome.
        faults: what failed and what warned, a line each.
        seconds: how long it took.
    """

    leg: str
    scenarios: int = 0
    clean: int = 0
    checks: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    seconds: float = 0

    @property
    def holds(self) -> bool:
        """Did it run, with nothing failed and nothing warned of?"""
        return self.scenarios > 0 and not self.faults

    def read(self, folder: pathlib.Path, counted: set[str] | None = None) -> None:
        """Read what the suite wrote.

        Args:
            folder: where it did.
            counted: the scenarios that count; None for all.
        """
        ran = set()
        for path in sorted(folder.rglob("checks.json")):
            name = _STAMP.sub("", path.parent.name).removeprefix("server-")
            ran.add(name)
            if counted is not None and name not in counted:
                continue
            checks = json.loads(path.read_text("utf-8"))
            outcomes = Counter(check["status"] for check in checks)
            self.scenarios += 1
            self.checks += outcomes
            self.clean += outcomes["SUCCESS"] > 0 and not outcomes["FAILURE"] + outcomes["WARNING"]
            if not outcomes["SUCCESS"] + outcomes["SKIPPED"] + outcomes["FAILURE"] + outcomes["WARNING"]:
                self.faults.append(f"{name} checked nothing")
            for check in checks:
                if check["status"] in ("FAILURE", "WARNING"):
                    words = check.get("errorMessage") or json.dumps(check.get("details", {}))
                    self.faults.append(f"{check['status'].lower()} in {name}, {check['id']}: {words[:_WORDS]}")
        for name in sorted((counted or set()) - ran):
            self.faults.append(f"{name} did not run")

    def row(self) -> str:
        """The leg as a line of the table."""
        numbers = [self.checks[status] for status in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED")]
        passed, failed, warned, skipped = numbers
        return (
            f"{self.leg:<22}{self.scenarios:>10}{self.clean:>7}{passed:>8}{failed:>8}{warned:>8}{skipped:>9}"
            f"{self.seconds:>9.1f}"
        )
