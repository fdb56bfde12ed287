"""Which addresses a URI template stands for, and which values they hold.

Rule: only templates that can be read backwards in one way, in bounded time, are taken; a whole address matches or none of it.
Values are percent-decoded once, after the parts have been told apart.
Specification: server/resources#resource-templates
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from mcp_contract.wording import LONGEST_ADDRESS

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\*?)", re.ASCII)
_OPERATORS = ("+", "/", "?")
# Control characters and blanks, line breaks among them: what no address holds.
_BLANK = r"\x00-\x20\x7f"
_SEGMENT = rf"{_BLANK}/?#"
_UNUSABLE = re.compile(rf"[{_BLANK}]")
_KEPT = "%:/?#[]@!$&'()*+,;="


class BadTemplate(ValueError):
    """A template that is none, or that cannot be read backwards; the text says why."""


class Variable(NamedTuple):
    """One variable of a template.

    Attributes:
        name: its name.
        many: does it stand for a list?
        optional: may it be missing from an address?
    """

    name: str
    many: bool
    optional: bool


class _Atom(NamedTuple):
    """A part of what follows a value with reserved characters.

    Attributes:
        pattern: finds it: a literal wherever it begins, a value from where it can begin first to where it has to end.
        literal: the literal; None for a value.
    """

    pattern: re.Pattern[str]
    literal: str | None


_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_SEGMENTS = re.compile(r"[/\\]")


def is_safe(value: str) -> bool:
    """Does a value lead nowhere else when it becomes part of a path: is it no absolute one, without `..` and NUL?"""
    return "\0" not in value and _ABSOLUTE.match(value) is None and ".." not in _SEGMENTS.split(value)


class UriTemplate:
    """A template of level 1 to 4, as far as it can be read backwards: `{a}`, `{a,b}`, `{+a}`, `{/a}`, `{?a,b}`, and `*` for lists.

    Args:
        template: the template.

    Attributes:
        variables: its variables, in their order.

    Raises:
        BadTemplate: it has no variable, is malformed, or more than one reading.
    """

    def __init__(self, template: str) -> None:
        self.variables: list[Variable] = []
        self._query: dict[str, Variable] | None = None
        self._separators: dict[str, str] = {}
        self._open_ended: str | None = None
        pieces = _EXPRESSION.split(template)
        literals, expressions = pieces[::2], pieces[1::2]
        if not expressions:
            raise BadTemplate("it has no variable")
        self._reserved: str | None = None
        self._parts: list[str] = [_literal(literals[0])]
        self._tail: list[_Atom] = []
        for place, expression in enumerate(expressions):
            after = literals[place + 1]
            following = expressions[place + 1] if place + 1 < len(expressions) else None
            if expression.startswith("?") and (after or following is not None):
                raise BadTemplate("nothing can follow a query")
            if not after and following is not None:
                after = following[:1] if following[:1] in ("/", "?") else "{"
                self._add_expression(expression, after)
            else:
                self._add_expression(expression, after)
                self._add(_literal(after), normalized(after))
        head, *tail = self._parts
        self._pattern, self._tail_pattern = re.compile(head), re.compile("".join(tail))

    def match(self, address: str) -> dict[str, str | list[str]] | None:
        """The values in an address.

        Args:
            address: any text.

        Returns:
            The values by variable, decoded; without those that are missing. None where the address is none of the template's.
        """
        if len(address) > LONGEST_ADDRESS:
            return None
        query = ""
        if self._query is not None:
            address, _, query = address.partition("?")
        found = self._found(address)
        if found is None:
            return None
        values: dict[str, str | list[str]] = {}
        for name, raw in found.items():
            separator = self._separators.get(name)
            if separator is None:
                value: str | list[str] | None = _decoded(raw)
            else:
                value = _all_decoded(raw.removeprefix("/").split(separator)) if raw else []
            if value is None:
                return None
            values[name] = value
        return values if not query or self._add_query(values, query) else None

    def _found(self, address: str) -> dict[str, str] | None:
        """The values as they are written, by variable; None where the address is none of the template's."""
        if self._reserved is None:
            whole = self._pattern.fullmatch(address)
            return None if whole is None else whole.groupdict()
        head = self._pattern.match(address)
        if head is None:
            return None
        end = self._reserved_end(address)
        tail = None if end <= head.end() else self._tail_pattern.fullmatch(address, end)
        if tail is None or not is_usable(address):
            return None
        return {**head.groupdict(), self._reserved: address[head.end() : end], **tail.groupdict()}

    def _reserved_end(self, address: str) -> int:
        """The last place from which on everything that follows the value with reserved characters is there; -1 for none.

        Looked for from the end on, part by part: trying each place in turn takes the square of the time.
        """
        ends = {len(address)}
        for atom in reversed(self._tail):
            found = (match for match in atom.pattern.finditer(address))
            if atom.literal is not None:
                ends = {match.start() for match in found if match.start() + len(atom.literal) in ends}
            else:
                ends = {place for match in found if match.end() in ends for place in range(*match.span())}
        return max(ends, default=-1)

    def _add(self, pattern: str, literal: str | None = None) -> None:
        """Note what stands next in the template: a literal, or a value."""
        if self._reserved is None:
            self._parts[0] += pattern
        elif pattern:
            self._parts.append(pattern)
            self._tail.append(_Atom(re.compile(pattern if literal is None else f"(?={pattern})"), literal))

    def _add_expression(self, expression: str, after: str) -> None:
        operator = expression[:1] if expression[:1] in _OPERATORS else ""
        variables = [self._variable(text, operator) for text in expression.removeprefix(operator).split(",")]
        if operator == "?":
            self._query = {variable.name: variable for variable in variables}
            return
        if after == "{":
            raise BadTemplate(f"nothing stands between {variables[-1].name} and what follows")
        if any(variable.many for variable in variables[:-1]):
            raise BadTemplate(f"{{{expression}}}: only the last variable of an expression can be a list")
        if operator == "+":
            if len(variables) > 1 or variables[0].many:
                raise BadTemplate(f"{{{expression}}}: a value with reserved characters stands alone, and is no list")
            self._note_open_ended(variables[0].name)
            self._reserved = variables[0].name
            return
        self._add_values(operator, variables, after)

    def _note_open_ended(self, name: str) -> None:
        if self._open_ended is not None:
            raise BadTemplate(f"where {self._open_ended} ends and {name} begins can be read in more than one way")
        self._open_ended = name

    def _variable(self, text: str, operator: str) -> Variable:
        parts = _VARIABLE.fullmatch(text)
        if parts is None:
            raise BadTemplate(
                f"{text!r} is no variable; allowed: a name, after it * for a list, before it one of + / ?"
            )
        variable = Variable(parts[1], bool(parts[2]), operator == "?")
        if variable.name in (known.name for known in self.variables):
            raise BadTemplate(f"the variable {variable.name} stands in it twice")
        self.variables.append(variable)
        return variable

    def _add_values(self, operator: str, variables: Sequence[Variable], after: str) -> None:
        for place, (name, many, _) in enumerate(variables):
            is_last = place + 1 == len(variables)
            # A value ends where what follows begins, so nothing has to be tried twice.
            following = after[:1] if is_last else ("/" if operator == "/" else ",")
            within = rf"[^{_SEGMENT}{re.escape(following)}{',' if many else ''}]"
            if many and operator == "/":
                self._note_open_ended(name)
                self._separators[name] = "/"
                self._add(rf"(?P<{name}>(?:/{within}+)*)")
                continue
            separator = "/" if operator == "/" else "," if place else ""
            self._add(separator, separator)
            if many:
                self._separators[name] = ","
                self._add(rf"(?P<{name}>{within}+(?:,{within}+)*)")
            else:
                self._add(rf"(?P<{name}>{within}+)")

    def _add_query(self, values: dict[str, str | list[str]], query: str) -> bool:
        """Read a query into the values; False where it is none of the template's."""
        for pair in query.split("&"):
            key, equals, raw = pair.partition("=")
            name, value = _decoded(key), _decoded(raw)
            variable = (self._query or {}).get(name or "")
            if variable is None or value is None or not equals:
                return False
            if variable.many:
                kept = values.setdefault(variable.name, [])
                if isinstance(kept, list):
                    kept.append(value)
            elif variable.name in values:
                return False
            else:
                values[variable.name] = value
        return True


def is_usable(address: str) -> bool:
    """Can a text be an address at all: is it short enough, without blanks and control characters?"""
    return len(address) <= LONGEST_ADDRESS and _UNUSABLE.search(address) is None


def normalized(address: str) -> str:
    """An address with everything percent-encoded that no address may hold as it is: what an international one stands for."""
    return quote(address, safe=_KEPT)


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise BadTemplate("a brace is open")
    return re.escape(normalized(text))


def _decoded(raw: str) -> str | None:
    """A percent-decoded value; None where it is no text."""
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        return None


def _all_decoded(parts: Sequence[str]) -> list[str] | None:
    values = [_decoded(part) for part in parts]
    return None if None in values else [value for value in values if value is not None]
