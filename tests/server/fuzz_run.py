"""Sends what `fuzzing` makes, and judges what comes back.

Rule: every answer is a 4xx, or a 2xx whose messages a revision defines; none takes longer than `ANSWER_SECONDS`; memory does not grow.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pathlib
import sys
import time
import urllib.parse
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from fuzzing import ADAPTERS, Fuzzer, Request
from sent_messages import NotOfRevision, check_sent

SERVER = pathlib.Path(__file__).parent / "fuzz_server.py"
ANSWER_SECONDS = 5
LISTENED_SECONDS = 0.05
CONNECTIONS = 6
SESSION_REQUESTS = 25
BODY_LIMIT = 4 * 2**20
START_SECONDS = 30


@dataclass
class Answer:
    """What came back.

    Attributes:
        status: the HTTP status; 0 where the connection was closed without an answer.
        headers: names in lower case.
        body: what came of the body.
        whole: did all of it come?
    """

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool

    @property
    def streamed(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    def messages(self) -> list[object]:
        """The messages in it."""
        if not self.streamed:
            return [json.loads(self.body)] if self.body else []
        data = (line[5:].strip() for line in self.body.decode().splitlines() if line.startswith("data:"))
        return [json.loads(one) for one in data if one]


@dataclass
class Findings:
    """What a run found.

    Attributes:
        statuses: how many answers had each status.
        faults: what was wrong, a line each.
        slowest: the longest time that an answer took, in seconds.
        resident: the resident memory of the server, in bytes, after each quarter.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0
    resident: list[int] = field(default_factory=list)

    @property
    def grown(self) -> int:
        """By how many bytes the server grew from the first quarter to the last."""
        return self.resident[-1] - self.resident[0]

    def line(self, binding: str, seed: int) -> str:
        """All of it in a line."""
        total = sum(self.statuses.values())
        refused = sum(count for status, count in self.statuses.items() if 400 <= status < 500)
        return (
            f"{binding} (seed {seed}): {total} requests, {total - refused} answered, {refused} refused, "
            f"{len(self.faults)} faults, slowest {self.slowest:.2f} s, grown by {self.grown / 2**20:.1f} MiB"
        )


