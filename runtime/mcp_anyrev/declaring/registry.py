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
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Unpack, overload

from mcp_contract import JsonObject, check_icons, check_uri

from mcp_anyrev.declaring.around import Around
from mcp_anyrev.declaring.changes import UPDATES, Change, Watcher, Watchers
from mcp_anyrev.declaring.declared import Declared, Icons, check_decorated, given, plain
from mcp_anyrev.declaring.kinds import BUILT_IN, COMPLETIONS, PROMPTS, RESOURCES, TOOLS, Announcement, Kind
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
from mcp_anyrev.declaring.tools import Tool, ToolOptions, check_schemas, declare_tool
from mcp_anyrev.declaring.uri_templates import normalized
from mcp_anyrev.declaring.visibility import Condition, Visible, conditions_of
from mcp_anyrev.errors import RegistrationError
from mcp_anyrev.messages import written
from mcp_anyrev.settings import Schemas

if TYPE_CHECKING:
    from mcp_anyrev.declaring.extensions import Extension

Function = TypeVar("Function", bound=Callable[..., Any])

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
        schemas: how the input schemas of its tools are sent, for those that do not say it themselves; see `ToolOptions`.
        wrap_output: are results of its tools that are no object wrapped, for those that do not say it themselves? See `ToolOptions`.

    Raises:
        RegistrationError: name or version is empty, the lifespan is no function of one argument, or an option is none.

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
        schemas: Schemas | None = None,
        wrap_output: bool | None = None,
    ) -> None:
        if not name or not version:
            raise RegistrationError(f"server {name!r}: a server has a name and a version")
        if lifespan is not None and not takes_registry(lifespan):
            raise RegistrationError(f"server {name!r}: the lifespan is a function that takes the registry")
        try:
            check_schemas(schemas)
            check_icons(plain(icons))
            if website_url is not None:
                check_uri(website_url)
        except ValueError as error:
            raise RegistrationError(f"server {name!r}: {error}") from None
        if not isinstance(wrap_output, bool | None):
            raise RegistrationError(f"server {name!r}: wrap_output is true or false")
        self.name = name
        self.schemas = schemas
        self.wrap_output = wrap_output
        self.instructions = instructions
        self.lifespan = lifespan
        self.hooks: tuple[Around, ...] = ()
        """What stands around each request, the outermost first."""
        told = {"name": name, "version": version, "title": title, "description": description, "websiteUrl": website_url}
        self.server: JsonObject = {**given(told), **given({"icons": plain(icons) or None})}
        try:
            written(self.server)
            written(instructions)
        except ValueError as error:
            raise RegistrationError(f"server {name!r}: what is told of it is no JSON: {error}") from None
        self.beside: tuple[Callable[[], AbstractAsyncContextManager[object]], ...] = ()
        """What extensions do beside answering, for as long as a server runs."""
        self.edition = 0
        """Counts changes, so that what is made of the declarations can be kept until the next one."""
        self._parts: dict[Kind, dict[str, Any]] = {kind: {} for kind in BUILT_IN}
        self._taken: dict[tuple[Kind, str], str] = {}
        """The keys of the declarations by what no other may have in common with them."""
        self._known: frozenset[Kind] = frozenset()
        self._included: list[Registry] = []
        self._includers: list[_Includer] = []
        self._watchers = Watchers()

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of which there is or has been something, those that the protocol has first."""
        known = self._known
        return tuple(kind for kind in self._parts if kind in known)

    def parts(self, kind: Kind) -> Mapping[str, Any]:
        """What is declared of a kind, by its keys, in the order of the declarations."""
        return MappingProxyType(self._parts.get(kind, {}))

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The declared tools by name."""
        return self.parts(TOOLS)

    @property
    def resources(self) -> Mapping[str, Resource]:
        """The declared resources by address, and templates of resources by template."""
        return self.parts(RESOURCES)

    @property
    def prompts(self) -> Mapping[str, Prompt]:
        """The declared prompts by name."""
        return self.parts(PROMPTS)

    @property
    def completions(self) -> Mapping[str, Completion]:
        """The declared completions by `completion_key`."""
        return self.parts(COMPLETIONS)

    @property
    def announcements(self) -> Mapping[str, Announcement]:
        """The changes that there can be, by what `Change.kind` calls them."""
        return {one.change: one for kind in self._parts for one in kind.announcements}

    @overload
    def tool(self, function: Function, /) -> Function: ...
    @overload
    def tool(self, function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...
    def tool(self, function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
        """Declare a tool: `@registry.tool`, or with options `@registry.tool(title="…")`.

        The function takes one pydantic model, or plain parameters, or, with `input_schema`, a dictionary; beside that dependencies
        (see `Depends`) and, if it is async, an `Exchange`. It returns text, anything that becomes JSON, content (`Image`,
        `Audio`, `File`, canonical blocks, also in a list with texts) or a `CallToolResult`, and what it returns goes out as its
        annotation says. A function that is not async runs in a thread.

        Args:
            function: the function, where the decorator has no options.
            options: see `ToolOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/tools#tool
        """
        check_decorated("tool", function)
        names = sys._getframe(1).f_locals

        def declare(declared: Callable[..., Any]) -> Callable[..., Any]:
            self.add(TOOLS, declare_tool(self, declared, options, names))
            return declared

        return declare if function is None else declare(function)

    def resource(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[Function], Function]:
        """Declare a resource at an address, or resources at all addresses of an RFC 6570 template.

        The function takes the variables of the template by name, and whatever else a tool's function may. It returns text, bytes,
        canonical contents or a list of them, a `ReadResourceResult`, or anything else that becomes JSON; None where there is no
        such resource.

        Args:
            uri: the address, or a template: `{a}`, `{a,b}`, `{+a}` with reserved characters, `{/a}` for parts of a path, `{?a,b}`
                for a query, which may be missing; a `*` after a name makes it a list. A value is given percent-decoded. Where it
                holds `..` between slashes, begins as an absolute path does, or holds NUL, there is no such resource; see
                `ResourceOptions.unsafe_values`.
            options: see `ResourceOptions`.

        Raises:
            RegistrationError: it cannot be served as declared.

        Specification: server/resources#resource-templates
        """
        if not isinstance(uri, str):
            raise RegistrationError(f'resource: {uri!r} is no address; write @registry.resource("scheme://…")')
        names = sys._getframe(1).f_locals

        def declare(declared: Function) -> Function:
            self.add(RESOURCES, declare_resource(self, uri, declared, options, names))
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
        check_decorated("prompt", function)
        names = sys._getframe(1).f_locals

        def declare(declared: Callable[..., Any]) -> Callable[..., Any]:
            self.add(PROMPTS, declare_prompt(self, declared, options, names))
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
        if not isinstance(argument, str):
            raise RegistrationError(
                f'completion: {argument!r} is no name of an argument; write @registry.completion("argument", prompt="…")'
            )
        if (prompt is None) == (template is None):
            raise RegistrationError(f"completion of argument {argument!r}: it is for a prompt or for a template")
        kind, of = (PROMPT, prompt) if prompt is not None else (TEMPLATE, template)
        names = sys._getframe(1).f_locals

        def declare(declared: Function) -> Function:
            self.add(COMPLETIONS, declare_completion(self, kind, of or "", argument, declared, names))
            return declared

        return declare

    def around(self, hook: Around) -> Around:
        """Have a function stand around each request but a ping and the handshake. There can be several; the first one is outermost.

        It gets an `Invocation` and what goes on with it; both see canonical values: `return await proceed(invocation)`. What a
        handler raises is raised there as it is, and what leaves the last hook becomes the answer. A hook can change the params, but
        not what the request is for. Where a question ends a call, it runs again on each attempt.

        Args:
            hook: an async function; a decorator without options.

        Raises:
            RegistrationError: it is not async.
        """
        if not inspect.iscoroutinefunction(hook):
            raise RegistrationError(f"server {self.name!r}: the around hook is not async")
        with _lock:
            self.hooks = (*self.hooks, hook)
            self._touch()
        return hook

    def include(self, other: Registry, *, prefix: str = "", visible: Visible | None = None) -> None:
        """Offer all that another registry declares, now and later, with its own hooks and lifespan.

        Args:
            other: the registry; it can still be served alone, and be included elsewhere.
            prefix: what names of tools and prompts get in front. Addresses of resources stay.
            visible: what it takes to see any of it, as for a single tool.

        Raises:
            RegistrationError: there is something of the same name or address already, or it would include itself.

        Specification: server/tools#tool
        """
        try:
            includer = _Includer(self, prefix, conditions_of(visible))
        except ValueError as error:
            raise RegistrationError(f"server {self.name!r}: {error}") from None
        with _lock:
            if self in other.family() or any(other is one for one in self._included):
                raise RegistrationError(f"server {self.name!r}: it includes {other.name!r} already, or itself")
            parts = [
                (kind, includer.offered(kind, part)) for kind in other._parts for part in other.parts(kind).values()
            ]
            for kind, part in parts:
                self._check_free(kind, part)
            self._included.append(other)
            other._includers.append(includer)
            for kind, part in parts:
                self._put(kind, part)

    def add(self, kind: Kind, part: Declared) -> None:
        """Offer something that has been declared, of any kind; `tool` and its like do this.

        Args:
            kind: its kind.
            part: the declaration.

        Raises:
            RegistrationError: there is something of the same name or address already, or what is listed of it cannot be written.
        """
        try:
            written(part.description)
        except ValueError as error:
            raise RegistrationError(f"{kind.noun} {part.key!r}: what is listed of it is no JSON: {error}") from None
        with _lock:
            self._check_free(kind, part)
            self._put(kind, part)

    def remove(self, kind: Kind, key: str) -> None:
        """Take something out, and with it what is of no use without it.

        Args:
            kind: its kind.
            key: its name or address.

        Raises:
            KeyError: there is none.
        """
        with _lock:
            removed = self._parts[kind][key]
            self._parts = {
                of: {name: part for name, part in parts.items() if part is not removed and not part.belongs_to(removed)}
                for of, parts in self._parts.items()
            }
            self._taken = {
                (of, of.identity(part)): name for of, parts in self._parts.items() for name, part in parts.items()
            }
            self._note(kind, removed)
            for includer in self._includers:
                includer.registry.remove(kind, includer.offered(kind, removed).key)

    def remove_tool(self, name: str) -> None:
        """Take a tool out.

        Raises:
            KeyError: there is none of this name.
        """
        self.remove(TOOLS, name)

    def remove_resource(self, uri: str) -> None:
        """Take a resource, or a template, out, and with it what completes its variables.

        Raises:
            KeyError: there is none at this address.
        """
        self.remove(RESOURCES, uri)

    def remove_prompt(self, name: str) -> None:
        """Take a prompt out, and with it what completes its arguments.

        Raises:
            KeyError: there is none of this name.
        """
        self.remove(PROMPTS, name)

    def changed(self, kind: str) -> None:
        """Say that a list is another now, where this package cannot know; from any task or thread.

        Args:
            kind: `tools`, `prompts`, `resources`, or what an extension calls its own.

        Raises:
            ValueError: there is no such list.

        Specification: server/tools#list-changed-notification
        """
        lists = [name for name, announcement in self.announcements.items() if not announcement.of_one]
        if kind not in lists:
            raise ValueError(f"{kind!r} is no list; lists: {', '.join(lists)}")
        self.tell(Change(kind, None))

    def updated(self, uri: str) -> None:
        """Say that the contents of a resource are others now; from any task or thread.

        Args:
            uri: its address, whichever way it is written.

        Specification: server/resources#subscriptions
        """
        self.tell(Change(UPDATES, normalized(uri)))

    def tell(self, change: Change) -> None:
        """Pass a change on to whoever watches, where there is something of its kind; `changed` and `updated` do this."""
        if any(one.change == change.kind for kind in self._known for one in kind.announcements):
            self._watchers.tell(change)  # where there is nothing of the kind, nobody can have been promised it
        for includer in self._includers:
            includer.registry.tell(change)

    def extension(self, extension: Extension) -> None:
        """Offer an extension, with all that it declares, now and later: as its own where a revision has extensions, through resources
        elsewhere.

        Args:
            extension: the extension.

        Raises:
            RegistrationError: one of its methods is a revision's own, or of another extension, or an address is taken.

        Specification: basic/versioning#extension-negotiation
        """
        with _lock:
            extension.offer(self)
            self.beside = (*self.beside, *extension.beside)
            self.refresh()

    def refresh(self) -> None:
        """Have what is made of the declarations made anew; for what has changed beside them."""
        with _lock:
            self._touch()

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

    def _check_free(self, kind: Kind, part: Declared) -> None:
        other = self._taken.get((kind, kind.identity(part)))
        if other is not None:
            clash = "there is one of this name already" if other == part.key else f"it is the same address as {other!r}"
            raise RegistrationError(f"{kind.noun} {part.key!r}: {clash}")
        for includer in self._includers:
            includer.registry._check_free(kind, includer.offered(kind, part))

    def _put(self, kind: Kind, part: Declared) -> None:
        self._parts = {**self._parts, kind: {**self._parts.get(kind, {}), part.key: part}}
        self._taken[kind, kind.identity(part)] = part.key
        self._note(kind, part)
        for includer in self._includers:
            includer.registry._put(kind, includer.offered(kind, part))

    def _note(self, kind: Kind, part: Declared) -> None:
        self._known |= {kind}
        self.edition += 1
        for announcement in kind.announcements:
            if not announcement.of_one:
                self._watchers.tell(Change(announcement.change, None, part.visible))

    def _touch(self) -> None:
        self.edition += 1
        for includer in self._includers:
            includer.registry._touch()


class _Includer(NamedTuple):
    """A registry that offers what another one declares, and how."""

    registry: Registry
    prefix: str
    visible: tuple[Condition, ...]

    def offered(self, kind: Kind, part: Declared) -> Declared:
        try:
            return part.within(self.registry, self.prefix, self.visible)
        except ValueError as error:
            raise RegistrationError(f"{kind.noun} {error}") from None
