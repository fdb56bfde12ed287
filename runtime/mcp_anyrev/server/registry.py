"""What a server offers, declared once for every revision.

Rule: a wrong declaration fails where it is made, with the name of the thing and the reason. How a server is run is no business of
a registry.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack, overload

from mcp_contract import JsonObject
from mcp_revisions import VERSIONS
from pydantic import BaseModel

from mcp_anyrev.schemas import JsonValidator, SchemaFault
from mcp_anyrev.server.failures import RegistrationError
from mcp_anyrev.server.results import output_schema_of
from mcp_anyrev.server.signatures import Call, read_signature

Function = TypeVar("Function", bound=Callable[..., Any])

_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)


_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


class ToolOptions(TypedDict, total=False):
    """What `@registry.tool(…)` takes.

    Attributes:
        name: the name, if not the function's: 1 to 128 letters, digits, `_`, `.`, `-`.
        title: a name for people.
        description: what it does; the docstring if not given.
        input_schema: the JSON Schema of the arguments, in place of one made from the function.
        output_schema: the JSON Schema of the structured result, in place of one made from the return annotation.
        read_only: it changes nothing.
        destructive: it may destroy something.
        idempotent: calling it again changes nothing more.
        open_world: it deals with things outside the server.
        icons: pictures, as canonical `Icon` models or JSON objects.
        min_revision: the oldest revision that it is offered on.
        ask_in_arguments: offer it, although it asks, where questions travel in its arguments; true if not given.
    """

    name: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    icons: Sequence[BaseModel | JsonObject]
    min_revision: str
    ask_in_arguments: bool


@dataclass(frozen=True, slots=True)
class Tool:
    """A declared tool.

    Attributes:
        name: its name.
        description: everything that is listed of it, in canonical form.
        call: from arguments and exchange to what its function returns.
        arguments: checks arguments against the declared schema.
        output: checks structured results, where there is an output schema.
        takes_exchange: may its function ask?
        asks_in_arguments: is it offered where questions travel in its arguments?
        min_revision: the oldest revision that it is offered on; None for all.
    """

    name: str
    description: JsonObject
    call: Call
    arguments: JsonValidator
    output: JsonValidator | None
    takes_exchange: bool
    asks_in_arguments: bool
    min_revision: str | None


class Registry:
    """The tools of one server, and who it is.

    Args:
        name: the server's name, for programs.
        version: the server's version, not the protocol's.
        title: its name for people.
        description: what it is for.
        instructions: how a model should use it.
        icons: pictures, as canonical `Icon` models or JSON objects.
        website_url: where people read more.

    Raises:
        RegistrationError: name or version is empty.

    Specification: basic/lifecycle#initialization
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        icons: Sequence[BaseModel | JsonObject] = (),
        website_url: str | None = None,
    ) -> None:
        if not name or not version:
            raise RegistrationError(f"server {name!r}: a server has a name and a version")
        self.name = name
        self.instructions = instructions
        told = {"name": name, "version": version, "title": title, "description": description, "websiteUrl": website_url}
        self.server: JsonObject = {**_given(told), **_given({"icons": _plain(icons) or None})}
        self.tools: dict[str, Tool] = {}
        self.edition = 0
        """Counts changes, so that what is made of the declarations can be kept until the next one."""

    @overload
    def tool(self, function: Function, /) -> Function: ...
    @overload
    def tool(self, function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...
    def tool(self, function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Declare a tool: `@registry.tool`, or with options `@registry.tool(title="…")`.

        The function takes one pydantic model, or plain parameters, or, with `input_schema`, a dictionary; beside that, if it
        is async, an `Exchange`. It returns text, anything that becomes JSON, canonical content blocks or a `CallToolResult`.
        A function that is not async runs in a thread.

        Args:
            function: the function, where the decorator has no options.
            options: see `ToolOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/tools#tool
        """
        names = sys._getframe(1).f_locals

        def declare(declared: Callable[..., Any]) -> Callable[..., Any]:
            self._add(_tool(declared, options, names))
            return declared

        return declare if function is None else declare(function)

    def _add(self, tool: Tool) -> None:
        if tool.name in self.tools:
            raise RegistrationError(f"tool {tool.name!r}: there is one of this name already")
        self.tools[tool.name] = tool
        self.edition += 1


def _tool(function: Callable[..., Any], options: ToolOptions, local_names: Mapping[str, Any]) -> Tool:
    name = options.get("name", str(getattr(function, "__name__", "")))
    if not _TOOL_NAME.fullmatch(name):
        raise RegistrationError(f"tool {name!r}: a name has 1 to 128 letters, digits, underscores, dots and hyphens")
    try:
        _check_options(options)
        signature = read_signature(function, options.get("input_schema"), local_names)
        arguments = JsonValidator(signature.input_schema)
        output_schema = options.get("output_schema") or output_schema_of(signature.returns)
        output = None if output_schema is None else JsonValidator(output_schema)
    except SchemaFault as error:
        raise RegistrationError(f"tool {name!r}: its schema cannot be used: {error}") from None
    except ValueError as error:
        raise RegistrationError(f"tool {name!r}: {error}") from None
    hints = {wire: options.get(option) for option, wire in _HINTS.items()}
    described = _given(
        {
            "name": name,
            "title": options.get("title"),
            "description": options.get("description") or inspect.getdoc(function),
            "inputSchema": signature.input_schema,
            "outputSchema": output_schema,
            "annotations": _given(hints) or None,
            "icons": _plain(options.get("icons", ())) or None,
        }
    )
    return Tool(
        name=name,
        description=described,
        call=signature.call,
        arguments=arguments,
        output=output,
        takes_exchange=signature.takes_exchange,
        asks_in_arguments=options.get("ask_in_arguments", True),
        min_revision=options.get("min_revision"),
    )


def _check_options(options: ToolOptions) -> None:
    for option in options:
        if option not in ToolOptions.__annotations__:
            raise ValueError(f"there is no option {option!r}; options: {', '.join(ToolOptions.__annotations__)}")
    for hint in _HINTS:
        if not isinstance(options.get(hint, True), bool):
            raise ValueError(f"the hint {hint} is true or false")
    revision = options.get("min_revision")
    if revision is not None and revision not in VERSIONS:
        raise ValueError(f"{revision!r} is no revision; known: {', '.join(VERSIONS)}")


def _given(members: JsonObject) -> JsonObject:
    return {name: value for name, value in members.items() if value is not None}


def _plain(models: Sequence[BaseModel | JsonObject]) -> list[JsonObject]:
    return [
        one.model_dump(mode="json", by_alias=True, exclude_unset=True) if isinstance(one, BaseModel) else one
        for one in models
    ]
