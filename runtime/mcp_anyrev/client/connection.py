"""One server, in the revision that is spoken with it: what is sent to it, and what comes.

Rule: everything that comes is judged here before anybody hears of it. A response counts for the request whose id it has, and only on
that request's own stream where there is one. A request of the server is answered beside whatever else goes on.
Specification: basic/index#messages, basic/lifecycle#timeouts, basic/utilities/cancellation
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from mcp_contract import (
    Busy,
    Declaration,
    InternalError,
    InvalidParams,
    Json,
    JsonObject,
    MethodNotFound,
    ProtocolError,
    Unavailable,
    is_identifier,
    member,
)
from mcp_contract.wording import cut
from pydantic import ValidationError

from mcp_anyrev.client.conversation import ClientConversation
from mcp_anyrev.client.errors import (
    CannotConnect,
    ErrorAnswer,
    HttpRefused,
    NoAnswer,
    NotOffered,
    RequestRefused,
    ServerFailed,
    WrongAnswer,
)
from mcp_anyrev.client.notices import MESSAGE, PROGRESS
from mcp_anyrev.client.patience import Patience
from mcp_anyrev.conversation.conversation import CANCELLED, Undeliverable, Watch, messages_of
from mcp_anyrev.conversation.in_flight import InFlight
from mcp_anyrev.conversation.outcomes import Outcome, Result
from mcp_anyrev.messages import parse

if TYPE_CHECKING:
    from mcp_revisions.protocol import Adapter

    from mcp_anyrev.client.answering import Answering
    from mcp_anyrev.client.notices import Notices, OnProgress
    from mcp_anyrev.client.transport import Transport
    from mcp_anyrev.conversation.conversation import Conversation, Watch
    from mcp_anyrev.conversation.requests import Request
    from mcp_anyrev.settings import Limits

log = logging.getLogger("mcp_anyrev.client")

Heard = Callable[[str, JsonObject], None]
"""Is told of a notification as soon as it comes: its method and its whole message."""

Beside = Callable[["Adapter", JsonObject], Mapping[str, str]]
"""From a revision and a message to what is said beside that, by names of headers."""

_PING = "ping"
_TOKEN = "progressToken"
_SERVERS_FAULT = frozenset({InternalError.kind, Unavailable.kind})


class Connection:
    """A server, as far as it does not matter what is asked of it.

    Args:
        transport: carries the messages.
        answering: answers what the server asks.
        notices: is told what the server says of its own accord.
        limits: how much one message may hold, and how many requests of the server may wait.
        information: who the client is.
    """

    def __init__(
        self, transport: Transport, answering: Answering, notices: Notices, limits: Limits, information: JsonObject
    ) -> None:
        self.in_flight = InFlight(limits)
        self.watch: Watch | None = None
        self.transport = transport
        self.heard: list[Heard] = []
        """Those that are told of every notification at once."""
        self.log_level: str | None = None
        """From which level on log messages are wanted, where each request says so."""
        self.of_extensions: set[str] = set()
        """The methods of extensions that may be sent."""
        self.beside: Beside = _nothing
        """What is said beside a message."""
        self.answering = answering
        self._conversation: ClientConversation | None = None
        self._information = information
        self._limits = limits
        self._notices = notices
        self._patience = Patience()
        self._progress: dict[Json, OnProgress | None] = {}
        self._working: set[asyncio.Task[None]] = set()

    @property
    def adapter(self) -> Adapter:
        """The revision that is spoken."""
        return self._spoken().adapter

    @property
    def declaration(self) -> Declaration:
        """What the client says of itself, in canonical form: the request that it goes into words it, once."""
        return Declaration(self.answering.capabilities, self._information)

    async def open(self) -> None:
        """Have somebody at the other end.

        Raises:
            CannotConnect: there is nobody.
        """
        await self.transport.open(self)

    def speak(self, adapter: Adapter) -> None:
        """Speak this revision from now on."""
        self._conversation = ClientConversation(self, adapter, self.transport)
        self.transport.speak(adapter, self._beside)

    async def close(self) -> None:
        """End the connection in good order; whatever waits for an answer is told so."""
        await self.transport.close()
        for task in self._working:
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    def new_identifier(self) -> Json:
        """An id for a request."""
        return self.in_flight.new_identifier()

    async def request(
        self,
        method: str,
        params: JsonObject,
        seconds: float | None,
        on_progress: OnProgress | None = None,
        identifier: Json = None,
        *,
        encoded: bool = False,
    ) -> JsonObject:
        """Send a request, and wait for its result.

        Args:
            method: its method.
            params: its params in canonical form; what belongs to the revision is added.
            seconds: for how long nothing may come, not even progress, unless the server waits for this side; None for any time.
            on_progress: takes its progress.
            identifier: its id, from `new_identifier`; None for a new one.
            encoded: are the params in the words of the revision already?

        Returns:
            The result as it came: an object, of any content.

        Raises:
            ClientError: there is none; see `mcp_anyrev.client.errors`.
        """
        conversation = self._spoken()
        identifier = identifier or self.new_identifier()
        params = params if encoded else conversation.adapter.encode_params(method, params)
        reports = on_progress is not None or self._wants_reports(conversation.adapter, method)
        message = self._message(conversation.adapter, identifier, method, params, reports=reports)
        try:
            async with self._patience.lasting(identifier, seconds):
                await self.transport.room()
                if reports:
                    self._progress[identifier] = on_progress
                response = await conversation.request(message, self._longest(seconds), _as_it_is)
        except TimeoutError:
            raise NoAnswer(f"{method}: no answer within {seconds:g} seconds") from None
        except Undeliverable:
            raise conversation.lost() from None
        except HttpRefused as refused:
            raise self._answered_with(refused) from None
        finally:
            self._progress.pop(identifier, None)
        if "error" in response:
            raise self.error(response["error"])
        result = response.get("result")
        if not isinstance(result, dict):
            raise WrongAnswer(f"{method}: the result is no object")
        return result

    def tell(self, method: str, params: JsonObject) -> None:
        """Send a notification, where the revision has it."""
        self._spoken().tell(method, params)

    def error(self, said: Json, status: int | None = None) -> Exception:
        """What an error of the protocol comes to.

        Args:
            said: the member `error` of a response, of any shape.
            status: the HTTP status that it came with.
        """
        code, message = member(said, "code"), member(said, "message")
        if isinstance(code, bool) or not isinstance(code, int) or not isinstance(message, str):
            return WrongAnswer("the server answers with an error that is none: it lacks a code or a message")
        kind = self._kind(code, status)
        raised = ErrorAnswer if kind is None else ServerFailed if kind in _SERVERS_FAULT else RequestRefused
        return raised(code, message, member(said, "data"), kind, status)

    # --- What comes: see `Receiver` ---

    async def take_frame(self, frame: bytes, answering: Json = None) -> None:
        """See `Receiver.take_frame`."""
        conversation = self._spoken()
        try:
            payload = parse(frame, self._limits)
            messages, _ = messages_of(conversation.adapter, payload, self._limits.batch_messages)
        except ProtocolError as error:
            reason = WrongAnswer(f"the server sent what is no message: {error.message}")
            if answering is None:
                log.warning("%s", reason)
            else:
                self.fail(answering, reason)
            return
        wanted = [one for one in messages if "method" in one or self._counts(one, answering)]
        try:
            for message in await conversation.receive(wanted, in_batch=True):
                if self.transport.answers(conversation.adapter):
                    self._begin(self._answer(conversation, message))
                else:
                    log.warning("the server sent a request, which no server of this revision does; it is not answered")
        except ProtocolError as error:
            log.warning("the server sent what does not fit: %s", error.message)

    def waits(self, identifier: Json) -> bool:
        """See `Receiver.waits`."""
        return self.in_flight.expects(identifier)

    def fail(self, identifier: Json, error: Exception) -> None:
        """See `Receiver.fail`."""
        self.in_flight.fail(identifier, error)

    # --- What this end does with it: see `Handler` ---

    async def respond(self, request: Request) -> Outcome:
        """See `Handler.respond`."""
        adapter, method = request.conversation.adapter, request.method
        if method not in adapter.server_requests:
            raise MethodNotFound(f"{method!r} is no request of a server in this revision")
        adapter.check_question(request.message)
        if method == _PING:
            return Result({})
        if not self.answering.answers(method):
            raise MethodNotFound(f"this client does not answer {method!r}")
        try:
            with self._patience.owing():
                return Result(await self.answering.answer(method, request.params))
        except ValidationError:
            raise InvalidParams(f"{method}: this is no such question") from None
        except Exception as error:
            log.error("a question of the server has no answer: %s", error, exc_info=error)
            raise InternalError("the client has no answer") from error

    async def take_notification(self, conversation: Conversation, message: JsonObject) -> None:
        """See `Handler.take_notification`."""
        method, params = message["method"], message.get("params", {})
        if method == CANCELLED:
            await conversation.cancel(params.get("requestId"))
        for heard in list(self.heard):
            heard(method, message)
        on_progress = None
        if method == PROGRESS:
            token = params.get(_TOKEN)
            if not is_identifier(token) or token not in self._progress:
                return  # of nothing that goes on
            on_progress = self._progress[token]
            self._patience.renew(token)
        elif method != MESSAGE and method not in conversation.adapter.server_notifications:
            log.debug("the server sent a notification that the revision does not have: %s", cut(method))
        self._notices.tell(method, params, on_progress)

    async def _answer(self, conversation: ClientConversation, message: JsonObject) -> None:
        response = await conversation.answer(message)
        if response is not None:
            self.transport.send(response.message)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Answer a request of the server beside whatever else goes on."""
        if len(self._working) >= self._limits.calls_of_connection:
            work.close()
            log.error("the server asks more at once than is answered: %s", Busy.__name__)
            return
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    def _counts(self, response: JsonObject, answering: Json) -> bool:
        """May a response count that came on the stream of a request? An error without an id is about that request."""
        identifier = response.get("id")
        if answering is None or (identifier == answering and type(identifier) is type(answering)):
            return True
        if identifier is None and "error" in response:
            self.fail(answering, self.error(response["error"]))
        else:
            log.warning("the server answered a request on the stream of another one; that does not count")
        return False

    def _message(
        self, adapter: Adapter, identifier: Json, method: str, params: JsonObject, *, reports: bool
    ) -> JsonObject:
        known = method in adapter.client_requests or method in adapter.task_methods.values()
        if not known and method not in self.of_extensions:
            raise NotOffered(f"{adapter.version} has no request {method!r}")
        if reports:
            params = {**params, "_meta": {**params.get("_meta", {}), _TOKEN: identifier}}
        if self.log_level is not None:
            params = adapter.log_level_params(params, self.log_level)
        params = adapter.declared_params(params, self.declaration)
        message: JsonObject = {"jsonrpc": "2.0", "id": identifier, "method": method}
        return {**message, "params": params} if params else message

    def _wants_reports(self, adapter: Adapter, method: str) -> bool:
        """Is progress wanted of a request that has no callback of its own? What opens the connection has none."""
        return self._notices.wants_progress and method != adapter.description_method

    def _beside(self, message: JsonObject) -> Mapping[str, str]:
        return self.beside(self.adapter, message)

    def _spoken(self) -> ClientConversation:
        if self._conversation is None:
            raise CannotConnect("nothing has been agreed on with the server yet")
        return self._conversation

    def _longest(self, seconds: float | None) -> float | None:
        """Till when a request may go on, whatever progress there is."""
        return None if seconds is None else asyncio.get_running_loop().time() + max(seconds, self._limits.call_seconds)

    def _answered_with(self, refused: HttpRefused) -> Exception:
        """An HTTP status, or the error of the protocol that came with it."""
        said = member(refused.body, "error")
        if not isinstance(said, dict):
            return refused
        error = self.error(said, refused.status)
        return error if isinstance(error, ErrorAnswer) else refused

    def _kind(self, code: int, status: int | None) -> str | None:
        adapter = self.adapter
        kinds = [kind for kind, own in adapter.error_codes.items() if own == code]
        foreign = adapter.foreign_codes.get(str(code))
        if not kinds:
            return foreign
        fitting = (kind for kind in kinds if adapter.error_statuses[kind] == status)
        return next(fitting, kinds[0])


def _as_it_is(response: JsonObject) -> JsonObject:
    return response


def _nothing(adapter: Adapter, message: JsonObject) -> Mapping[str, str]:
    return {}
