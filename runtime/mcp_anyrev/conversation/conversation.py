"""One peer in one revision: messages in, messages out, and what is in flight between the two.

Rule: every transport runs this, for a request, a stream or a connection, and nothing else answers a message. What lasts longer is in
the session, which any worker can read. What a method means is not known here. Work that never waits costs nothing but its own time;
only what does wait is registered; why it is given up says whether an answer is owed.
Specification: basic/index#messages, basic/utilities/cancellation#behavior-requirements
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from mcp_contract import Busy, InternalError, InvalidRequest, Json, JsonObject, ProtocolError, TooLarge, is_identifier
from mcp_revisions.protocol import Adapter
from pydantic_core import to_json

from mcp_anyrev.conversation.at_once import Resumed
from mcp_anyrev.conversation.outcomes import Failure, Later, Outcome, Prepared, Response, Result
from mcp_anyrev.conversation.requests import GivenUp, Request
from mcp_anyrev.messages import error_message, result_message
from mcp_anyrev.principal import Principal, name_of, owner_of
from mcp_anyrev.user_code import contained

if TYPE_CHECKING:
    from mcp_anyrev.conversation.in_flight import InFlight, Peer
    from mcp_anyrev.conversation.outbox import Outbox
    from mcp_anyrev.conversation.sessions import Session

log = logging.getLogger("mcp_anyrev.server")

CANCELLED = "notifications/cancelled"


Given = TypeVar("Given")

Watch = Callable[[Request], Callable[[Response | None], None]]
"""Is told of a request when it comes, in the context in which it is then answered; and, by what it returns, when it has been, with the
response; None where nobody wants one any longer."""


class Undeliverable(Exception):
    """A request of our own does not reach the peer."""


class Handler(Protocol):
    """What is at this end of a conversation.

    Attributes:
        watch: what is told of every request; None for nothing, which costs nothing.
    """

    watch: Watch | None

    @property
    def in_flight(self) -> InFlight:
        """The requests that wait at this end."""
        ...

    def respond(self, request: Request) -> Coroutine[Any, Any, Outcome]:
        """Answer a request.

        Raises:
            ProtocolError: it is answered with an error.
        """
        ...

    async def take_notification(self, conversation: Conversation, message: JsonObject) -> None:
        """Take a notification.

        Raises:
            InvalidRequest: it is of a known kind and does not fit it.
        """
        ...


class Conversation:
    """One peer in one revision.

    Args:
        handler: what answers requests and takes notifications.
        adapter: the revision.
        outbox: where messages go that are no responses.
        session: what lasts longer, where anything does.
        principal: who the peer is; None for nobody in particular.
        headers: what the transport said beside the messages, by names in lower case; None where it says nothing.
        address: the network address that the peer comes from, where there is one.
        size: how many bytes one of its requests has, roughly.
        cancels: is a request given up by a notification, on this transport?
        cancels_listening: is the end of a stream of changes told by a cancellation, on this transport?
        scope: within what the ids of its requests are its own, where that is not the session: the name of a connection.
    """

    __slots__ = (
        "_address",
        "_handler",
        "_requests",
        "adapter",
        "cancels",
        "cancels_listening",
        "headers",
        "outbox",
        "principal",
        "scope",
        "session",
        "size",
    )

    def __init__(
        self,
        handler: Handler,
        adapter: Adapter,
        outbox: Outbox,
        session: Session | None,
        principal: Principal | None,
        headers: Mapping[str, str] | None = None,
        address: str | None = None,
        size: int = 0,
        *,
        cancels: bool,
        cancels_listening: bool = False,
        scope: str | None = None,
    ) -> None:
        self.adapter = adapter
        self.outbox = outbox
        self.session = session
        self.principal = principal
        self.headers = headers
        self.cancels = cancels
        self.cancels_listening = cancels_listening
        self.size = size
        self.scope = session.name if session is not None else scope
        self._address = address
        self._handler = handler
        self._requests: list[Request] = []

    @property
    def peer(self) -> Peer:
        """By what an answer is held against whom was asked."""
        return self.scope, name_of(self.principal)

    @property
    def owner(self) -> str:
        """Whose budget counts what is kept for the peer."""
        return self.session.owner if self.session is not None else owner_of(name_of(self.principal), self._address)

    async def receive(self, messages: Sequence[JsonObject], *, in_batch: bool) -> list[JsonObject]:
        """Take what has come in one frame.

        Args:
            messages: what has come, as the adapter has read it.
            in_batch: have they come as a batch? In one, what wants no answer does not spoil the rest.

        Returns:
            The requests among them, for `answer`. Everything else has been taken.

        Raises:
            InvalidRequest: a single message does not fit what it says it is.
        """
        requests = []
        for message in messages:
            if "method" in message and "id" in message:
                requests.append(message)
                continue
            try:
                await self._take(message)
            except InvalidRequest:
                if not in_batch:
                    raise
        return requests

    async def answer_all(self, messages: Sequence[JsonObject], refusals: Sequence[Response] = ()) -> Response | None:
        """Answer the requests of a batch, at the same time, beside what of it was refused; see `answer`."""
        responses = await asyncio.gather(*map(self.answer, messages))
        wanted = [response.message for response in (*responses, *refusals) if response is not None]
        return Response(b"[%b]" % b",".join(wanted)) if wanted else None

    def refusal(self, identifier: JsonObject, error: ProtocolError) -> Response:
        """An error, as the revision words it; see `refusal`."""
        return refusal(self.adapter, identifier, error)

    async def cancel(self, identifier: Json) -> None:
        """The peer gives up a request of its own."""
        if self.cancels and self.scope is not None and is_identifier(identifier):
            await self._handler.in_flight.cancel(self.scope, identifier)

    def departed(self) -> None:
        """The peer is there no longer, and what is in flight here is given up if that is what the revision says."""
        if self.adapter.disconnect_cancels:
            for request in list(self._requests):
                request.give_up(GivenUp.DEPARTED)

    @property
    def sends(self) -> Collection[str]:
        """The notifications that the revision lets this end send."""
        return self.adapter.server_notifications

    def tell(self, method: str, params: JsonObject) -> None:
        """Send a notification, where the revision has it."""
        if method in self.sends:
            self.outbox.send(to_json(self.adapter.encode_notification(method, params)))

    def new_identifier(self) -> Json:
        """An id for `request`."""
        return self._handler.in_flight.new_identifier()

    async def ready(self) -> None:
        """Wait until the peer has said that it is ready for requests, where it has to."""
        if self.session is not None and self.adapter.waits_for_ready and not self.session.ready:
            await self._handler.in_flight.until_ready(self.session)

    async def request(self, message: JsonObject, until: float | None, judge: Callable[[JsonObject], Given]) -> Given:
        """Send a request and wait for its response. Where that does not come, or is not waited for, the peer is told so.

        Args:
            message: the request, with an id from `new_identifier`.
            until: till when, by the clock of the event loop; None for as long as it takes.
            judge: what a response comes to, which may be an error. It raises `InvalidRequest` for one that does not fit, which is then
                refused, and another one is waited for.

        Returns:
            What the first response that fits comes to.

        Raises:
            TimeoutError: none came in time.
            Undeliverable: the request does not reach the peer.
        """
        identifier = message["id"]
        in_flight, outbox = self._handler.in_flight, self.outbox
        answer = in_flight.expect(identifier, self.peer, judge)

        def lost() -> None:
            if not answer.done():
                answer.set_exception(Undeliverable())

        try:
            outbox.send(to_json(message))
            outbox.watch(lost)
            async with asyncio.timeout_at(until):
                return await answer
        except TimeoutError:
            self._give_up(message, "no answer came in time")
            raise
        except asyncio.CancelledError:
            self._give_up(message, "the answer is not needed any longer")
            raise
        finally:
            outbox.unwatch(lost)
            in_flight.expect_no_longer(identifier)

    @property
    def takes_responses(self) -> bool:
        """Are there requests of this end that a message can answer?"""
        return self.adapter.takes_responses

    def _give_up(self, message: JsonObject, reason: str) -> None:
        """Say that the response to a request of our own is not needed any longer."""
        self.tell(CANCELLED, {"requestId": message["id"], "reason": reason})

    async def _take(self, message: JsonObject) -> None:
        if "method" in message:
            await self._handler.take_notification(self, message)
        elif self.takes_responses:
            await self._handler.in_flight.take_response(self.peer, message)
        else:
            raise InvalidRequest("a client posts requests and notifications; responses are not taken in this revision")

    async def answer(self, message: JsonObject) -> Response | None:
        """Answer a request.

        Args:
            message: the request.

        Returns:
            The response; None where nobody wants one any longer.
        """
        request = Request(self, message)
        watch = self._handler.watch
        ended, response = None if watch is None else watch(request), None
        try:
            outcome: Outcome | None
            try:
                work = self._handler.respond(request)
                waited_for = work.send(None)
            except StopIteration as finished:
                outcome = finished.value
            except BaseException as error:  # kinds of things, and what stands around them, may be the application's
                outcome = _failure(request, contained(error))
            else:
                outcome = await self._attend(request, work, waited_for)
            request.open = False
            request.outcome = outcome
            if outcome is not None:
                try:
                    response = self._worded(request, outcome)
                except Exception as error:
                    response = self._worded(request, _instead(request, outcome, error))
            return response
        finally:
            if ended is not None:
                ended(response)

    async def _attend(self, request: Request, work: Coroutine[Any, Any, Outcome], waited_for: Any) -> Outcome | None:
        """Wait for the outcome of work that has begun to wait; None where nobody wants it any longer."""
        in_flight, outcome = self._handler.in_flight, None
        in_flight.add(request)
        self._requests.append(request)
        try:
            outcome = await Resumed(work, waited_for)
        except asyncio.CancelledError:
            if not request.was_cancelled():
                raise
        except GeneratorExit:
            raise  # nobody waits any longer, and this is only put away
        except BaseException as error:
            outcome = _failure(request, contained(error))
        finally:
            in_flight.remove(request)
            self._requests.remove(request)
        given_up = request.given_up
        if given_up is not None and request.was_cancelled() and not given_up.owes_answer:
            return None
        if outcome is None and given_up is GivenUp.CROWDED:
            return Failure(Busy("too many calls of this client wait already; wait for an answer"))
        return outcome or Failure(InternalError("the server ended the call"))

    def _worded(self, request: Request, outcome: Outcome) -> Response:
        """An outcome, as the revision words it for this end."""
        if isinstance(outcome, Result):
            result = self.adapter.encode_result(request.method, outcome.value, request.signature)
        elif isinstance(outcome, Prepared):
            return Response(result_message(request.identifier, outcome.json))
        elif isinstance(outcome, Failure):
            return refusal(self.adapter, {"id": request.identifier}, outcome.error)
        elif isinstance(outcome, Later):
            result = self.adapter.signed_result(self.adapter.task_created(outcome.task), request.signature)
        else:
            asking = self.adapter.questions_result(outcome.questions, outcome.state, outcome.params)
            result = self.adapter.signed_result(asking, request.signature)
        return Response(result_message(request.identifier, to_json(result)))


def messages_of(adapter: Adapter, payload: Json, most: int) -> tuple[list[JsonObject], list[Response]]:
    """The messages in a frame, and the refusals of what is none in a batch of several.

    Args:
        adapter: the revision.
        payload: what has come.
        most: how many messages a batch has at most.

    Returns:
        At least one message.

    Raises:
        InvalidRequest: there is no message in it.
        TooLarge: there are too many.
    """
    if isinstance(payload, list) and len(payload) > most:
        raise TooLarge(f"a batch has at most {most} messages")
    try:
        return adapter.batching(payload), []
    except InvalidRequest:
        if not isinstance(payload, list):
            return adapter.batching(_readable(payload)), []
        messages: list[JsonObject] = []
        refusals: list[Response] = []
        for part in payload:
            try:
                messages += adapter.batching([_readable(part)])
            except InvalidRequest as fault:
                refusals.append(refusal(adapter, readable_id(part), fault))
        if not messages:
            raise
        return messages, refusals


def _readable(part: Json) -> Json:
    """A message, with nothing in place of the params of a cancellation that has none: so it cancels nothing, and is ignored as such."""
    if isinstance(part, dict) and part.get("method") == CANCELLED and not isinstance(part.get("params"), dict):
        return {**part, "params": {}}
    return part


def readable_id(payload: Json) -> JsonObject:
    """The id that an error repeats, as a member; nothing where there is none to be read.

    That of a response names a request of our own, which its sender would take to be one of theirs.
    """
    if (
        isinstance(payload, dict)
        and is_identifier(payload.get("id"))
        and not ("result" in payload or "error" in payload)
    ):
        return {"id": payload["id"]}
    return {}


def refusal(adapter: Adapter, identifier: JsonObject, error: ProtocolError) -> Response:
    """An error, as an adapter words it.

    Args:
        adapter: the revision.
        identifier: `{"id": …}` of the message that caused it, or nothing where there is none to be read.
        error: what happened.
    """
    if not identifier and adapter.unreadable_id_is_null:
        identifier = {"id": None}
    return Response(error_message(identifier, error, adapter.error_codes[error.kind]), error)


def _instead(request: Request, outcome: Outcome, error: Exception) -> Outcome:
    """What answers a request whose outcome cannot be written."""
    if isinstance(outcome, Result):
        try:
            return Result(outcome.otherwise(error))
        except Exception as worse:
            error = worse
    return _failure(request, error)


def _failure(request: Request, error: Exception) -> Failure:
    if isinstance(error, ProtocolError):
        return Failure(error)
    log.error("answering %r failed", request.method, exc_info=error)
    return Failure(InternalError("the server failed"))
