"""Declaring a prompt, and what completes its arguments or those of a resource template.

Rule: a wrong declaration fails where it is made, with the name of the thing and the reason. Arguments of a prompt are text, as the
client's person has typed it.
Specification: server/prompts#prompt, server/utilities/completion
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypedDict

from mcp_contract import JsonObject

from mcp_anyrev.declaring.declared import (
    Declared,
    Icons,
    Named,
    check_name,
    check_options,
    described,
    given,
    may_ask,
    name_of,
    requirements_of,
)
from mcp_anyrev.declaring.resources import ResourceTemplate
from mcp_anyrev.declaring.returned import Returned
from mcp_anyrev.declaring.signatures import read_signature
from mcp_anyrev.declaring.visibility import Condition, Visible, conditions_of
from mcp_anyrev.errors import RegistrationError
from mcp_anyrev.schemas import JsonValidator

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

PROMPT = "ref/prompt"
TEMPLATE = "ref/resource"
"""The kinds of things whose arguments can be completed, as a client names them."""

_TEXT_TYPES = ("string", "integer", "number", "boolean", "null")


class PromptOptions(TypedDict, total=False):
    """What `@registry.prompt(…)` takes.

    Attributes:
        name: the name, if not the function's: 1 to 128 letters, digits, `_`, `.`, `-`.
        title: a name for people.
        description: what it is for; the docstring if not given.
        icons: pictures, as canonical `Icon` models or JSON objects.
        meta: what is listed as its `_meta`.
        visible: the scopes that it takes to see it, or a function of who asks (a `Principal`, or None) that says whether they do.
        asks: false for a function that takes the exchange only to report, and never asks.
        requires: the client capabilities without which it is not run, such as `"sampling"` or `"sampling.tools"`; a client that did not
            declare one is refused before anything runs.
    """

    name: str
    title: str
    description: str
    icons: Icons
    meta: JsonObject
    visible: Visible
    asks: bool
    requires: Sequence[str]


@dataclass(frozen=True)
class Prompt(Named):
    """A declared prompt; its key is its name.

    Attributes:
        arguments: the names of its arguments, and whether each must be given.
        not_empty: those that need not be given and do not take an empty text, so that it says that they are not given.
        returned: what its function says that it returns.
    """

    arguments: Mapping[str, bool]
    not_empty: frozenset[str]
    returned: Returned

    def filled_in(self, arguments: JsonObject) -> JsonObject:
        """The arguments that were filled in, where a client sends empty texts for those that were not."""
        return {name: value for name, value in arguments.items() if value != "" or name not in self.not_empty}

    @property
    def completed_arguments(self) -> list[str]:
        """See `Declared.completed_arguments`."""
        return list(self.arguments)


@dataclass(frozen=True)
class Completion(Declared):
    """What completes one argument; its key tells which.

    Attributes:
        kind: `PROMPT` or `TEMPLATE`.
        of: the name of the prompt, or the template.
        argument: the name of the argument.
        takes_others: does its function take what the other arguments are?
    """

    kind: str
    of: str
    argument: str
    takes_others: bool

    def belongs_to(self, part: Declared) -> bool:
        """See `Declared.belongs_to`: it completes an argument of that prompt, or a variable of that template."""
        return self.of == part.key and (self.kind == PROMPT) == isinstance(part, Prompt)

    def within(self, registry: Registry, prefix: str, visible: tuple[Condition, ...]) -> Self:
        """See `Declared.within`."""
        of = prefix + self.of if self.kind == PROMPT else self.of
        renamed = replace(self, key=completion_key(self.kind, of, self.argument), of=of)
        return super(Completion, renamed).within(registry, prefix, visible)


def completion_key(kind: str, of: str, argument: str) -> str:
    """What a completion is found by."""
    return f"{kind} {of} {argument}"


def declare_prompt(
    registry: Registry, function: Callable[..., Any], options: PromptOptions, local_names: Mapping[str, Any]
) -> Prompt:
    """A function and its options → a prompt.

    Args:
        registry: where it is declared.
        function: gives the messages.
        options: see `PromptOptions`.
        local_names: what annotations may refer to beside the module's names.

    Raises:
        RegistrationError: it cannot be served as declared.
    """
    name = name_of("prompt", function, options)
    try:
        check_name(name)
        check_options(options, PromptOptions.__annotations__)
        signature = read_signature(function, None, local_names)
        returned = Returned(signature.returns)
        returned.check()
        if not returned.is_message:
            raise ValueError("it returns something else than text, content, messages, or a whole result")
        schema = signature.input_schema
        for argument, member in schema.get("properties", {}).items():
            if not _is_text(member, schema.get("$defs", {})):
                raise ValueError(
                    f"the argument {argument} cannot be read from text, and arguments of a prompt are text"
                )
    except ValueError as error:
        raise RegistrationError(f"prompt {name!r}: {error}") from None
    required = schema.get("required", ())
    arguments = {argument: argument in required for argument in schema.get("properties", {})}
    not_empty = frozenset(
        argument
        for argument, member in schema.get("properties", {}).items()
        if not arguments[argument] and not _takes_empty(member, schema.get("$defs", {}))
    )
    told = [
        given(
            {
                "name": argument,
                "title": member.get("title"),
                "description": member.get("description"),
                "required": arguments[argument],
            }
        )
        for argument, member in schema.get("properties", {}).items()
    ]
    return Prompt(
        key=name,
        description={"name": name, **described(function, options), **given({"arguments": told or None})},
        read=signature.read,
        call=signature.call,
        takes_exchange=signature.takes_exchange,
        asks=may_ask(signature, options),
        visible=conditions_of(options.get("visible")),
        requires=requirements_of(options),
        path=(registry,),
        arguments=arguments,
        not_empty=not_empty,
        returned=returned,
    )


def declare_completion(
    registry: Registry,
    kind: str,
    of: str,
    argument: str,
    function: Callable[..., Any],
    local_names: Mapping[str, Any],
) -> Completion:
    """A function → what completes an argument.

    Args:
        registry: where it is declared; the prompt or template is declared there already.
        kind: `PROMPT` or `TEMPLATE`.
        of: the name of the prompt, or the template.
        argument: the name of the argument.
        function: takes `value`, what has been typed, and, if it likes, `arguments`, what the others are.
        local_names: what annotations may refer to beside the module's names.

    Raises:
        RegistrationError: it cannot be served as declared.
    """
    try:
        known = _arguments_of(registry, kind, of)
        if argument not in known:
            raise ValueError(f"it has no argument {argument}; arguments: {', '.join(known) or 'none'}")
        signature = read_signature(function, None, local_names)
        taken = frozenset(signature.input_schema.get("properties", {}))
        if not {"value"} <= taken <= {"value", "arguments"}:
            raise ValueError(
                "its function takes value, what has been typed, and may take arguments, what the others are"
            )
        if not Returned(signature.returns).lists_texts:
            raise ValueError("its function returns a list of texts to choose from, or a whole result")
    except ValueError as error:
        raise RegistrationError(f"completion of {of!r}, argument {argument!r}: {error}") from None
    return Completion(
        key=completion_key(kind, of, argument),
        description={},
        read=signature.read,
        call=signature.call,
        takes_exchange=signature.takes_exchange,
        asks=signature.asks,
        visible=(),
        path=(registry,),
        kind=kind,
        of=of,
        argument=argument,
        takes_others="arguments" in taken,
    )


def _arguments_of(registry: Registry, kind: str, of: str) -> list[str]:
    if kind == PROMPT:
        prompt = registry.prompts.get(of)
        if prompt is None:
            raise ValueError("there is no such prompt; declare it first")
        return list(prompt.arguments)
    template = registry.resources.get(of)
    if not isinstance(template, ResourceTemplate):
        raise ValueError("there is no such template; declare it first")
    return template.completed_arguments


def _is_text(member: JsonObject, definitions: JsonObject) -> bool:
    """Can a value of this schema be read from text?"""
    if "$ref" in member:
        return _is_text(definitions.get(member["$ref"].rpartition("/")[2], {}), definitions)
    if "anyOf" in member:
        return any(_is_text(branch, definitions) for branch in member["anyOf"])
    return member.get("type") in _TEXT_TYPES or "enum" in member or "const" in member


def _takes_empty(member: JsonObject, definitions: JsonObject) -> bool:
    """Is an empty text a value of this schema? One in a format, such as a date, or of a pattern, such as a decimal, is none."""
    if "$ref" in member:
        return _takes_empty(definitions.get(member["$ref"].rpartition("/")[2], {}), definitions)
    if "anyOf" in member:
        return any(_takes_empty(branch, definitions) for branch in member["anyOf"])
    if "enum" in member or "const" in member:
        return "" in (member.get("enum") or (member.get("const"),))
    if member.get("type") != "string" or "format" in member:
        return False
    return JsonValidator(member).accepts("") if "pattern" in member else not member.get("minLength")
