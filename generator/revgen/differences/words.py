"""The differences of two revisions in words: sections of items, as Markdown says them.

Rule: one wording for every way of showing it. Where several types change alike it is said once, so that what is special is seen.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Iterator

from ..inventory.citations import Citation
from .revisions import AnswerChange, Differences
from .schemas import MemberChange, MethodChange, NamedChange, SchemaDifferences, TypeChange

_SEVERAL = 3
"""How many types must change alike for it to be said once for all of them."""


@dataclasses.dataclass(frozen=True)
class Item:
    """One difference: a line in Markdown, and the sources of the answers in it, by revision."""

    text: str
    sources: tuple[tuple[str, tuple[Citation, ...]], ...] = ()


@dataclasses.dataclass(frozen=True)
class Section:
    """Differences of one kind."""

    title: str
    items: tuple[Item, ...]


def sections(found: Differences) -> tuple[Section, ...]:
    """The differences by kind, those of the schemas first and the answers by area; a kind without any is left out."""
    by_title: dict[str, list[Item]] = {}
    for answer in found.answers:
        by_title.setdefault(f"Answers: {answer.title}", []).append(_answer(answer, found))
    return (*schema_sections(found.schema), *(Section(title, tuple(items)) for title, items in by_title.items()))


def schema_sections(schema: SchemaDifferences) -> tuple[Section, ...]:
    """The differences of two schemas by kind; a kind without any is left out."""
    requests = [change for change in schema.methods if not _is_notification(change)]
    notifications = [change for change in schema.methods if _is_notification(change)]
    renamed = (f"`{one.old}` → `{one.new}`: {one.why}" for one in schema.renamed)
    by_title = {
        "Methods": _texts(map(_method, requests)),
        "Notifications": _texts(map(_method, notifications)),
        "Error codes that the schema names": _texts(map(_named, schema.codes)),
        "Keys of `_meta` that the schema defines": _texts(map(_named, schema.meta_keys)),
        "Types added": _texts(f"`{name}`: {_escaped(outline)}" for name, outline in schema.added.items()),
        "Types removed": _texts([", ".join(f"`{name}`" for name in schema.removed)] if schema.removed else []),
        "Types renamed": _texts(renamed),
        "Unions": _texts(map(_union, (change for change in schema.types if _is_union(change)))),
        "Members, several types alike": _texts(_alike(schema.types)),
        "Members": _texts(_special(schema.types)),
    }
    return tuple(Section(title, tuple(items)) for title, items in by_title.items() if items)


def _texts(texts: Iterable[str]) -> list[Item]:
    return [Item(text) for text in texts]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")


def _is_notification(change: MethodChange) -> bool:
    return any(direction.endswith("notification") for direction in (*change.old, *change.new))


def _method(change: MethodChange) -> str:
    return _one(f"`{change.name}`", ", ".join(change.old), ", ".join(change.new))


def _named(change: NamedChange) -> str:
    return _one(f"`{change.name}`", change.old, change.new)


def _one(name: str, old: str, new: str) -> str:
    if not old:
        return f"new {name}: {new}"
    return f"gone {name}: {old}" if not new else f"{name}: {old} → {new}"


def _is_union(change: TypeChange) -> bool:
    return bool(change.added_branches or change.removed_branches or change.form)


def _union(change: TypeChange) -> str:
    parts = [f"`{change.form[0]}` → `{change.form[1]}`"] if change.form else []
    parts += [
        f"{word} {', '.join(f'`{branch}`' for branch in branches)}"
        for word, branches in (("new", change.added_branches), ("gone", change.removed_branches))
        if branches
    ]
    return f"`{change.name}`: {'; '.join(parts)}"


def _common(changes: Iterable[TypeChange]) -> dict[MemberChange, list[str]]:
    """The types by what changes in them, where it changes in several alike."""
    types: collections.defaultdict[MemberChange, list[str]] = collections.defaultdict(list)
    for change in changes:
        for member in change.members:
            types[member].append(change.name)
    return {member: names for member, names in types.items() if len(names) >= _SEVERAL}


def _alike(changes: Iterable[TypeChange]) -> Iterator[str]:
    for member, names in sorted(_common(changes).items()):
        yield f"{_member(member)} in {', '.join(f'`{name}`' for name in names)}"


def _special(changes: tuple[TypeChange, ...]) -> Iterator[str]:
    common = _common(changes)
    for change in changes:
        members = [_member(member) for member in change.members if member not in common]
        if members:
            yield f"`{change.name}`: {'; '.join(members)}"


def _member(change: MemberChange) -> str:
    old, new = change.old, change.new
    if old and new and old.rstrip("!") == new.rstrip("!"):
        return f"`{change.path}` is {'required' if new.endswith('!') else 'optional'} now"
    if old and new:
        return f"`{change.path}`: `{old}` → `{new}`"
    return f"new `{change.path}: {new}`" if new else f"gone `{change.path}`"


def _answer(change: AnswerChange, found: Differences) -> Item:
    lines = [_line(line.old, line.new) for line in change.lines] or ["in another order"]
    text = f"`{change.concern}`: {'; '.join(lines)}" + (f". {change.meaning}" if change.meaning else "")
    return Item(text, ((found.old, change.old_citations), (found.new, change.new_citations)))


def _line(old: str, new: str) -> str:
    if not (old and new):
        return f"new `{new}`" if new else f"gone `{old}`"
    key, colon, value = new.partition(": ")
    if colon and old.startswith(f"{key}: "):
        return f"`{key}`: `{old.removeprefix(f'{key}: ')}` → `{value}`"
    return f"`{old}` → `{new}`"
