"""What a server offers, declared once for every revision.

Rule: a wrong declaration fails where it is made, with the name of the thing and the reason. How a server is run is no business of
a registry. What is declared can change at any time, from any thread: each change makes new dictionaries, so whoever looks at one
sees one state.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, Unpack, overload

from mcp_contract import JsonObject

from mcp_anyrev.declaring.around import Around
from mcp_anyrev.declaring.changes import Change, Watcher, Watchers
from mcp_anyrev.declaring.declared import Declared, Icons, given, plain
from mcp_anyrev.declaring.lifespans import Lifespan, takes_registry
from mcp_anyrev.declaring.prompts import (
    PROMPT,
    TEMPLATE,
    Completion,
    Prompt,
    PromptOptions,
    declare_completion,
    declare_prompt,
)
from mcp_anyrev.declaring.resources import Resource, ResourceOptions, declare_resource
from mcp_anyrev.declaring.tools import Tool, ToolOptions, declare_tool
from mcp_anyrev.errors import RegistrationError
from mcp_anyrev.settings import CHANGES

Function = TypeVar("Function", bound=Callable[..., Any])
Part = Tool | Resource | Prompt | Completion

_KINDS: Mapping[type[Declared], str] = {
    Tool: "tools",
    Resource: "resources",
    Prompt: "prompts",
    Completion: "completions",
}
_NAMES = {"tools": "tool", "resources": "resource", "prompts": "prompt", "completions": "completion of"}

# One for all: registries that include each other change together, and hardly ever.
_lock = threading.RLock()


class Registry:
    """The tools, resources and prompts of one server, and who it is.

    Args:
        name: the server's name, for programs.
        version: the server's version, not the protocol's.
        title: its name for people.
        description: what it is for.
        instructions: how a model should use it.
        icons: pictures, as canonical `Icon` models or JSON objects.
        website_url: where people read more.
        lifespan: from the registry to an async context manager that is entered when a server starts and left when it stops;
            handlers get what it yields with `lifespan_value`.

    Raises:
        RegistrationError: name or version is empty, or the lifespan is no function of one argument.

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
        icons: Icons = (),
        website_url: str | None = None,
        lifespan: Lifespan | None = None,
    ) -> None:
        if not name or not version:
            raise RegistrationError(f"server {name!r}: a server has a name and a version")
        if lifespan is not None and not takes_registry(lifespan):
            raise RegistrationError(f"server {name!r}: the lifespan is a function that takes the registry")
        self.name = name
        self.instructions = instructions
        self.lifespan = lifespan
        self.hook: Around | None = None
        told = {"name": name, "version": version, "title": title, "description": description, "websiteUrl": website_url}
        self.server: JsonObject = {**given(told), **given({"icons": plain(icons) or None})}
        self.edition = 0
        """Counts changes, so that what is made of the declarations can be kept until the next one."""
        self.kinds: frozenset[str] = frozenset()
        """Of which kinds there is or has been something: `tools`, `resources`, `prompts`, `completions`."""
        self._parts: dict[str, dict[str, Part]] = {kind: {} for kind in _NAMES}
        self._included: list[Registry] = []
        self._includers: list[tuple[Registry, str]] = []
        self._watchers = Watchers()

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The declared tools by name, in the order of their declaration."""
        return MappingProxyType(self._parts["tools"])  # type: ignore[arg-type]  # `_KINDS` puts nothing else there

    @property
    def resources(self) -> Mapping[str, Resource]:
        """The declared resources by address or template, in the order of their declaration."""
        return MappingProxyType(self._parts["resources"])  # type: ignore[arg-type]  # as above

    @property
    def prompts(self) -> Mapping[str, Prompt]:
        """The declared prompts by name, in the order of their declaration."""
        return MappingProxyType(self._parts["prompts"])  # type: ignore[arg-type]  # as above

    @property
    def completions(self) -> Mapping[str, Completion]:
        """The declared completions by `completion_key`."""
        return MappingProxyType(self._parts["completions"])  # type: ignore[arg-type]  # as above

    @overload
    def tool(self, function: Function, /) -> Function: ...
    @overload
    def tool(self, function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...
    def tool(self, function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Declare a tool: `@registry.tool`, or with options `@registry.tool(title="…")`.

        The function takes one pydantic model, or plain parameters, or, with `input_schema`, a dictionary; beside that dependencies
        (see `Depends`) and, if it is async, an `Exchange`. It returns text, anything that becomes JSON, canonical content blocks or
        a `CallToolResult`. A function that is not async runs in a thread.

        Args:
            function: the function, where the decorator has no options.
            options: see `ToolOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/tools#tool
        """
        names = sys._getframe(1).f_locals

        def declare(declared: Callable[..., Any]) -> Callable[..., Any]:
            self._add(declare_tool(self, declared, options, names))
            return declared

        return declare if function is None else declare(function)

    def resource(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[Function], Function]:
        """Declare a resource at an address, or resources at all addresses of an RFC 6570 template.

        The function takes the variables of the template by name, and whatever else a tool's function may. It returns text, bytes,
        canonical contents or a list of them, a `ReadResourceResult`, or anything else that becomes JSON; None where there is no
        such resource.

        Args:
            uri: the address, or a template: `{a}`, `{a,b}`, `{+a}` with reserved characters, `{/a}` for parts of a path, `{?a,b}`
                for a query, which may be missing; a `*` after a name makes it a list. A value is given percent-decoded and may
                hold any text, slashes and dots too.
            options: see `ResourceOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/resources#resource-templates
        """
        names = sys._getframe(1).f_locals

        def declare(declared: Function) -> Function:
            self._add(declare_resource(self, uri, declared, options, names))
            return declared

        return declare

    @overload
    def prompt(self, function: Function, /) -> Function: ...
    @overload
    def prompt(self, function: None = None, /, **options: Unpack[PromptOptions]) -> Callable[[Function], Function]: ...
    def prompt(self, function: Callable[..., Any] | None = None, /, **options: Unpack[PromptOptions]) -> Any:
        """Declare a prompt: `@registry.prompt`, or with options `@registry.prompt(title="…")`.

        The function takes its arguments as plain parameters or one pydantic model, and whatever else a tool's function may. It
        returns text, which becomes one message of the user, canonical messages or content, a list of any of these, or a
        `GetPromptResult`.

        Args:
            function: the function, where the decorator has no options.
            options: see `PromptOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/prompts#prompt
        """
        names = sys._getframe(1).f_locals

        def declare(declared: Callable[..., Any]) -> Callable[..., Any]:
            self._add(declare_prompt(self, declared, options, names))
            return declared

        return declare if function is None else declare(function)

    def completion(
        self, argument: str, /, *, prompt: str | None = None, template: str | None = None
    ) -> Callable[[Function], Function]:
        """Declare what completes an argument: `@registry.completion("name", prompt="greet")`.

        The function takes `value`, the text typed so far, and, if it likes, `arguments`, a dictionary of what the other arguments
        are. It returns the values to choose from, all of them if it likes: a client gets the first hundred and is told how many
        there are. Or a canonical `CompleteResult`.

        Args:
            argument: the name of the argument.
            prompt: the name of a prompt that has been declared, or
            template: the template of resources that have been.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/utilities/completion
        """
        if (prompt is None) == (template is None):
            raise RegistrationError(f"completion of argument {argument!r}: it is for a prompt or for a template")
        kind, of = (PROMPT, prompt) if prompt is not None else (TEMPLATE, template)
        names = sys._getframe(1).f_locals

        def declare(declared: Function) -> Function:
            self._add(declare_completion(self, kind, of or "", argument, declared, names))
            return declared

        return declare

    def around(self, hook: Around) -> Around:
        """Have a function stand around each call of a tool, reading of a resource, getting of a prompt and completion.

        It gets an `Invocation` and what goes on with it; both see canonical values: `return await proceed(invocation)`. Where a
        question ends a call, it runs again on each attempt.

        Args:
            hook: an async function; a decorator without options.

        Raises:
            RegistrationError: there is one already, or it is not async.
        """
        if self.hook is not None:
            raise RegistrationError(f"server {self.name!r}: there is an around hook already")
        if not inspect.iscoroutinefunction(hook):
            raise RegistrationError(f"server {self.name!r}: the around hook is not async")
        self.hook = hook
        return hook

    def include(self, other: Registry, *, prefix: str = "") -> None:
        """Offer all that another registry declares, now and later, with its own hook and lifespan.

        Args:
            other: the registry; it can still be served alone, and be included elsewhere.
            prefix: what names of tools and prompts get in front. Addresses of resources stay.

        Raises:
            RegistrationError: there is something of the same name or address already, or it would include itself.

        Specification: server/tools#tool
        """
        with _lock:
            if self in other.family() or any(other is one for one in self._included):
                raise RegistrationError(f"server {self.name!r}: it includes {other.name!r} already, or itself")
            parts = [part.within(self, prefix) for kind in _NAMES for part in other._parts[kind].values()]
            for part in parts:
                self._check_free(part)
            self._included.append(other)
            other._includers.append((self, prefix))
            for part in parts:
                self._put(part)

    def remove_tool(self, name: str) -> None:
        """Take a tool out.

        Raises:
            KeyError: there is none of this name.
        """
        self._remove("tools", name)

    def remove_resource(self, uri: str) -> None:
        """Take a resource, or a template, out, and with it what completes its variables.

        Raises:
            KeyError: there is none at this address.
        """
        self._remove("resources", uri)

    def remove_prompt(self, name: str) -> None:
        """Take a prompt out, and with it what completes its arguments.

        Raises:
            KeyError: there is none of this name.
        """
        self._remove("prompts", name)

    def changed(self, kind: str) -> None:
        """Say that a list is another now, where this package cannot know; from any task or thread.

        Args:
            kind: `tools`, `prompts` or `resources`.

        Raises:
            ValueError: there is no such list.

        Specification: server/tools#list-changed-notification
        """
        if kind not in CHANGES or kind == "updates":
            raise ValueError(f"{kind!r} is no list; lists: {', '.join(one for one in CHANGES if one != 'updates')}")
        self._tell(Change(kind, None))

    def updated(self, uri: str) -> None:
        """Say that the contents of a resource are others now; from any task or thread.

        Args:
            uri: its address.

        Specification: server/resources#subscriptions
        """
        self._tell(Change("updates", uri))

    def watch(self, callback: Watcher) -> Callable[[], None]:
        """Be told of all changes.

        Args:
            callback: is called with each `Change`, in the thread where it happens; it must not block.

        Returns:
            What ends it.
        """
        return self._watchers.add(callback)

    def family(self) -> Iterator[Registry]:
        """This registry and all that it includes."""
        yield self
        for other in self._included:
            yield from other.family()

    def parts(self) -> Iterator[Part]:
        """All that is declared."""
        for parts in self._parts.values():
            yield from parts.values()

    def _add(self, part: Part) -> None:
        with _lock:
            self._check_free(part)
            self._put(part)

    def _check_free(self, part: Part) -> None:
        kind = _KINDS[type(part)]
        if part.key in self._parts[kind]:
            raise RegistrationError(f"{_NAMES[kind]} {part.key!r}: there is one of this name already")
        if isinstance(part, Resource):
            for other in self.resources.values():
                if other.address == part.address:
                    raise RegistrationError(f"resource {part.key!r}: it is the same address as {other.key!r}")
        for includer, prefix in self._includers:
            includer._check_free(part.within(includer, prefix))

    def _put(self, part: Part) -> None:
        kind = _KINDS[type(part)]
        self._parts[kind] = {**self._parts[kind], part.key: part}
        self._note(kind)
        for includer, prefix in self._includers:
            includer._put(part.within(includer, prefix))

    def _remove(self, kind: str, key: str) -> None:
        with _lock:
            removed = self._parts[kind][key]
            self._parts[kind] = {name: part for name, part in self._parts[kind].items() if part is not removed}
            self._parts["completions"] = {
                name: completion for name, completion in self.completions.items() if not completion.completes(removed)
            }
            self._note(kind)
            for includer, prefix in self._includers:
                includer._remove(kind, removed.within(includer, prefix).key)

    def _note(self, kind: str) -> None:
        self.kinds |= {kind}
        self.edition += 1
        if kind in CHANGES:
            self._watchers.tell(Change(kind, None))

    def _tell(self, change: Change) -> None:
        if (
            "resources" if change.uri is not None else change.kind
        ) in self.kinds:  # else nobody can have been promised it
            self._watchers.tell(change)
        for includer, _ in self._includers:
            includer._tell(change)
