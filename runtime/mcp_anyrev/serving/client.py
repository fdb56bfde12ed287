"""A client of one server, whichever revision that speaks and whichever transport it has.

Rule: every call gives a canonical value or raises a `ClientError`; how what is called travels is decided below. Nothing is sent that the
revision lacks.
Specification: server/tools, server/resources, server/prompts, server/utilities, client/elicitation
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mcp_contract import TASKS_EXTENSION, JsonObject, MethodNotFound
from mcp_revisions import AdapterSet

from mcp_anyrev.client.answering import Answering, OnAsk, OnRoots, OnSample
from mcp_anyrev.client.connection import Connection
from mcp_anyrev.client.errors import ErrorAnswer, NotOffered
from mcp_anyrev.client.kept_results import KeptResults
from mcp_anyrev.client.listening import SUBSCRIBE, UNSUBSCRIBE, Listening
from mcp_anyrev.client.lists import listed, readable
from mcp_anyrev.client.notices import Notices, OnLog, OnNotification, OnProgress
from mcp_anyrev.client.offers import canonical_offers
from mcp_anyrev.client.reading import read
from mcp_anyrev.client.session import SET_LEVEL, ClientSession, Verdict
from mcp_anyrev.client.tasks import ClientTask
from mcp_anyrev.client.tools import CALL, LIST, STALE, KnownTools
from mcp_anyrev.client.wire import OnWire, Tapped
from mcp_anyrev.serving.reaching import Target, ways_to
from mcp_anyrev.settings import Limits

if TYPE_CHECKING:
    from mcp_revisions.canonical import (
        CompleteResultCompletion,
        Implementation,
        Prompt,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
        ServerCapabilities,
        Task,
        Tool,
    )
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.extension import ClientExtension
    from mcp_anyrev.client.results import CallToolResult, GetPromptResult
    from mcp_anyrev.client.skills import ClientSkills
    from mcp_anyrev.client.transport import Transport

_READ = "resources/read"
_ROOTS_CHANGED = "notifications/roots/list_changed"


class Client:
    """A client of one server; to be entered with `async with`.

    Args:
        target: the URL of a server, or the command that starts one, as a list of its parts or a text. What gives a transport works, too.
        adapter: the one revision to speak; None to find out what the server speaks.
        revisions: the revisions to choose from, where none is given; all that exist if None.
        on_ask: asks the person what the server asks: gets a form to fill in or an address to open; gives what the form holds, or True,
            to accept, False to decline, None to put it off, or an `ElicitResult`. As all callbacks it is async or not; those that ask run in
            a thread where they are not.
        on_sample: samples from a model: gets the params of the request, gives a `CreateMessageResult` or only text.
        on_roots: gives the roots: addresses, paths, or `Root` values.
        on_log: takes log messages.
        on_progress: takes the progress of calls that have no callback of their own.
        on_notification: takes every other notification, by its method and its params as they came.
        extensions: the extensions that the client knows, with what it declares of each.
        capabilities: client capabilities to declare besides what follows from the callbacks, in canonical form.
        information: who the client is, in canonical form: at least name and version.
        timeout_seconds: for how long a server may say nothing, not even progress, while its answer is waited for; None for any time.
        rounds: how often a server may ask before it answers a call.
        keep_results: are results kept for as long as the server allows, and used again?
        sends_all: is a server asked also for what it does not say that it offers? If not, that is refused without asking, and a list of it is
            empty, on revisions that want it so.
        transport: the only way to reach the server that is tried, of those that `ways_to` gives for the target, such as `http` or `sse` for a
            URL; None for all of them.
        known: what an earlier client found out, from its `verdict`, so that it need not be found out again.
        on_wire: looks at everything that passes, both ways; see `WireMessage` and `WireHead`. It is called at once, so it returns at once.
        limits: how much one message may hold, and what may wait.
        options: what belongs to the transport; see `ways_to`.

    Raises:
        ValueError: the target is none, no such transport leads to it, or a revision does not exist.
    """

    def __init__(
        self,
        target: Target,
        adapter: Adapter | None = None,
        *,
        revisions: Collection[str] | None = None,
        on_ask: OnAsk | None = None,
        on_sample: OnSample | None = None,
        on_roots: OnRoots | None = None,
        on_log: OnLog | None = None,
        on_progress: OnProgress | None = None,
        on_notification: OnNotification | None = None,
        extensions: Mapping[str, Mapping[str, Any]] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        information: Mapping[str, Any] | None = None,
        timeout_seconds: float | None = 60,
        rounds: int = 32,
        keep_results: bool = False,
        sends_all: bool = False,
        transport: str | None = None,
        known: Verdict | None = None,
        on_wire: OnWire | None = None,
        limits: Limits | None = None,
        **options: Any,
    ) -> None:
        limits = limits or Limits()
        declared = {"extensions": {TASKS_EXTENSION: {}, **(extensions or {})}, **(capabilities or {})}
        self._answering = Answering(on_ask, on_sample, on_roots, declared)
        self._notices = Notices(on_log, on_progress, on_notification)
        self._limits = limits
        self._information: JsonObject = dict(information or _own_information())
        self._on_wire = on_wire
        self._level: str | None = None
        self._tools: KnownTools | None = None
        self._skills: ClientSkills | None = None
        ways = ways_to(target, limits, on_wire, **options)
        if transport is not None and transport not in ways:
            raise ValueError(f"{transport!r} does not lead to {target!r}; what does: {', '.join(ways)}")
        self._session = ClientSession(
            ways if transport is None else {transport: ways[transport]},
            self._connected,
            AdapterSet(revisions) if adapter is None else AdapterSet([adapter.version]),
            pinned=adapter is not None,
            known=None if known is None else Verdict(*known),
            seconds=timeout_seconds,
            rounds=rounds,
            kept=KeptResults(limits.kept_bytes_of_principal) if keep_results else None,
            sends_all=sends_all,
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def initialize(self) -> Client:
        """Agree with the server on a revision, and learn what it is; the first call does so, too.

        Raises:
            ClientError: it cannot be reached, or there is nothing to agree on.

        Specification: basic/lifecycle#initialization, server/discover
        """
        await self._session.open()
        return self

    async def close(self) -> None:
        """End the session and the connection, in good order."""
        await self._session.left()
        await self._session.close()
        await self._notices.close()

    # --- What was agreed on ---

    @property
    def adapter(self) -> Adapter:
        """The revision that is spoken."""
        return self._session.agreement.adapter

    @property
    def revision(self) -> str:
        """Its name."""
        return self.adapter.version

    @property
    def offered_revisions(self) -> tuple[str, ...]:
        """The revisions that the server names; where a handshake has agreed on one, only that."""
        return self._session.agreement.offered

    @property
    def verdict(self) -> Verdict:
        """What was found out about the server; JSON can hold it."""
        return self._session.verdict

    @property
    def description(self) -> JsonObject:
        """How the server describes itself, as it came."""
        return self._session.agreement.description

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server can do; what its revision declares elsewhere stands where the vocabulary has it, too.

        Raises:
            WrongAnswer: it says that in another form than the protocol has.
        """
        from mcp_revisions.canonical import ServerCapabilities

        return read(ServerCapabilities, canonical_offers(self._session.agreement), "what the server can do")

    @property
    def server(self) -> Implementation | None:
        """Who the server is; None where it does not say.

        Raises:
            WrongAnswer: it says that in another form than the protocol has.
        """
        from mcp_revisions.canonical import Implementation

        said = self.adapter.described_server(self.description)
        return None if said is None else read(Implementation, said, "who the server is")

    @property
    def instructions(self) -> str | None:
        """What the server tells a model of itself."""
        said = self.description.get("instructions")
        return said if isinstance(said, str) else None

    # --- Tools ---

    async def list_tools(self) -> list[Tool]:
        """All tools; without those whose declaration cannot be followed, of which the log says why.

        Specification: server/tools#listing-tools
        """
        from mcp_revisions.canonical import Tool

        tools = readable(Tool, await self._listed(LIST, "tools"), LIST)
        return self._known_tools.learn(self.adapter, tools)

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout_seconds: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Call a tool, answer what it asks, and wait for what it gives, also where the server answers later.

        Args:
            name: the tool.
            arguments: its arguments, as JSON.
            timeout_seconds: for how long nothing may come before the server has answered, if only that it answers later; None for what
                holds for all calls.
            on_progress: takes its progress.
            meta: `_meta` of the request.

        Returns:
            What it gave; `is_error` says that it failed.

        Raises:
            NotOffered: its schema cannot be used; nothing was sent.
            WrongAnswer: it gave something else than it promises.
            ClientError: there is no result.

        Specification: server/tools#calling-tools
        """
        task = await self._begun(name, arguments, timeout_seconds, on_progress, meta)
        try:
            return await task.result()
        except asyncio.CancelledError:
            self._session.leave(task.leave())
            raise

    async def start_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        keep_seconds: float | None = None,
        timeout_seconds: float | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> ClientTask:
        """Call a tool without waiting for what it gives, where the server answers later.

        Args:
            name: the tool.
            arguments: its arguments, as JSON.
            keep_seconds: for how long the server is to keep the task, where the revision lets a client say so.
            timeout_seconds: see `call_tool`.
            on_progress: takes its progress.
            meta: `_meta` of the request.

        Returns:
            The task; where the server has answered at once, its result is there already.

        Raises:
            NotOffered, ClientError: see `call_tool`.

        Specification: basic/utilities/tasks#creating-tasks
        """
        return await self._begun(name, arguments, timeout_seconds, on_progress, meta, keep_seconds, as_task=True)

    def task(self, identifier: str) -> ClientTask:
        """A task that was begun before, here or in another process.

        Args:
            identifier: its id.

        Specification: basic/utilities/tasks#getting-tasks
        """
        return ClientTask(self._session, identifier)

    async def list_tasks(self) -> list[Task]:
        """The tasks that the server has of this client, where the revision has such a list.

        Raises:
            NotOffered: it has none.

        Specification: basic/utilities/tasks#listing-tasks
        """
        from mcp_revisions.canonical import Task

        adapter = (await self._session.open()).adapter
        method = adapter.task_methods.get("list")
        if method is None:
            raise NotOffered(f"{adapter.version} has no list of tasks")
        return readable(Task, await self._listed(method, "tasks"), method)

    # --- Resources ---

    async def list_resources(self) -> list[Resource]:
        """All resources that are listed one by one.

        Specification: server/resources#listing-resources
        """
        from mcp_revisions.canonical import Resource

        return readable(Resource, await self._listed("resources/list", "resources"), "resources/list")

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """All templates of resources.

        Specification: server/resources#resource-templates
        """
        from mcp_revisions.canonical import ResourceTemplate

        method = "resources/templates/list"
        return readable(ResourceTemplate, await self._listed(method, "resourceTemplates"), method)

    async def read_resource(self, uri: str, *, timeout_seconds: float | None = None) -> ReadResourceResult:
        """What a resource holds.

        Specification: server/resources#reading-resources
        """
        from mcp_revisions.canonical import ReadResourceResult

        given = await self._session.request(_READ, {"uri": uri}, timeout_seconds, keeps=True)
        return read(ReadResourceResult, given, f"the resource {uri}")

    async def subscribe(self, uri: str) -> None:
        """Have the session told when a resource changes, where the revision has sessions; `listen` works in every one.

        Specification: server/resources#subscriptions
        """
        await self._session.request(SUBSCRIBE, {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        """Have it told no longer."""
        await self._session.request(UNSUBSCRIBE, {"uri": uri})

    # --- Prompts, completion ---

    async def list_prompts(self) -> list[Prompt]:
        """All prompts.

        Specification: server/prompts#listing-prompts
        """
        from mcp_revisions.canonical import Prompt

        return readable(Prompt, await self._listed("prompts/list", "prompts"), "prompts/list")

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, *, timeout_seconds: float | None = None
    ) -> GetPromptResult:
        """A prompt, filled in.

        Specification: server/prompts#getting-a-prompt
        """
        from mcp_anyrev.client.results import GetPromptResult

        params = {"name": name, "arguments": dict(arguments or {})}
        given = await self._session.request("prompts/get", params, timeout_seconds)
        return read(GetPromptResult, given, f"the prompt {name!r}")

    async def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        template: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> CompleteResultCompletion:
        """What an argument of a prompt, or a variable of a template, may be completed to.

        Args:
            argument: its name.
            value: what has been typed.
            prompt: the prompt that it belongs to, or else
            template: the template.
            context: the arguments that are settled already, where the revision lets a client say so.

        Raises:
            ValueError: it belongs to neither, or both.

        Specification: server/utilities/completion#requesting-completions
        """
        from mcp_revisions.canonical import CompleteResult

        if (prompt is None) == (template is None):
            raise ValueError("an argument belongs to a prompt or to a template; give one of the two")
        by_prompt: JsonObject = {"type": "ref/prompt", "name": prompt}
        reference = by_prompt if template is None else {"type": "ref/resource", "uri": template}
        params: JsonObject = {"ref": reference, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": dict(context)}
        given = await self._session.request("completion/complete", params)
        return read(CompleteResult, given, "the completion").completion

    # --- The rest ---

    async def ping(self) -> None:
        """See that the server answers, where the revision has a way to ask.

        Specification: basic/utilities/ping
        """
        await self._session.request("ping", {})

    async def set_log_level(self, level: str) -> None:
        """From which level on log messages are wanted: for the session, or with each request from now on, as the revision has it.

        Specification: server/utilities/logging#setting-log-level
        """
        adapter = (await self._session.open()).adapter
        self._level = self._session.connection.log_level = level
        if SET_LEVEL in adapter.client_requests:
            await self._session.request(SET_LEVEL, {"level": level})

    async def roots_changed(self) -> None:
        """Tell the server that the roots are others now, where the revision has a way to.

        Specification: client/roots#root-list-changes
        """
        await self._session.open()
        self._session.connection.tell(_ROOTS_CHANGED, {})

    def listen(self, *lists: str, uris: Iterable[str] = (), wanted: Mapping[str, Any] | None = None) -> Listening:
        """Changes of the server, to be entered and iterated over: `async with client.listen("tools") as changes: …`

        Args:
            lists: which lists, of `tools`, `prompts` and `resources`.
            uris: the addresses of the resources whose contents are listened to.
            wanted: what extensions want asked for besides, by its members; it is told to `on_notification`.

        Raises:
            ValueError: there is nothing to listen to, or a list is none of these.

        Specification: basic/patterns/subscriptions
        """
        return Listening(self._session, lists, uris, wanted)

    def extension(self, name: str) -> ClientExtension:
        """An extension of the server, called the same way on every revision; declare it with `extensions=`.

        Args:
            name: its identifier.

        Specification: basic/versioning#extension-negotiation
        """
        from mcp_anyrev.client.extension import ClientExtension

        return ClientExtension(self._session, name)

    @property
    def skills(self) -> ClientSkills:
        """The skills of the server: listed, and read as they were listed.

        Raises:
            ImportError: PyYAML is not installed (extra `skills`), once one is read.
        """
        from mcp_anyrev.client.skills import ClientSkills

        if self._skills is None:
            self._skills = ClientSkills(self._session)
        return self._skills

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> JsonObject:
        """The result of any request of the revision, as it came.

        Args:
            method: its method.
            params: its params in canonical form.
        """
        return await self._session.request(method, dict(params or {}))

    async def _begun(
        self,
        name: str,
        arguments: Mapping[str, Any] | None,
        seconds: float | None,
        on_progress: OnProgress | None,
        meta: Mapping[str, Any] | None,
        keep_seconds: float | None = None,
        *,
        as_task: bool = False,
    ) -> ClientTask:
        """A call that has been sent, and has its result or has become a task."""
        adapter = (await self._session.open()).adapter
        tools = self._known_tools
        tools.check_callable(name)
        params: JsonObject = _with_meta({"name": name, "arguments": dict(arguments or {})}, meta)
        if as_task or tools.needs_task(name):
            params = adapter.task_params(params, None if keep_seconds is None else round(keep_seconds * 1000))
        try:
            done = await self._session.finish(CALL, params, seconds, on_progress)
        except ErrorAnswer as error:
            stale = error.kind == STALE and tools.mirrors
            asking = adapter.task_params(params, None)
            if not stale and (error.kind != MethodNotFound.kind or asking == params):
                raise
            await self.list_tools()  # it has changed since, or was never listed
            if not stale and not tools.needs_task(name):
                raise
            params = params if stale else asking
            done = await self._session.finish(CALL, params, seconds, on_progress)
        if done.task is None:
            return ClientTask(self._session, None, self._known_tools, name, done.result)
        return ClientTask(self._session, done.task.get("taskId"), self._known_tools, name)

    @property
    def _known_tools(self) -> KnownTools:
        if self._tools is None:
            raise NotOffered("nothing has been agreed on with the server yet")
        return self._tools

    def _connected(self, transport: Transport) -> Connection:
        """A connection of a transport."""
        if self._on_wire is not None:
            transport = Tapped(transport, self._on_wire)
        connection = self._new_connection(transport)
        tools = self._tools = KnownTools(beside=transport.has_headers)
        connection.beside = tools.beside
        connection.log_level = self._level
        return connection

    def _new_connection(self, transport: Transport) -> Connection:
        return Connection(transport, self._answering, self._notices, self._limits, self._information)

    async def _listed(self, method: str, list_member: str) -> list[Any]:
        adapter = (await self._session.open()).adapter
        if not self._session.offers(method):
            return []
        return await listed(partial(self._session.request, keeps=True), adapter, method, list_member)


def _own_information() -> JsonObject:
    import importlib.metadata

    return {"name": "mcp-anyrev", "version": importlib.metadata.version("mcp-anyrev")}


def _with_meta(params: JsonObject, meta: Mapping[str, Any] | None) -> JsonObject:
    return params if meta is None else {**params, "_meta": dict(meta)}
