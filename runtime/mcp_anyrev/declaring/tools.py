"""Declaring a tool.

Rule: a wrong declaration fails where it is made, with the name of the thing and the reason.
Specification: server/tools#tool
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from mcp_contract import JsonObject, MissingMembers, check_input_schema, header_parameters
from mcp_revisions import VERSIONS

from mcp_anyrev.declaring.declared import (
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
from mcp_anyrev.declaring.returned import Returned
from mcp_anyrev.declaring.signatures import read_signature
from mcp_anyrev.declaring.visibility import Visible, conditions_of
from mcp_anyrev.errors import RegistrationError
from mcp_anyrev.schemas import JsonValidator, SchemaFault
from mcp_anyrev.settings import SCHEMAS, Schemas

if TYPE_CHECKING:
    from mcp_anyrev.declaring.registry import Registry

_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
_SWITCHES = (*_HINTS, "ask_in_arguments", "wrap_output", "asks", "once")


TaskSupport = Literal["optional", "required"]
"""May a call of a tool be answered later, as a task, or must it?"""


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
        meta: what is listed as its `_meta`.
        min_revision: the oldest revision that it is offered on.
        schemas: `plain` for an input schema without references and composition also where a revision could have them; `declared`
            for one that is sent as it is, also where clients may not read it. What the registry says if not given, or the settings.
        visible: the scopes that it takes to see it, or a function of who asks (a `Principal`, or None) that says whether they do.
        wrap_output: send a result that is no object as `{"result": …}` where only an object can be sent. What the registry says
            if not given.
        ask_in_arguments: offer it, although it asks, where questions travel in its arguments; true if not given.
        asks: false for a function that takes the exchange only to report, and never asks.
        requires: the client capabilities without which it is not run, such as `"sampling"` or `"sampling.tools"`; a client that did not
            declare one is refused before anything runs.
        once: of several attempts to finish one call that has asked, let exactly one go on. A destructive tool that asks does so
            if not given.
        task_support: `optional` where a call may be answered later, as a task, if the client knows tasks; `required` where a client that
            could know them must. Without an exchange a call is a task from its beginning; with one, from `answer_later` on.
            Where there are no tasks, a call is answered once its work is done.
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
    icons: Icons
    meta: JsonObject
    min_revision: str
    schemas: Schemas
    visible: Visible
    wrap_output: bool
    ask_in_arguments: bool
    asks: bool
    requires: Sequence[str]
    once: bool
    task_support: TaskSupport


@dataclass(frozen=True)
class Tool(Named):
    """A declared tool; its key is its name.

    Attributes:
        arguments: checks arguments against the declared schema.
        returned: what its function says that it returns.
        output: checks structured results, where there is an output schema.
        asks_in_arguments: is it offered where questions travel in its arguments?
        min_revision: the oldest revision that it is offered on; None for all.
        schemas: how its input schema is sent, if that was said of it.
        wrap_output: is a result that is no object wrapped where only an object can be sent? None if that was not said of it.
        once: does only one of several attempts to finish a call go on?
        has_header_parameters: are arguments repeated in headers?
        task_support: may a call be answered later, or must it, where a client can know tasks? None for never.
    """

    arguments: JsonValidator
    returned: Returned
    output: JsonValidator | None
    asks_in_arguments: bool
    min_revision: str | None
    schemas: Schemas | None
    wrap_output: bool | None
    once: bool
    has_header_parameters: bool
    task_support: TaskSupport | None

    @property
    def name(self) -> str:
        """Its name."""
        return self.key

    @property
    def answers_later(self) -> bool:
        """See `Declared.answers_later`."""
        return self.task_support is not None

    @property
    def wraps_output(self) -> bool:
        """Is a result that is no object wrapped where only an object can be sent? What is said of it, or of a registry around it."""
        said = (self.wrap_output, *(registry.wrap_output for registry in reversed(self.path)))
        return next((one for one in said if one is not None), False)

    def schemas_sent(self, otherwise: Schemas | None) -> Schemas | None:
        """How its input schema is sent.

        Args:
            otherwise: what holds where nothing is said of it, nor of a registry around it.

        Returns:
            `plain`, `declared`, or None for what each revision says.
        """
        said = (self.schemas, *(registry.schemas for registry in reversed(self.path)))
        return next((one for one in said if one is not None), otherwise)

    @cached_property
    def missing_members(self) -> MissingMembers:
        """Reads arguments that were made for a simplified schema."""
        return MissingMembers(self.description["inputSchema"])


def declare_tool(
    registry: Registry, function: Callable[..., Any], options: ToolOptions, local_names: Mapping[str, Any]
) -> Tool:
    """A function and its options → a tool.

    Args:
        registry: where it is declared.
        function: does the work.
        options: see `ToolOptions`.
        local_names: what annotations may refer to beside the module's names.

    Raises:
        RegistrationError: it cannot be served as declared.
    """
    name = name_of("tool", function, options)
    try:
        check_name(name)
        _check_options(options)
        signature = read_signature(function, options.get("input_schema"), local_names)
        arguments = JsonValidator(signature.input_schema)
        check_input_schema(signature.input_schema)
        annotated = header_parameters(signature.input_schema)
        returned = Returned(signature.returns)
        made_schema = returned.schema
        output_schema = options.get("output_schema") or made_schema
        output = None if output_schema is None else JsonValidator(output_schema)
        asks = may_ask(signature, options)
        if options.get("once") and not asks:
            raise ValueError("once is for a tool that asks; this one takes no Exchange, or is declared with asks=False")
    except SchemaFault as error:
        raise RegistrationError(f"tool {name!r}: its schema cannot be used: {error}") from None
    except ValueError as error:
        raise RegistrationError(f"tool {name!r}: {error}") from None
    support = options.get("task_support")
    execution = None if support is None else {"taskSupport": support}
    schemas = {"inputSchema": signature.input_schema, "outputSchema": output_schema, "execution": execution}
    hints = given({wire: options.get(option) for option, wire in _HINTS.items()})
    return Tool(
        key=name,
        description={"name": name, **described(function, options), **given({**schemas, "annotations": hints or None})},
        read=signature.read,
        call=signature.call,
        takes_exchange=signature.takes_exchange,
        asks=asks,
        visible=conditions_of(options.get("visible")),
        requires=requirements_of(options),
        path=(registry,),
        arguments=arguments,
        returned=returned,
        output=output,
        asks_in_arguments=options.get("ask_in_arguments", True),
        min_revision=options.get("min_revision"),
        schemas=options.get("schemas"),
        wrap_output=options.get("wrap_output"),
        once=options.get("once", asks and options.get("destructive", False)),
        has_header_parameters=bool(annotated),
        task_support=options.get("task_support"),
    )


def check_schemas(schemas: Any) -> None:
    """See that it is a way to send input schemas, or None.

    Raises:
        ValueError: it is none.
    """
    if schemas not in (None, *SCHEMAS):
        raise ValueError(f"schemas is one of {', '.join(map(repr, SCHEMAS))}, or not given, not {schemas!r}")


def _check_options(options: ToolOptions) -> None:
    check_options(options, ToolOptions.__annotations__)
    for switch in _SWITCHES:
        if not isinstance(options.get(switch, True), bool):
            raise ValueError(f"the {'hint' if switch in _HINTS else 'option'} {switch} is true or false")
    check_schemas(options.get("schemas"))
    support = options.get("task_support")
    if support not in (None, *get_args(TaskSupport)):
        raise ValueError(
            f"task_support is one of {', '.join(map(repr, get_args(TaskSupport)))}, or not given, not {support!r}"
        )
    revision = options.get("min_revision")
    if revision is not None and revision not in VERSIONS:
        raise ValueError(f"{revision!r} is no revision; known: {', '.join(VERSIONS)}")
