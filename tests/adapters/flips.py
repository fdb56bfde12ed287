"""Other answers to one concern: what they are, and the adapter that they give, as text or in place.

Rule: an answer is flipped in a copy of what was read from `specs/`; nothing is written. None is put in place of a value that fills a
required member, since `revgen lint` refuses that, and with all other answers the projections stay as they are.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
import types
from collections.abc import Iterator
from typing import Any

import jinja2
import pytest
from judges import Wrong, adapters, check_call, check_constant, check_encoding
from known_defects import defect
from mcp_revisions.protocol import Adapter
from revgen.adapters import adapter as adapter_writer
from revgen.inventory.concerns import Answer, Area, Concern
from revgen.reading.literals import Value
from revgen.rendering.output import Output
from revgen.specification.loading import Specification
from revgen.templates import skeletons
from revgen.templates.macros import make_environment, render_body
from vector_files import concern_vectors, encoding_vectors

_MEMBER = re.compile(r" {4}(?:def (\w+)\(|(\w+): ClassVar\[)")


@dataclasses.dataclass(frozen=True)
class Flip:
    """One other answer of one revision, and words for it; `sort` is what other revisions may have tried as well."""

    concern: Concern
    revision: str
    sort: str
    words: str
    answer: Answer

    def __str__(self) -> str:
        return f"{self.concern.name} of {self.revision}: {self.words}"


def flips(concern: Concern, revision: str) -> Iterator[Flip]:
    """Every other answer: of a value another one, of a table each row changed, removed, and one more, of a choice all others."""
    answer = concern.answers[revision]
    if concern.kind == "value":
        value = other(answer.value, concern)
        yield Flip(
            concern, revision, "value", f"{answer.value!r} becomes {value!r}", dataclasses.replace(answer, value=value)
        )
    elif concern.kind == "table":
        for sort, words, rows in _other_tables(answer.rows, concern):
            yield Flip(concern, revision, sort, words, dataclasses.replace(answer, rows=rows))
    else:
        for choice in concern.choices:
            if choice != answer.choice:
                words = f"{answer.choice} becomes {choice}"
                yield Flip(concern, revision, choice, words, dataclasses.replace(answer, choice=choice))
        for name, value in answer.arguments.items():
            arguments = {**answer.arguments, name: other(value, concern)}
            yield Flip(
                concern, revision, f"with {name}", f"another {name}", dataclasses.replace(answer, arguments=arguments)
            )


def _other_tables(rows: dict[str, Value], concern: Concern) -> Iterator[tuple[str, str, dict[str, Value]]]:
    for row, value in rows.items():
        yield "changed row", f"row {row} changes", {**rows, row: other(value, concern)}
        yield "removed row", f"row {row} goes", {name: inner for name, inner in rows.items() if name != row}
    sample: Value = next(iter(rows.values()), None)
    yield "added row", "one more row", {**rows, "another": other(sample, concern)}


def other(value: Value, concern: Concern) -> Value:
    """Another value of the type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, list | tuple):
        changed = list(reversed(value)) if len(set(value)) > 1 else [*value, "x"]
        return type(value)(changed)
    annotation = concern.type.annotation if concern.type else "str"
    return True if annotation.startswith("bool") else 1 if annotation.startswith("int") else "x"


# --- The whole text ---


def without_layout(specification: Specification, patch: pytest.MonkeyPatch) -> None:
    """Have the writer of adapters leave the text as the templates give it, and read each template once: both are most of its time."""
    environment = make_environment(specification.root)

    def as_it_is(path: str, body: str, inputs: tuple[str, ...]) -> Output:
        return Output(path, body, inputs)

    patch.setattr(adapter_writer, "python_output", as_it_is)
    for module in (adapter_writer, skeletons):
        patch.setattr(module, "make_environment", lambda root: environment)


