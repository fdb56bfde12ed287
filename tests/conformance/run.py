"""Run the official conformance suite against the example server and the client, on every revision: `make conformance`.

Rule: a leg holds if it ran something and no check of it failed or warned. The suite is pinned to the byte by `package-lock.json`; it
runs on the Node that comes as a wheel. Loopback only once it is installed.

    python tests/conformance/run.py [--leg all:2025-11-25 …] [--url http://localhost:8000/mcp]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import pathlib
import sys
import tempfile
import time
from collections.abc import AsyncIterator

from pinning import pinned
from suite import NotInstalled, Suite
from verdicts import Verdict

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGISTRY = "examples/everything.py:registry"
COMMAND = "from mcp_anyrev.cli.main import main; main()"
AT_ONCE = 2
START_SECONDS = 30

LEGS = (
    "all:2025-11-25",
    "required:2025-11-25",
    "all:2026-07-28",
    "required:2026-07-28",
    "forced:2024-11-05",
    "forced:2025-03-26",
    "forced:2025-06-18",
    "client:2025-06-18",
    "client:2025-11-25",
    "client:2026-07-28",
    "skills:2026-07-28",
    "tasks:2026-07-28",
)
"""`all` and `required` are the suite's own sets. The suite's client asks for one and the same revision in every handshake, so those two
exercise the two newest; `forced` has every scenario whose feature the revision has, with the revision put into the handshake. `client` has every scenario for clients that needs no token; `skills` and `tasks` what the suite has of these extensions, `skills` for both."""

SKILLS = {
    "server": ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"),
    "client": (
        "sep-2640-client-no-prefetch",
        "sep-2640-client-verify-digest",
        "sep-2640-client-verify-size",
        "sep-2640-client-verify-frontmatter",
    ),
}
"""The suite lists no extension's scenarios for a revision."""

TASKS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-mrtr-composition",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-status-notifications",
)
"""The same of the other one; the suite skips the last."""

FORCED_FROM = "2025-11-25"
"""The revision whose scenarios `forced` takes."""

FIRST_WITH = {
    "tools-call-audio": "2025-03-26",
    "tools-call-elicitation": "2025-06-18",
    "elicitation-sep1034-defaults": "2025-11-25",
    "elicitation-sep1330-enums": "2025-11-25",
    "json-schema-2020-12": "2025-11-25",
    "server-sse-polling": "2025-11-25",
}
"""Scenarios of `forced` whose feature older revisions lack, with the first that has it."""

NEEDS_TOKEN = "auth/"
"""What the names of scenarios begin with for which a client would have to get a token."""

CLIENT = f"{sys.executable} {pathlib.Path(__file__).with_name('client.py')}"

KNOWN_TO_SUITE = {"2024-11-05": "2025-03-26"}
"""A revision for which the suite has no schema, and the one whose schema it then uses."""


async def run_leg(suite: Suite, url: str, leg: str, results: pathlib.Path) -> Verdict:
    """Run one leg."""
    kind, revision = leg.split(":")
    folder = results / leg.replace(":", "-")
    folder.mkdir(parents=True)
    verdict = Verdict(leg)
    begun = time.monotonic()
    if kind == "required":
        await suite.run(folder, "--url", url, "--requirements", revision)
        verdict.read(folder, await asyncio.to_thread(suite.required, revision))
    elif kind == "all":
        await suite.run(folder, "--url", url, "--suite", "all", "--spec-version", revision)
        verdict.read(folder)
    elif kind == "forced":
        await _forced(suite, url, revision, folder, verdict)
    elif kind == "client":
        await _client(suite, revision, folder, verdict)
    elif kind == "skills":
        for name in SKILLS["server"]:
            await suite.run(folder, "--url", url, "--scenario", name)
        for name in SKILLS["client"]:
            await suite.run_client(folder, CLIENT, name, None)
        verdict.read(folder)
    elif kind == "tasks":
        for name in TASKS:
            await suite.run(folder, "--url", url, "--scenario", name)
        verdict.read(folder)
    else:
        raise SystemExit(f"there is no leg {leg!r}; legs: {', '.join(LEGS)}")
    verdict.seconds = time.monotonic() - begun
    return verdict


async def _forced(suite: Suite, url: str, revision: str, folder: pathlib.Path, verdict: Verdict) -> None:
    names = [name for name in await suite.scenarios(FORCED_FROM) if FIRST_WITH.get(name, revision) <= revision]
    version = KNOWN_TO_SUITE.get(revision, revision)
    gate = asyncio.Semaphore(AT_ONCE)
    async with pinned(url, revision) as proxy:

        async def one(name: str) -> None:
            async with gate:
                await suite.run(folder, "--url", proxy.url, "--scenario", name, "--spec-version", version, "--force")

        await asyncio.gather(*(one(name) for name in names))
    verdict.read(folder)
    if proxy.negotiated != {revision}:
        verdict.faults.append(f"negotiated {', '.join(sorted(proxy.negotiated)) or 'nothing'}, not {revision}")


async def _client(suite: Suite, revision: str, folder: pathlib.Path, verdict: Verdict) -> None:
    failed = []
    for name in await suite.scenarios(revision, of="client"):  # one after the other: some look at the clock
        if not name.startswith(NEEDS_TOKEN) and not await suite.run_client(folder, CLIENT, name, revision):
            failed.append(name)
    verdict.read(folder)
    if failed and not verdict.faults:
        verdict.faults.append(f"the client itself failed in {', '.join(failed)}")


@contextlib.asynccontextmanager
async def example_server() -> AsyncIterator[str]:
    """The example, served by the command line as users do it; gives its URL."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", COMMAND, "serve", REGISTRY, "--port", "0", cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert child.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            line = (await child.stdout.readline()).decode().strip()
        if not line:
            raise SystemExit(f"{REGISTRY} does not start")
        # The suite checks what a browser would be refused, and does so only at an address of this name.
        yield line.replace("127.0.0.1", "localhost")
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.terminate()
        await child.wait()


async def run(legs: list[str], url: str | None, results: pathlib.Path) -> int:
    """Run legs and print the table.

    Returns:
        The exit code: 0 where every leg holds.
    """
    suite = Suite(ROOT)
    await asyncio.to_thread(suite.install)
    async with contextlib.AsyncExitStack() as stack:
        address = url or await stack.enter_async_context(example_server())
        verdicts = [await run_leg(suite, address, leg, results) for leg in legs]
    for verdict in verdicts:
        for fault in verdict.faults:
            print(f"{verdict.leg}: {fault}")
    print(
        f"{'leg':<22}{'scenarios':>10}{'clean':>7}{'passed':>8}{'failed':>8}{'warned':>8}{'skipped':>9}{'seconds':>9}"
    )
    for verdict in verdicts:
        print(verdict.row())
    broken = [verdict for verdict in verdicts if not verdict.holds]
    print(f"conformance: {len(verdicts) - len(broken)} legs passed, {len(broken)} failed")
    return 1 if broken else 0


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--leg", action="append", choices=LEGS, help="run this one; all if none is given")
    parser.add_argument("--url", help="a server that runs already, in place of the example")
    parser.add_argument("--results", type=pathlib.Path, help="keep what the suite says in this new folder")
    options = parser.parse_args()
    legs = options.leg or list(LEGS)
    try:
        if options.results is not None:
            options.results.mkdir(parents=True)
            return asyncio.run(run(legs, options.url, options.results))
        with tempfile.TemporaryDirectory() as folder:
            return asyncio.run(run(legs, options.url, pathlib.Path(folder)))
    except (NotInstalled, FileExistsError) as fault:
        print(fault, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
