"""What becomes of a question of a server: the person at the terminal answers it, or what was said when the command was called.

Rule: nobody answers in the person's place. A form is filled in member by member, and what does not fit is asked again; an address is only
shown, never opened. Where nobody can be asked and nothing was said, the question is put off, and the words say how to answer it.
Specification: client/elicitation#user-interaction-model
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp_contract import Json, JsonObject
from pydantic_core import to_json

from mcp_anyrev.cli.values import ValueFault, check, choices_of, kind_of, named_values, resolved, typed, types_of
from mcp_anyrev.schemas import validator_for_text

if TYPE_CHECKING:
    from mcp_anyrev.cli.terminal import Terminal
    from mcp_anyrev.client.answering import Asked

_HOW = "use --answer key=value, --accept or --decline"
_YES, _NO, _CANCEL = ("y", "yes"), ("n", "no"), ("c", "cancel")


class Asking:
    """Answers questions; a client calls it as `on_ask`.

    Args:
        terminal: where the person is asked.
        answers: what goes into forms, each `key=value` or `key:=JSON`.
        accepts: is every question accepted, with these answers and the defaults?
        declines: is every question declined?
    """

    def __init__(
        self, terminal: Terminal, answers: Sequence[str] = (), *, accepts: bool = False, declines: bool = False
    ) -> None:
        self._terminal = terminal
        self._answers = answers
        self._accepts = accepts or bool(answers)
        self._declines = declines

    async def __call__(self, asked: Asked) -> JsonObject | bool | None:
        """What becomes of a question: what the form holds, True accepts, False declines, None puts it off."""
        form: JsonObject | None = getattr(asked, "requested_schema", None)
        url: str | None = getattr(asked, "url", None)
        self._terminal.note(f"The server asks: {asked.message}", bold=True)
        if url is not None:
            self._terminal.note(f"  It wants you to open {url}", bold=True)
            self._terminal.note(
                f"  That is at {urlsplit(url).netloc or 'no host'}. Open it yourself if you trust that; nothing opens it for you."
            )
        if self._declines:
            self._terminal.note("declined, as --decline says")
            return False
        if self._accepts:
            return self._as_said(form)
        if not self._terminal.has_person:
            self._terminal.note(f"cancelled, since nobody is at a terminal to answer; {_HOW}", fg="yellow")
            return None
        if url is not None:
            return await self._choice("Have you opened it, or will you? [y]es, [n]o, [c]ancel: ")
        return await self._filled_in(form or {})

    def _as_said(self, form: JsonObject | None) -> JsonObject | bool | None:
        if form is None:
            return True
        known = form.get("properties") or {}
        own = [pair for pair in self._answers if pair.partition("=")[0].removesuffix(":") in known]
        try:
            content = named_values(own, form)
            check({**_defaults(form), **content}, form)
        except ValueFault as fault:
            self._terminal.note(f"cancelled, since the answers do not fit: {fault}", fg="yellow")
            return None
        self._terminal.note(f"accepted, with {json.dumps(content, ensure_ascii=False)}" if known else "accepted")
        return content

    async def _filled_in(self, form: JsonObject) -> JsonObject | bool | None:
        members: JsonObject = form.get("properties") or {}
        if not members:
            return await self._choice("Accept? [y]es, [n]o, [c]ancel: ")
        self._terminal.note(
            "  It wants a form filled in. [c]ancel or [n]o where it asks whether to; ctrl-D at any member cancels."
        )
        begin = await self._choice("Fill it in? [y]es, [n]o, [c]ancel: ")
        if not begin:
            return begin
        required = form.get("required") or ()
        content: JsonObject = {}
        for name, member in members.items():
            wanted = resolved(member, form)
            self._show(name, wanted, form, required=name in required)
            value = await self._member(name, wanted, form, required=name in required)
            if value is _CANCELLED:
                return None
            if value is not _LEFT_OUT:
                content[name] = value
        try:
            check(content, form)
        except ValueFault as fault:
            self._terminal.note(f"cancelled, since that does not fit: {fault}", fg="yellow")
            return None
        return content

    def _show(self, name: str, wanted: JsonObject, form: JsonObject, *, required: bool) -> None:
        title = f"{wanted['title']} ({name})" if wanted.get("title") not in (None, name) else name
        words = [kind_of(wanted, form)]
        words += [f"format {wanted['format']}"] if "format" in wanted else []
        words += ["required" if required else "optional"]
        words += (
            [f"{json.dumps(wanted['default'], ensure_ascii=False)} if nothing is typed"] if "default" in wanted else []
        )
        self._terminal.note(f"{title}: {', '.join(words)}", bold=True)
        if isinstance(wanted.get("description"), str):
            self._terminal.note(f"  {wanted['description']}")
        for number, (written, words_of) in enumerate(_titled(wanted, form), 1):
            self._terminal.note(f"  {number}. {written}{f': {words_of}' if words_of else ''}")

    async def _member(self, name: str, wanted: JsonObject, form: JsonObject, *, required: bool) -> Json:
        several = "array" in types_of(wanted, form)
        prompt = "several, with commas: " if several else "> "
        while True:
            said = await self._terminal.line(prompt)
            if said is None:
                return _CANCELLED
            if not said.strip():
                if "default" in wanted:
                    return wanted["default"]
                if not required:
                    return _LEFT_OUT
                self._terminal.note(f"{name} is required; ctrl-D cancels", fg="yellow")
                continue
            try:
                return _value(said, name, wanted, form, several=several)
            except ValueFault as fault:
                self._terminal.note(str(fault), fg="yellow")

    async def _choice(self, prompt: str) -> bool | None:
        while True:
            said = await self._terminal.line(prompt)
            word = None if said is None else said.strip().lower()
            if word in _YES:
                return True
            if word in _NO:
                return False
            if word is None or word in _CANCEL:
                return None
            self._terminal.note("y, n or c", fg="yellow")


_CANCELLED: Any = object()
"""Stands for a form that was cancelled."""

_LEFT_OUT: Any = object()
"""Stands for a member that was left out."""


def _defaults(form: JsonObject) -> JsonObject:
    members = form.get("properties") or {}
    return {name: member["default"] for name, member in members.items() if "default" in member}


def _titled(wanted: JsonObject, form: JsonObject) -> list[tuple[str, str]]:
    """What may be chosen, and its words; nothing where anything may be said."""
    within = resolved(wanted.get("items"), form) if "items" in wanted else wanted
    branches = [resolved(one, form) for one in within.get("oneOf") or within.get("anyOf") or ()]
    if branches and all("const" in one for one in branches):
        return [(str(one["const"]), str(one.get("title", ""))) for one in branches]
    names = within.get("enumNames") or ()
    choices = list(choices_of(within, form) or ())
    return [(one, str(names[place]) if place < len(names) else "") for place, one in enumerate(choices)]


def _value(said: str, name: str, wanted: JsonObject, form: JsonObject, *, several: bool) -> Json:
    """What was typed, as a value of a member; a choice may be typed by its number.

    Raises:
        ValueFault: it does not fit.
    """
    numbered = [written for written, _ in _titled(wanted, form)]
    parts = [part.strip() for part in said.split(",")] if several and not said.startswith("[") else [said.strip()]
    parts = [
        numbered[int(part) - 1]
        if part not in numbered and part.isdecimal() and 0 < int(part) <= len(numbered)
        else part
        for part in parts
    ]
    if several and not said.startswith("["):
        items = wanted.get("items") or {}
        value: Json = [typed(part, items, form, name) for part in parts if part]
    else:
        value = typed(parts[0], wanted, form, name)
    validator = validator_for_text(to_json(wanted))
    if not validator.accepts(value):
        raise ValueFault(f"{name} does not fit: {validator.faults(value)}")
    return value
