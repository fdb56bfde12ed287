"""What all commands share that call a server: TARGET, their options, and how they end.

Rule: what is wrong with how a command was called is said before anything is sent. The exit code says whose fault it is: 1 the call
failed, 2 usage, 3 nobody could be reached, 4 the server spoke wrongly; 130 that it was interrupted.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from mcp_anyrev.cli.help import CommandWithExamples, known_revision

if TYPE_CHECKING:
    from mcp_anyrev.cli.probing_http import PlainHttp
    from mcp_anyrev.cli.reaching import Reached
    from mcp_anyrev.cli.terminal import Terminal
    from mcp_anyrev.client.wire import OnWire, WireHead, WireMessage
    from mcp_anyrev.serving.client import Client

FAILED, USAGE, NOT_REACHED, SPOKE_WRONGLY, INTERRUPTED = 1, 2, 3, 4, 130

_COMMAND = "mcp_anyrev.command"
_TARGET_HELP = """
TARGET is the address of a server (http:// or https://), MODULE:REGISTRY for one that runs within this command, or a command that
starts a server: in quotes, or after -- at the end, in place of TARGET.
"""


class PeerCommand(CommandWithExamples):
    """A command that calls a server; what stands after `--` is a command that starts one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Command.parse_args`."""
        if "--" in args:
            place = args.index("--")
            args, command = args[:place], args[place + 1 :]
            if not command:
                raise click.UsageError("after -- comes the command that starts a server", ctx)
            ctx.meta[_COMMAND] = command
            args = [command[0].lstrip("-") or "command", *args]  # it stands where TARGET would
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """See `click.Command.format_help_text`."""
        super().format_help_text(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(" ".join(_TARGET_HELP.split()))


@dataclass(frozen=True)
class Peer:
    """A server to be called, and how.

    Attributes:
        reached: how it is reached.
        revision: the one revision to speak; None for what both agree on.
        transport: the one transport to use; None for all that may lead to it.
        headers: sent with every HTTP request.
        env: variables that a server which is started gets besides.
        timeout: for how many seconds it may say nothing.
        shows_wire: is everything that passes shown?
        as_json: are data written as JSON?
        answers: how questions are answered: the options of `Asking`.
        terminal: where things are written.
    """

    reached: Reached
    revision: str | None
    transport: str | None
    headers: Mapping[str, str]
    env: Mapping[str, str]
    timeout: float
    shows_wire: bool
    as_json: bool
    terminal: Terminal
    answers: Mapping[str, Any] = field(default_factory=dict)

    def run(self, work: Callable[[Client], Awaitable[int]], *, endless: bool = False) -> None:
        """Connect, do some work, and end the command with the exit code that it gives, or that says what went wrong.

        Args:
            work: what is done with a client.
            endless: is it to be interrupted, and in good order then?
        """
        self.finish(functools.partial(self._connected, work), endless=endless)

    def finish(self, work: Callable[[], Awaitable[int]], *, endless: bool = False) -> None:
        """Do some work that connects by itself; see `run`."""
        import asyncio

        try:
            code = asyncio.run(self._worked(work))
        except KeyboardInterrupt:
            self.terminal.note("" if endless else "interrupted")
            code = 0 if endless else INTERRUPTED
        sys.exit(code)

    def client(self, target: Any, *, made_by: type[Client] | None = None, **options: Any) -> Client:
        """A client of the server.

        Args:
            target: what `Reached.served` gives.
            made_by: the kind of client; `Client` if None.
            options: what it takes besides.

        Raises:
            ValueError: an option is none for this target.
        """
        from mcp_revisions import AdapterSet

        from mcp_anyrev.serving.client import Client

        if self.headers:
            options["headers"] = dict(self.headers)
        if self.env:
            options["env"] = dict(self.env)
        options = {"transport": self.transport, "timeout_seconds": self.timeout, **options}
        if self.shows_wire:
            from mcp_anyrev.cli.wire import WirePrinter

            options["on_wire"] = _both(WirePrinter(self.terminal, self.headers), options.get("on_wire"))
        adapter = None if self.revision is None else AdapterSet([self.revision]).newest
        return (made_by or Client)(target, options.pop("adapter", adapter), **options)

    def plain_http(self) -> PlainHttp | None:
        """What sends requests of any kind to the address of the server; None where it has none."""
        if self.reached.url is None:
            return None
        from mcp_anyrev.cli.probing_http import PlainHttp
        from mcp_anyrev.cli.wire import WirePrinter

        on_wire = WirePrinter(self.terminal, self.headers) if self.shows_wire else None
        return PlainHttp(self.reached.url, self.headers, self.timeout, on_wire)

    async def _connected(self, work: Callable[[Client], Awaitable[int]]) -> int:
        from mcp_anyrev.cli.asking import Asking
        from mcp_anyrev.client.errors import ClientError

        connected = False
        on_ask = Asking(self.terminal, **self.answers)
        async with self.reached.served() as target:
            try:
                client = self.client(target, on_ask=on_ask, on_log=self._logged, on_progress=self._progressed)
            except (ValueError, TypeError) as error:
                raise click.UsageError(str(error)) from None
            try:
                async with client:
                    await client.initialize()
                    connected = True
                    return await work(client)
            except ClientError as error:
                self.terminal.note(str(error), fg="red")
                return exit_code(error, connected=connected)

    async def _worked(self, work: Callable[[], Awaitable[int]]) -> int:
        from mcp_anyrev.cli.reaching import CannotStart

        try:
            return await work()
        except CannotStart as error:
            self.terminal.note(str(error), fg="red")
            return NOT_REACHED

    def _logged(self, params: Any) -> None:
        said = params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False)
        self.terminal.note(f"[{params.level}]{f' {params.logger}:' if params.logger else ''} {said}", dim=True)

    def _progressed(self, params: Any) -> None:
        of = "" if params.total is None else f"/{params.total:g}"
        self.terminal.note(f"… {params.progress:g}{of}{f' {params.message}' if params.message else ''}", dim=True)


def _both(first: OnWire, second: OnWire | None) -> OnWire:
    if second is None:
        return first

    def both(passed: WireMessage | WireHead) -> None:
        first(passed)
        second(passed)

    return both


def exit_code(error: Exception, *, connected: bool) -> int:
    """Whose fault an error of the client is.

    Args:
        error: the error.
        connected: had client and server agreed before?
    """
    from mcp_anyrev.client.errors import CannotConnect, HttpRefused, NoAnswer, NoCommonRevision, WrongAnswer

    if isinstance(error, WrongAnswer):
        return SPOKE_WRONGLY
    if isinstance(error, CannotConnect | NoCommonRevision) or (
        not connected and isinstance(error, NoAnswer | HttpRefused)
    ):
        return NOT_REACHED
    return FAILED


def calls_a_server(
    *, asks: bool = False, seconds: float = 60.0
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function one that gets a `Peer` first, from TARGET and the options that all such commands have.

    Args:
        asks: may the server ask something meanwhile, so that there are options for the answers?
        seconds: how long it may say nothing, where no option says otherwise.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @click.argument("target", metavar="TARGET")
        @functools.wraps(function)
        def command(target: str, **options: Any) -> None:
            own = {name: options.pop(name) for name in (*_SHARED, *(_ANSWERS if asks else ())) if name in options}
            function(_peer(target, own), **options)

        decorated: Callable[..., None] = command
        for option in reversed((*(_ANSWER_OPTIONS if asks else ()), *_OPTIONS, _timeout(seconds))):
            decorated = option(decorated)
        return decorated

    return decorate


def _peer(target: str, options: Mapping[str, Any]) -> Peer:
    from mcp_anyrev.cli.reaching import reached
    from mcp_anyrev.cli.terminal import Terminal

    context = click.get_current_context()
    try:
        found = reached(target, context.meta.get(_COMMAND))
    except ValueError as fault:
        raise click.BadParameter(str(fault), param_hint="TARGET") from None
    if options["headers"] and found.url is None:
        raise click.UsageError("--header is for a server at an address")
    if options["env"] and found.command is None:
        raise click.UsageError("--env is for a server that is started by a command")
    answers = {name: options[name] for name in _ANSWERS if name in options}
    if answers.get("declines") and (answers["accepts"] or answers["answers"]):
        raise click.UsageError("--decline does not go with --accept and --answer")
    return Peer(
        reached=found,
        revision=options["revision"],
        transport=options["transport"],
        headers=options["headers"],
        env=options["env"],
        timeout=options["timeout"],
        shows_wire=options["wire"],
        as_json=options["as_json"],
        terminal=Terminal(False if "NO_COLOR" in os.environ else None),
        answers=answers,
    )


def _revision(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    return None if value is None else known_revision(value)


def _headers(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    found = {}
    for value in values:
        name, colon, text = value.partition(":")
        if not colon or not name.strip():
            raise click.BadParameter(f"write NAME:VALUE, not {name.strip() or 'nothing'!r}")
        found[name.strip()] = text.strip()
    return found


def _env(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    found = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not name or (not equals and name not in os.environ):
            raise click.BadParameter(
                f"write NAME=VALUE, or the NAME of a variable that there is, not {name or 'nothing'!r}"
            )
        found[name] = text if equals else os.environ[name]
    return found


def _timeout(seconds: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help="How long the server may say nothing.",
    )


_OPTIONS = (
    click.option("--revision", metavar="REV", callback=_revision, help="Speak this revision and no other."),
    click.option("--transport", metavar="NAME", help="Use only this one: http, sse or stdio."),
    click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", callback=_headers, help="Send it with each HTTP request; repeatable."),
    click.option("--env", multiple=True, metavar="NAME[=VALUE]", callback=_env, help="Give a server that is started this variable besides PATH, HOME and the like; without a value, as it is here; repeatable."),
    click.option("--wire", is_flag=True, help="Show on stderr everything that passes, both ways, without secrets."),
    click.option("--json", "as_json", is_flag=True, help="Write data as JSON."),
)  # fmt: skip
_SHARED = ("revision", "transport", "headers", "env", "timeout", "wire", "as_json")

_ANSWER_OPTIONS = (
    click.option("--answer", "answers", multiple=True, metavar="KEY=VALUE", help="Accept questions with this in their forms; repeatable. KEY:=JSON says it exactly."),
    click.option("--accept", "accepts", is_flag=True, help="Accept questions."),
    click.option("--decline", "declines", is_flag=True, help="Decline questions."),
)  # fmt: skip
_ANSWERS = ("answers", "accepts", "declines")
