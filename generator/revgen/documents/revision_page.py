"""Writes `docs/<revision>.md`: one revision for reading; what it has, what is changed on the way to it, and what it answers.

Rule: everything here is in the inputs already, and the page says where. It has no answer of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..adapters.messages import Message, messages
from ..inventory.concerns import FOLDER as INVENTORY
from ..inventory.concerns import Area, Concern
from ..inventory.table import parts
from ..projection.compare import Projection
from ..rendering.output import Output, markdown_output
from ..schemas.published import PATH as CORRECTIONS
from ..schemas.revisions import PATH as REVISIONS
from ..schemas.revisions import Revision
from ..specification.loading import Specification
from ..specification.vocabulary import PATH as VOCABULARY
from .markdown import code, sources
from .matrix import PATH as MATRIX


def write_revision_page(specification: Specification, revision: Revision) -> list[Output]:
    """The page of one revision."""
    inputs = specification.inputs_under(REVISIONS, "specs/schemas/", CORRECTIONS, VOCABULARY, f"{INVENTORY}/")
    projection = specification.projections[revision.version]
    lines = [
        *_head(specification, revision),
        *_flags(specification, revision),
        *_messages(specification, revision, projection),
        *_changed(specification, revision, projection),
        *(line for area in specification.areas for line in _area(specification, area, revision.version)),
    ]
    return [markdown_output(f"generated/docs/{revision.version}.md", "\n".join(lines), inputs)]


def _head(specification: Specification, revision: Revision) -> Iterator[str]:
    versions = specification.versions
    place = versions.index(revision.version)
    beside = [(versions[place - 1], "before it")] if place else []
    beside += [(versions[place + 1], "after it")] if place + 1 < len(versions) else []
    pages = [f"[{version}]({version}.md) came {where}" for version, where in beside]
    yield f"# {revision.version}"
    yield ""
    yield f"[Specification]({revision.pages}) · [schema]({revision.source}) · [all revisions]({MATRIX.rpartition('/')[2]})"
    yield ""
    yield f"In Python: `mcp_revisions.{revision.module}`, whose `Adapter` holds what stands here. {'; '.join(pages)}."
    yield ""


def _flags(specification: Specification, revision: Revision) -> Iterator[str]:
    flags = [concern for area in specification.areas for concern in area.concerns if concern.flag]
    if flags:
        yield "## Flags"
        yield ""
        yield "| flag | | question |"
        yield "| --- | --- | --- |"
        for concern in flags:
            yield f"| `{concern.name}` | {_answer(concern, revision.version)} | {concern.question} |"
        yield ""


def _messages(specification: Specification, revision: Revision, projection: Projection) -> Iterator[str]:
    listed = messages(specification.schemas, revision.version, projection)
    kinds = {
        "Requests of the client": listed.client_requests,
        "Requests of the server": listed.server_requests,
        "Requests inside a result": listed.embedded_requests,
        "Notifications of the client": listed.client_notifications,
        "Notifications of the server": listed.server_notifications,
    }
    if any(kinds.values()):
        yield "## Messages"
        yield ""
    for title, found in kinds.items():
        if found:
            yield f"{title}:"
            yield ""
            yield from (_message(message, revision) for message in found)
            yield ""


def _message(message: Message, revision: Revision) -> str:
    result = f" → [{message.result}]({revision.link(message.result)})" if message.result else ""
    return f"* `{message.method}`: [{message.definition}]({revision.link(message.definition)}){result}"


def _changed(specification: Specification, revision: Revision, projection: Projection) -> Iterator[str]:
    concerns = [concern for area in specification.areas for concern in area.concerns]
    paragraphs = {
        "Left out, since the revision does not define it:": _left_out(projection),
        "Kinds of a union that it does not have:": _lacking(projection),
        "Values that it does not take:": _unfitting(projection),
        "Filled, where a handler says nothing and the revision requires it:": _filled(projection),
        "Decided before anything is left out:": [
            f"* `{concern.adjusts}`: {_choice(concern, revision.version)}" for concern in concerns if concern.adjusts
        ],
    }
    if any(paragraphs.values()):
        yield "## What is changed on the way"
        yield ""
        yield "Handlers speak the newest vocabulary; this is what becomes of it here."
        yield ""
    for title, lines in paragraphs.items():
        if lines:
            yield from (title, "", *lines, "")


def _left_out(projection: Projection) -> list[str]:
    members = {function.type_name: function.lacks for function in projection.objects if function.lacks}
    return [f"* `{name}`: {code(lacks)}" for name, lacks in sorted(members.items())]


def _lacking(projection: Projection) -> list[str]:
    lines = []
    for union in projection.unions:
        methods = {replacement.type_name: replacement.method for replacement in union.replacements}
        for member in union.lacks:
            instead = f"replaced, see `{methods[member]}`" if member in methods else "cannot be sent"
            lines.append(f"* `{member}` in `{union.type_name}`: {instead}")
    return sorted(set(lines))


def _unfitting(projection: Projection) -> list[str]:
    becomes = {"refused": "an error", "left out": "left out", "items": "left out of the list"}
    fits = {fit.place: fit for function in projection.objects for fit in function.fits if fit.check is not None}
    lines = []
    for place, fit in sorted(fits.items()):
        if fit.method:
            lines.append(f"* `{place}`: replaced, see `{fit.method}`")
        else:
            lines.append(f"* `{place}`: {becomes[fit.otherwise]}")
    wrapped = sorted({fit.place for function in projection.objects for fit in function.fits if fit.wrapped})
    return [*lines, *(f"* `{place}`: one becomes a list" for place in wrapped)]


def _filled(projection: Projection) -> list[str]:
    fills = {
        (function.type_name, fill.member): fill.expression for function in projection.objects for fill in function.fills
    }
    by_answer: dict[str, list[str]] = {}
    for (name, member), expression in sorted(fills.items()):
        by_answer.setdefault(f"`{member}`, see `{expression.removeprefix('self.')}`", []).append(name)
    return [f"* {answer}, in {code(names)}" for answer, names in by_answer.items()]


def _area(specification: Specification, area: Area, version: str) -> Iterator[str]:
    yield f"## {area.title}"
    yield ""
    for concern in area.concerns:
        cited = sources(concern.answers[version].citations, version, specification)
        answer = _choice(concern, version) if concern.kind == "choice" else _answer(concern, version)
        yield f"* `{concern.name}`: {concern.question}<br>{answer}<br>{cited}"
    yield ""


def _answer(concern: Concern, version: str) -> str:
    lines = [f"**{line}**" for line in parts(concern, concern.answers[version]).values()]
    return ", ".join(lines).replace("|", "\\|") or "**none**"


def _choice(concern: Concern, version: str) -> str:
    return f"{_answer(concern, version)}: {concern.choices[concern.answers[version].choice]}"
