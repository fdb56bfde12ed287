"""Where what a server sends is not what its revision has.

Rule: everything that comes is looked at as it comes, by the generated adapter of the revision; nothing is asked for here. What the
revision demands is a deviation, what it only recommends is a remark.
Specification: basic/index#messages
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mcp_contract import InvalidAnnotation, Json, JsonObject, ProtocolError, header_parameters, member
from mcp_contract.wording import cut
from pydantic_core import from_json, to_json

from mcp_anyrev.client.wire import WireHead, WireMessage
from mcp_anyrev.schemas import SchemaFault, validator_for_text

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

_MOST_FINDINGS = 100


class Finding(NamedTuple):
    """Something that was found.

    Attributes:
        deviates: does the revision forbid it, or only recommend something else?
        words: what it is.
    """

    deviates: bool
    words: str


class Judge:
    """Looks at what passes, as `on_wire` of a client.

    Args:
        adapter: the revision that is spoken.

    Attributes:
        findings: what was found, each once.
        session: the session that the server has named; None while it has not.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.findings: list[Finding] = []
        self.session: str | None = None
        self._adapter = adapter
        self._methods: dict[Json, str] = {}
        self._statuses: set[str] = set()
        self._notified = False

    def __call__(self, passed: WireMessage | WireHead) -> None:
        if isinstance(passed, WireHead):
            if not passed.sent:
                self._judge_head(passed)
            return
        try:
            message = from_json(passed.content)
        except ValueError:
            self.deviates("it sends what is no JSON")
            return
        if passed.sent:
            self._note_sent(message)
            return
        if isinstance(message, list) and not message:
            self.deviates("it sends an empty batch")
        for one in message if isinstance(message, list) else [message]:
            self._judge(one)

    def deviates(self, words: str) -> None:
        """Note a deviation."""
        self._note(Finding(True, cut(words)))

    def remarks(self, words: str) -> None:
        """Note a remark."""
        self._note(Finding(False, cut(words)))

    def finish(self, *, over_http: bool) -> None:
        """Nothing more passes."""
        accepted = str(self._adapter.accepted_status)
        if over_http and self._notified and accepted not in self._statuses:
            self.deviates(f"a notification is not answered by the status {accepted}")

    def _note(self, finding: Finding) -> None:
        if finding not in self.findings and len(self.findings) < _MOST_FINDINGS:
            self.findings.append(finding)

    def _note_sent(self, message: Json) -> None:
        if not isinstance(message, dict) or "method" not in message:
            return
        if "id" in message:
            self._methods[message["id"]] = message["method"]
        else:
            self._notified = True

    def _judge_head(self, head: WireHead) -> None:
        self._statuses.add(head.line.partition(" ")[0])
        session = self._adapter.session_header
        if session is not None:
            named = (value for name, value in head.headers.items() if name.lower() == session.lower())
            self.session = next(named, self.session)
            return
        for name in head.headers:
            if name.lower().endswith("session-id"):
                self.remarks(f"it sends the header {name}, and the revision has no sessions")

    def _judge(self, message: Json) -> None:
        if not isinstance(message, dict):
            self.deviates("it sends what is no message: no object")
        elif message.get("jsonrpc") != "2.0":
            self.deviates("it sends a message whose member jsonrpc is not 2.0")
        elif "method" in message:
            self._judge_method(message)
        elif "error" in message:
            self._judge_error(message)
        else:
            self._judge_result(message)

    def _judge_method(self, message: JsonObject) -> None:
        adapter, method = self._adapter, message["method"]
        known = adapter.server_requests if "id" in message else adapter.server_notifications
        if not isinstance(method, str) or method not in known:
            kind = "request" if "id" in message else "notification"
            self.deviates(f"it sends the {kind} {method!r}, which the revision does not have")
            return
        try:
            (adapter.check_question if "id" in message else adapter.check_server_notification)(message)
        except ProtocolError as fault:
            self.deviates(f"what it sends does not fit: {fault.message}")

    def _judge_error(self, message: JsonObject) -> None:
        code, words = member(message, "error", "code"), member(message, "error", "message")
        if isinstance(code, bool) or not isinstance(code, int) or not isinstance(words, str):
            self.deviates("it sends an error without an integer for a code, or without a message")
        if message.get("id") not in self._methods and message.get("id") is not None:
            self.deviates("it answers a request that was not sent")

    def _judge_result(self, message: JsonObject) -> None:
        identifier, result = message.get("id"), message.get("result")
        method = self._methods.get(identifier) if isinstance(identifier, str | int) else None
        if method is None:
            self.deviates("it answers a request that was not sent")
        elif not isinstance(result, dict):
            self.deviates(f"{method}: the result is no object")
        elif method in self._adapter.client_requests:
            try:
                self._adapter.check_result(method, result)
            except ProtocolError as fault:
                self.deviates(f"the result of {fault.message}")


def checked_tools(adapter: Adapter, tools: list[Any], judge: Judge) -> None:
    """See that tools can be called as they are declared.

    Args:
        adapter: the revision.
        tools: the tools as they came.
        judge: notes what is found.
    """
    seen: set[Any] = set()
    for tool in tools:
        name = member(tool, "name")
        if not isinstance(name, str):
            continue  # the result as a whole says so
        if name in seen:
            judge.deviates(f"there are two tools of the name {name!r}")
        seen.add(name)
        for which in ("inputSchema", "outputSchema"):
            schema = member(tool, which)
            if not isinstance(schema, dict):
                continue
            try:
                validator_for_text(to_json(schema))
            except SchemaFault as fault:
                judge.deviates(f"the {which} of the tool {name!r} cannot be used: {fault}")
        if adapter.parameter_header is not None and isinstance(member(tool, "inputSchema"), dict):
            try:
                header_parameters(tool["inputSchema"])
            except InvalidAnnotation as fault:
                judge.deviates(f"the tool {name!r} is annotated in a way that no client can follow: {fault}")
