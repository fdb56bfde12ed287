"""The official TypeScript SDKs as counterparts: their servers for our client, their clients for our server.

    python tests/interop/run.py [PART OF A NAME]

Rule: each pair does everything that both have; a table says what held, and the exit code is 1 where something did not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import pathlib
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from mcp_anyrev import Client, ErrorAnswer, Exchange, Registry, Settings, elicit, roots, sample, serve, stdio
from mcp_revisions import AdapterSet
from mcp_revisions.protocol import Adapter
from pydantic import BaseModel

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from npm import NotInstalled, Packages  # noqa: E402  # it stands beside this folder

PAIR_SECONDS = 40
TOOLS = ["add", "fail", "fate", "grow", "name", "noisy", "others", "slow", "steps"]
ROOT_URI = "file:///work"
ADAPTERS = AdapterSet.default()


class Person(BaseModel):
    name: str


def declared() -> Registry:
    """The same server as `offering.mjs` makes, of our own."""
    registry = Registry("counterpart", "1.0", instructions="Ask for anything.")
    fates = ["unknown"]

    @registry.tool(title="Adder")
    def add(a: int, b: int) -> dict[str, int]:
        return {"total": a + b}

    @registry.tool
    def fail() -> str:
        raise ValueError("not today")

    @registry.tool(asks=False)
    async def steps(ex: Exchange) -> str:
        for step in (1, 2, 3):
            await ex.progress(step, 3)
            await asyncio.sleep(0.02)  # their clients take progress that comes together with the answer for too late
        return "stepped"

    @registry.tool(asks=False)
    async def noisy(ex: Exchange) -> str:
        await ex.log("error", "loud")
        return "logged"

    @registry.tool
    async def name(ex: Exchange) -> str:
        answer = await ex.ask("who", elicit("Who?", Person))
        return answer.data.name if answer.accepted else str(answer.action)

    @registry.tool
    async def others(ex: Exchange) -> str:
        said = await ex.ask_all(m=sample("Hello", max_tokens=5), r=roots())
        return f"{said['m'].data.content.text} {said['r'].data.roots[0].uri}"

    @registry.tool
    async def slow() -> str:
        fates.append("running")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            fates.append("cancelled")
            raise
        return "slept"

    @registry.tool
    async def fate() -> str:
        return fates[-1]

    @registry.tool
    def grow() -> str:
        registry.changed("tools")
        return "grown"

    @registry.resource("mem://a", mime_type="text/plain")
    def a() -> str:
        return "A"

    @registry.resource("mem://n/{number}")
    def numbered(number: int) -> str:
        return f"number {number}"

    @registry.prompt
    def greet(who: str) -> str:
        return f"Hello {who}"

    @registry.completion("who", prompt="greet")
    def whoever(value: str) -> list[str]:
        return [name for name in ("ada", "alan") if name.startswith(value)]

    return registry


# --- Our client ---


async def our_client(target: Any, adapter: Adapter, *, keeps_sessions: bool = True, **options: Any) -> None:
    """Do everything that there is; `keeps_sessions` is false for a server that cannot ask and tell in a handshake revision."""
    steps: list[float] = []
    logs: list[Any] = []
    options |= {
        "on_ask": lambda asked: {"name": "Ada"},
        "on_sample": lambda asked: "sampled",
        "on_roots": lambda: [ROOT_URI],
        "on_log": lambda told: logs.append(told.data),
        "timeout_seconds": 10,
    }
    async with Client(target, adapter, **options) as client:
        await client.initialize()
        assert client.server is not None and client.server.name == "counterpart"
        assert sorted(tool.name for tool in await client.list_tools()) == TOOLS
        total = await client.call_tool("add", {"a": 1, "b": 2})
        assert json.loads(total.text) == {"total": 3}
        assert (await client.call_tool("fail")).is_error
        await client.call_tool("steps", on_progress=lambda told: steps.append(told.progress))
        assert (await client.read_resource("mem://a")).contents[0].text == "A"  # type: ignore[union-attr]
        assert (await client.get_prompt("greet", {"who": "Ada"})).messages[0].content.text == "Hello Ada"  # type: ignore[union-attr]
        assert (await client.complete("who", "al", prompt="greet")).values == ["alan"]
        for wrong in (client.read_resource("mem://no"), client.get_prompt("no such")):
            try:
                await wrong
            except ErrorAnswer:
                continue
            raise AssertionError("what is not there was given")
        if keeps_sessions and not adapter.asks_in_arguments:
            assert (await client.call_tool("name")).text == "Ada"
        if keeps_sessions:
            assert (await client.call_tool("others")).text == f"sampled {ROOT_URI}"
            await client.set_log_level("warning")
            await client.call_tool("noisy")
            assert await given_up(client) == "cancelled"
            assert logs == ["loud"], f"logs: {logs}"
            async with client.listen("tools") as changes:
                await asyncio.sleep(0.2)  # a stream of the session may still be opening
                await client.call_tool("grow")
                async for change in changes:
                    assert change.of == "tools"
                    break
        assert steps == [1, 2, 3], f"progress: {steps}"


async def given_up(client: Client) -> str:
    """What becomes of a call that is cancelled."""
    call = asyncio.ensure_future(client.call_tool("slow"))
    while (await client.call_tool("fate")).text != "running":  # noqa: ASYNC110  # it is another process
        await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    while (found := (await client.call_tool("fate")).text) == "running":  # noqa: ASYNC110  # as above
        await asyncio.sleep(0.01)
    return found


# --- Their clients ---


async def their_client(packages: Packages, sdk: str, way: str, target: str, adapter: Adapter | None) -> None:
    pin = [] if adapter is None else [adapter.version]
    child = await asyncio.create_subprocess_exec(
        str(packages.node),
        str(packages.folder / "client.mjs"),
        sdk,
        way,
        target,
        *pin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told, said = await child.communicate()
    finally:
        if child.returncode is None:
            child.kill()
    assert child.returncode == 0, said.decode()[-400:]
    found = json.loads(told)
    asked = found.pop("name")
    assert asked in ("Ada", "in arguments"), asked
    assert json.loads(found.pop("sum")) == {"total": 3}
    assert found == {
        "server": "counterpart", "tools": TOOLS, "failed": True, "steps": [1, 2, 3], "resource": "A", "prompt": "Hello Ada", "changed": True,
        "template": "number 7", "completed": ["alan"], "refused": [True, True], "logs": ["loud"], "others": f"sampled {ROOT_URI}",
        "fate": "cancelled",
    }, found  # fmt: skip


@contextlib.asynccontextmanager
async def their_server(packages: Packages, sdk: str) -> AsyncIterator[str]:
    child = await asyncio.create_subprocess_exec(
        str(packages.node), str(packages.folder / f"server_{sdk}.mjs"), "http", stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await child.stdout.readline())}"
    finally:
        child.kill()
        await child.wait()


Pair = tuple[str, Callable[[], Awaitable[None]]]


def pairs(packages: Packages, urls: dict[str, str]) -> list[Pair]:
    """What is tried, by name."""
    node = str(packages.node)
    found: list[Pair] = []

    def add(name: str, run: Callable[..., Awaitable[None]], *given: Any, **options: Any) -> None:
        async def pair() -> None:
            await run(*given, **options)

        found.append((name, pair))

    own = [sys.executable, str(HERE / "run.py"), "--serve"]
    for adapter in ADAPTERS.by_version.values():
        version = adapter.version
        if adapter.has_handshake:
            add(f"our client, first SDK, http, {version}", our_client, f"{urls['v1']}/mcp", adapter, transport="http")
            add(
                f"our client, first SDK, http+sse, {version}", our_client, f"{urls['v1']}/sse", adapter, transport="sse"
            )
            add(
                f"our client, first SDK, stdio, {version}",
                our_client,
                [node, str(packages.folder / "server_v1.mjs"), "stdio"],
                adapter,
            )
            add(
                f"our client, second SDK, http, {version}",
                our_client,
                f"{urls['v2']}/mcp",
                adapter,
                transport="http",
                keeps_sessions=False,
            )
        else:
            add(f"our client, second SDK, http, {version}", our_client, f"{urls['v2']}/mcp", adapter)
            add(
                f"second SDK's client, our server, http, {version}",
                their_client,
                packages,
                "v2",
                "http",
                f"{urls[version]}/mcp",
                adapter,
            )
            add(
                f"second SDK's client, our server, stdio, {version}",
                their_client,
                packages,
                "v2",
                "stdio",
                json.dumps(own),
                adapter,
            )
        add(
            f"our client, second SDK, stdio, {version}",
            our_client,
            [node, str(packages.folder / "server_v2.mjs"), "stdio"],
            adapter,
        )
    # They ask for the newest handshake revision that they speak, unless the server has only an older one.
    for version in ADAPTERS.handshake_versions:
        targets = {
            "http": f"{urls[version]}/mcp",
            "sse": f"{urls[version]}/sse",
            "stdio": json.dumps([*own, version]),
        }
        for sdk, name in (("v1", "first"), ("v2", "second")):
            for way, target in targets.items():
                shown = f"{name} SDK's client, our server, {way}, {version}"
                add(shown, their_client, packages, sdk, way, target, None)
    return found


async def main(wanted: str) -> int:
    packages = Packages(ROOT, HERE)
    try:
        packages.install()
    except NotInstalled as reason:
        print(reason, file=sys.stderr)
        return 1
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, packages.folder)
    failed = 0
    async with contextlib.AsyncExitStack() as stack:
        urls = {sdk: await stack.enter_async_context(their_server(packages, sdk)) for sdk in ("v1", "v2")}
        for version in ADAPTERS.versions:
            sse_path = "/sse" if ADAPTERS.by_version[version].served_on_http_sse else None
            ours = serve(declared(), Settings(revisions=[version]), sse_path=sse_path)
            urls[version] = (await stack.enter_async_context(ours)).removesuffix("/mcp")
        for name, run in pairs(packages, urls):
            if wanted not in name:
                continue
            try:
                async with asyncio.timeout(PAIR_SECONDS):
                    await run()
                outcome = "holds"
            except Exception as error:
                failed += 1
                outcome = f"FAILED: {error!r}"
            print(f"{name:<70} {outcome}", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    logging.getLogger("mcp_anyrev").setLevel(logging.CRITICAL)  # tools fail, and are to
    if sys.argv[1:2] == ["--serve"]:
        stdio(declared(), Settings(revisions=sys.argv[2:] or None))
    else:
        sys.exit(asyncio.run(main(" ".join(sys.argv[1:]))))
