"""Questions that a person at a terminal answers, in a process of its own with a terminal of its own.

Citations: client/elicitation#user-interaction-model, client/elicitation#response-actions.
"""

from __future__ import annotations

import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from mcp_revisions import AdapterSet

pytestmark = pytest.mark.long

HERE = pathlib.Path(__file__).parent
COMMAND = [sys.executable, "-c", "from mcp_anyrev.cli.main import main; main()"]
ADAPTERS = AdapterSet.default()
WAYS = [
    next(version for version, adapter in ADAPTERS.by_version.items() if getattr(adapter, flag))
    for flag in ("can_ask", "can_push_ask", "asks_in_arguments")
]
SECONDS = 15


class Screen:
    """A terminal with a command at it: what is shown there, and the keys."""

    def __init__(self, child: subprocess.Popen[bytes], descriptor: int) -> None:
        self.child = child
        self.shown = ""
        self._descriptor = descriptor
        self._seen = 0

    def until(self, words: str) -> None:
        """Wait until words are shown that have not been waited for yet."""
        end = time.monotonic() + SECONDS
        while words not in self.shown[self._seen :]:
            ready, _, _ = select.select([self._descriptor], [], [], max(0, end - time.monotonic()))
            assert ready, f"{words!r} is not shown: {self.shown}"
            self.shown += os.read(self._descriptor, 65536).decode().replace("\r\n", "\n")
        self._seen = self.shown.index(words, self._seen) + len(words)

    def type(self, keys: str) -> None:
        os.write(self._descriptor, keys.encode())

    def end(self) -> tuple[int, str]:
        """How the command ended, and its data."""
        out, _ = self.child.communicate(timeout=SECONDS)
        return self.child.returncode, out.decode()


@contextmanager
def screen(*arguments: str) -> Iterator[Screen]:
    """A command at a terminal, whose data go elsewhere."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"NO_COLOR": "1"}
    child = subprocess.Popen(
        [*COMMAND, *arguments], stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, cwd=HERE, env=environment, start_new_session=True
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Screen(child, ours)
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
        if child.stdout is not None:
            child.stdout.close()
        os.close(ours)


def register(version: str) -> Sequence[str]:
    return ("call", "offering.py:registry", "register", "--revision", version)


@pytest.mark.parametrize("version", WAYS)
def test_a_form_is_filled_in_member_by_member_and_asked_again_where_it_does_not_fit(version: str) -> None:
    with screen(*register(version)) as person:
        person.until("The server asks: Who is it?")
        person.until("Fill it in? ")
        person.type("y\n")
        person.until("What they are called\n> ")
        person.type("\n")
        person.until("name is required")
        person.until("> ")
        person.type("Ada\n")
        person.until("age: integer, required\n> ")
        person.type("many\n")
        person.until("age is integer; 'many' is not\n> ")
        person.type("200\n")
        person.until("age does not fit")
        person.until("> ")
        person.type("36\n")
        person.until('red | green, optional, "green" if nothing is typed')
        person.until("1. red\n  2. green\n> ")
        person.type("1\n")
        person.until("> ")
        person.type("true\n")
        person.until("note: string")
        person.until("> ")
        person.type("\n")
        assert person.end() == (0, "Ada 36 red True None\n")


def test_a_person_declines_or_cancels() -> None:
    for keys, gives in (("n\n", "decline"), ("c\n", "cancel"), ("\x04", "cancel"), ("what\nn\n", "decline")):
        with screen(*register(WAYS[0])) as person:
            person.until("Fill it in? ")
            person.type(keys)
            assert person.end() == (0, f"{gives}\n")


def test_an_address_waits_for_the_consent_of_the_person() -> None:
    with screen("call", "offering.py:registry", "visit") as person:
        person.until("open https://example.org/sign-in?x=1\n  That is at example.org.")
        person.until("will you? ")
        person.type("y\n")
        assert person.end() == (0, "accept\n")


def test_an_interrupted_question_ends_at_once_with_a_clean_line() -> None:
    with screen(*register(WAYS[1])) as person:
        person.until("Fill it in? ")
        begun = time.monotonic()
        person.child.send_signal(signal.SIGINT)
        assert person.end() == (130, "")
        assert time.monotonic() - begun < 5
        person.until("interrupted")
        assert "Traceback" not in person.shown


def test_what_a_server_says_cannot_steer_the_terminal() -> None:
    with screen("call", "offering.py:registry", "steps", "--revision", WAYS[1]) as person:
        person.until("something \\x1b[31mred")
        assert person.end() == (0, "stepped\n")