def adapter_text(specification: Specification, revision: str, areas: tuple[Area, ...]) -> str:
    """The text of a revision's adapter with these answers."""
    found = next(one for one in specification.revisions if one.version == revision)
    (output,) = adapter_writer.write_adapter(dataclasses.replace(specification, areas=areas), found)
    return output.text


def flipped_areas(areas: tuple[Area, ...], flip: Flip) -> tuple[Area, ...]:
    """The inventory with one other answer."""
    answers = {**flip.concern.answers, flip.revision: flip.answer}
    changed = dataclasses.replace(flip.concern, answers=answers)
    return tuple(
        dataclasses.replace(
            area,
            concerns=tuple(changed if concern.name == flip.concern.name else concern for concern in area.concerns),
        )
        for area in areas
    )


def sections(text: str) -> dict[str, tuple[int, int]]:
    """The lines, counted from 0, of every member of the adapter's class: from its first line to where the next one begins."""
    lines = text.splitlines()
    starts = [(match[1] or match[2], place) for place, line in enumerate(lines) if (match := _MEMBER.match(line))]
    ends = [start for _, start in starts[1:]] + [len(lines)]
    return {name: (start, end) for (name, start), end in zip(starts, ends, strict=True)}


def changed_lines(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """The lines of each text between what both begin with and what both end with."""
    before, after = old.splitlines(), new.splitlines()
    start = next(
        (place for place, (one, two) in enumerate(zip(before, after, strict=False)) if one != two),
        min(len(before), len(after)),
    )
    common = 0
    while common < min(len(before), len(after)) - start and before[-1 - common] == after[-1 - common]:
        common += 1
    return (start, len(before) - common), (start, len(after) - common)


def running(text: str, revision: str) -> Adapter:
    """The adapter that a text defines."""
    module = types.ModuleType("flipped")
    module.__package__ = f"mcp_revisions.v{revision.replace('-', '_')}"
    exec(compile(text, "flipped adapter", "exec"), module.__dict__)
    found: Adapter = module.Adapter()
    return found


# --- In place ---


def flipped_in_place(flip: Flip, environment: jinja2.Environment) -> Adapter:
    """The generated adapter with one other answer; quick, and of the same meaning as the whole text."""
    concern, generated = flip.concern, type(adapters()[flip.revision])
    member: Any = flip.answer.value if concern.kind == "value" else flip.answer.rows
    if concern.kind == "choice":
        body = render_body(environment, concern, flip.answer.choice, flip.answer.arguments)
        source = ast.parse(f"def {concern.name}{concern.signature}: ...")
        method = source.body[0]
        assert isinstance(method, ast.FunctionDef)
        method.body = ast.parse(f"def body():\n{_indented(body)}").body[0].body  # type: ignore[attr-defined]
        names = dict(vars(_module_of(generated)))
        exec(compile(ast.fix_missing_locations(source), flip.concern.name, "exec"), names)
        member = names[concern.name]
    found: Adapter = type("Adapter", (generated,), {concern.name: member})()
    return found


def _indented(body: str) -> str:
    return "\n".join(f"    {line}" for line in body.splitlines())


def _module_of(adapter: type[Any]) -> types.ModuleType:
    return sys.modules[adapter.__module__]


# --- What notices ---


def concern_notices(adapter: Adapter, revision: str, concern: str) -> bool:
    """Does a vector of the concern fail on an adapter?"""
    vectors = concern_vectors(revision)[concern]
    try:
        if vectors.kind != "choice":
            check_constant(adapter, concern, vectors.constant)
        for call in vectors.calls:
            if not defect(revision, f"concerns/{vectors.area}", f"{concern}: {call.name}"):
                check_call(adapter, concern, call)
    except Wrong:
        return True
    return False


def encoding_notices(adapter: Adapter, revision: str) -> bool:
    """Does a vector of what is sent fail on an adapter?"""
    for vector in encoding_vectors(revision):
        if not defect(revision, f"encoding/{vector.kind}", vector.name):
            try:
                check_encoding(adapter, vector)
            except Wrong:
                return True
    return False
