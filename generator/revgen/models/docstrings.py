"""What the docstrings of a module of models say: words, roles, since and until when, and where to read on.

Rule: everything here is text. What a type is for comes from `specs/words.yaml`, what carries it from the schemas; nothing is made up.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ..canonical.origins import Origins
from ..canonical.words import Words
from ..schemas.normal_form import Schema
from ..schemas.revisions import Revision
from ..schemas.roles import owners, roles
from ..templates.wrapping import wrapped

_WIDTH = 112


@dataclasses.dataclass(frozen=True)
class Docstrings:
    """Paragraphs for each definition, and a text for each of its members that has one.

    Attributes:
        types: the paragraphs, by name.
        members: by name and wire name.
        addresses: where to read on about a definition.
    """

    types: Mapping[str, Sequence[str]]
    members: Mapping[str, Mapping[str, str]]
    addresses: Mapping[str, str]

    def of_type(self, name: str, first: str = "") -> str:
        """The docstring of a definition, laid out; `first` is a paragraph before all others."""
        return _laid_out([*([first] if first else []), *self.types[name], self.addresses[name]])

    def of_type_within(self, owner: str, what: str) -> str:
        """The docstring of a union, or of something bounded, that stands in a definition and gets a name of its own."""
        return _laid_out([f"The {what} within `{owner}`.", self.addresses[owner]])

    def of_member(self, name: str, wire: str) -> str:
        """The docstring of a member, laid out; empty where nothing is said of it."""
        return _filled(self.members.get(name, {}).get(wire, ""))


def revision_docstrings(revision: Revision, schema: Schema, words: Words, origins: Origins) -> Docstrings:
    """What the models of one revision say.

    Args:
        revision: the revision.
        schema: its corrected schema.
        words: a definition that is a canonical type has its words, and a member where it takes the same kinds of JSON.
        origins: which definition is which canonical type.
    """
    said, owned_by = roles(schema), owners(schema)
    types: dict[str, list[str]] = {}
    members: dict[str, dict[str, str]] = {}
    for name in schema["$defs"]:
        canonical = origins.of(revision.version, name)
        types[name] = [said[name]] if said[name] else []
        if canonical is not None:
            types[name][:0] = _sentence(words.of_type(canonical), origins.when_type(canonical))
            members[name] = {
                member: text
                for member in sorted(origins.types[canonical][revision.version].alike)
                if (text := _member(canonical, member, words, origins))
            }
    return Docstrings(types, members, {name: revision.link(owned_by[name]) for name in schema["$defs"]})


def canonical_docstrings(
    revisions: Sequence[Revision],
    schemas: Mapping[str, Schema],
    canonical: Schema,
    words: Words,
    origins: Origins,
    renamed: Mapping[str, str],
) -> Docstrings:
    """What the canonical vocabulary says.

    Args:
        revisions: all of them, oldest first.
        schemas: their corrected schemas.
        canonical: the vocabulary as a schema.
        words: what is said of its types and members.
        origins: which revisions have them.
        renamed: names of canonical types that only some revisions use, with the canonical name of each.
    """
    newest_first = [schemas[revision.version] for revision in reversed(revisions)]
    wrappers: dict[str, Schema] = {}
    for schema in newest_first:
        wrappers = {**schema["$defs"], **wrappers}
    said = roles(canonical, {name: node for name, node in wrappers.items() if name not in canonical["$defs"]})
    types: dict[str, list[str]] = {}
    for name in canonical["$defs"]:
        types[name] = [*_sentence(words.of_type(name), origins.when_type(name)), *([said[name]] if said[name] else [])]
    for old, name in renamed.items():
        using = [revision.version for revision in revisions if old in schemas[revision.version]["$defs"]]
        types[old] = [f"What {' and '.join(using)} call `{name}`."]
    return Docstrings(
        types,
        {
            name: {member: _member(name, member, words, origins) for member in node.get("properties", {})}
            for name, node in canonical["$defs"].items()
        },
        {
            name: _address(_owner(_published(name, newest_first, renamed), newest_first), revisions, schemas)
            for name in types
        },
    )


def _published(name: str, schemas: Sequence[Schema], renamed: Mapping[str, str]) -> str:
    """The name that schemas have for a canonical type: another, where the revision is gone that had its own."""
    if any(name in schema["$defs"] for schema in schemas):
        return name
    return next(
        old for old, new in renamed.items() if new == name and any(old in schema["$defs"] for schema in schemas)
    )


def _owner(name: str, newest_first: Sequence[Schema]) -> str:
    """The published definition that a canonical type belongs to, in the newest schema that has its name."""
    return next(owners(schema)[name] for schema in newest_first if name in schema["$defs"])


def _address(name: str, revisions: Sequence[Revision], schemas: Mapping[str, Schema]) -> str:
    """Where the oldest revision that has a definition as it is now explains it: that stays, whatever revision comes."""
    defining = [revision for revision in revisions if name in schemas[revision.version]["$defs"]]
    # A draft changes no definition that a final revision has.
    having = [revision for revision in defining if not revision.draft] or defining
    now = schemas[having[-1].version]["$defs"][name]
    as_now = [revision for revision in having if schemas[revision.version]["$defs"][name] == now]
    explaining = [revision for revision in as_now if revision.known is not None and revision.explains(name)]
    return (explaining or as_now)[0].link(name)


def _member(name: str, member: str, words: Words, origins: Origins) -> str:
    return " ".join(_sentence(words.of_member(name, member), origins.when_member(name, member)))


def _sentence(words: str, when: str) -> list[str]:
    text = f"{words} {when}".strip()
    return [text] if text else []


def _laid_out(paragraphs: Sequence[str]) -> str:
    if len(paragraphs) == 1:
        return paragraphs[0]
    return "\n\n".join(map(_filled, paragraphs)) + "\n"


def _filled(text: str) -> str:
    return "\n".join(wrapped(text, _WIDTH))