@contextlib.asynccontextmanager
async def fuzzed_server(binding: str) -> AsyncIterator[tuple[str, int]]:
    """The server; gives its URL and the id of its process."""
    # What a large body took is given back at once; else memory that glibc keeps free would pass for memory that the server keeps.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    child = await asyncio.create_subprocess_exec(
        sys.executable, str(SERVER), binding, stdout=asyncio.subprocess.PIPE, env=environment
    )
    try:
        assert child.stdout is not None
        async with asyncio.timeout(START_SECONDS):
            url = (await child.stdout.readline()).decode().strip()
        assert url, "the server does not start"
        yield url, child.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def fuzz(binding: str, seed: int, requests: int) -> Findings:
    """Send so many requests, several at a time."""
    findings = Findings()
    fuzzer = Fuzzer(seed)
    async with fuzzed_server(binding) as (url, process):
        quarter = requests // 4
        for _ in range(4):
            senders = [Sender(url, fuzzer, findings) for _ in range(CONNECTIONS)]
            await asyncio.gather(*(sender.run(quarter // CONNECTIONS + 1) for sender in senders))
            findings.resident.append(_resident(process))
    return findings


class Sender:
    """One connection at a time, opened anew where the last one is used up."""

    def __init__(self, url: str, fuzzer: Fuzzer, findings: Findings) -> None:
        parts = urllib.parse.urlsplit(url)
        self._host, self._port, self._path = parts.hostname or "", parts.port or 0, parts.path
        self._fuzzer = fuzzer
        self._findings = findings
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def run(self, requests: int) -> None:
        """Send so many requests, one after the other."""
        for number in range(requests):
            if number % SESSION_REQUESTS == 0:
                await self._open_sessions()
            await self._judged(self._fuzzer.request())
        self._close()

    async def _open_sessions(self) -> None:
        """New sessions for all to use, since some requests end them."""
        for adapter in ADAPTERS.values():
            if adapter.has_handshake and adapter.session_header is not None:
                answer = await self.send(self._fuzzer.handshake(adapter))
                self._fuzzer.sessions[adapter.version] = answer.headers[adapter.session_header.lower()]

    async def _judged(self, request: Request) -> None:
        begun = time.monotonic()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self.send(request)
        except TimeoutError:
            self._close()
            self._fault(request, f"no answer within {ANSWER_SECONDS} s")
            return
        self._findings.statuses[answer.status] += 1
        self._findings.slowest = max(self._findings.slowest, time.monotonic() - begun)
        fault = _fault_of(request, answer)
        if fault:
            self._fault(request, fault)

    def _fault(self, request: Request, words: str) -> None:
        head = {name.decode("latin-1"): value.decode("latin-1")[:60] for name, value in request.headers}
        self._findings.faults.append(f"{words}: {request.verb} {head} {request.body[:400]!r}")

    async def send(self, request: Request) -> Answer:
        """Send a request and read what comes back, on a stream that stays open for a moment only."""
        written = request.written(self._path, f"{self._host}:{self._port}")
        for last in (False, True):
            fresh = self._connection is None
            if self._connection is None:
                self._connection = await asyncio.open_connection(self._host, self._port, limit=2**24)
            reader, writer = self._connection
            writer.write(written)
            with contextlib.suppress(ConnectionError):  # a server may answer, and close, before it has read all
                await writer.drain()
            answer = await _read(reader, request)
            if not answer.whole or answer.headers.get("connection", "").lower() == "close" or not answer.status:
                self._close()
            if answer.status or fresh or last:  # a kept connection may have been closed meanwhile
                return answer
        raise AssertionError("unreachable")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
            self._connection = None


async def _read(reader: asyncio.StreamReader, request: Request) -> Answer:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return Answer(0, {}, b"", False)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
    answer = Answer(int(first.split()[1]), headers, b"", True)
    if request.verb == "HEAD" or answer.status == 204:
        return answer
    try:
        if "content-length" in headers:
            answer.body = await reader.readexactly(int(headers["content-length"]))
        elif answer.streamed and (
            request.verb == "GET" or request.method == "subscriptions/listen" or not request.method
        ):
            answer.whole = False
            async with asyncio.timeout(LISTENED_SECONDS):
                await _read_chunks(reader, answer)
        else:
            await _read_chunks(reader, answer)
    except (asyncio.IncompleteReadError, ConnectionError):
        answer.whole = False
    except TimeoutError:
        answer.body = answer.body[: answer.body.rfind(b"\n\n") + 2]
        if answer.whole:
            raise
    return answer


async def _read_chunks(reader: asyncio.StreamReader, answer: Answer) -> None:
    if "transfer-encoding" not in answer.headers:
        answer.body += await reader.read()
        answer.whole = False
        return
    while size := int(await reader.readuntil(b"\r\n"), 16):
        answer.body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)


def _fault_of(request: Request, answer: Answer) -> str:
    if 400 <= answer.status < 500 or answer.status in request.adapter.error_statuses.values():
        return ""
    if answer.status == 0 and len(request.body) > BODY_LIMIT:
        return ""  # the answer was lost, since the server hung up on who sends more than it takes
    if not 200 <= answer.status < 300:
        return f"status {answer.status}"
    try:
        messages = answer.messages()
    except ValueError as error:
        return f"no JSON in {answer.body[:200]!r}: {error}"
    for message in messages:
        wrong = _wrong(request, message)
        if wrong:
            return wrong
    return ""


def _wrong(request: Request, message: object) -> str:
    """What is wrong with a message in the revision that the request was made for; if it has become another's, in all others too."""
    first = ""
    for version in (request.adapter.version, *ADAPTERS):
        try:
            check_sent(version, message, request.method, readable=False)
        except NotOfRevision as error:
            first = first or str(error)
        else:
            return ""
    return first


def _resident(process: int) -> int:
    pages = int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096
