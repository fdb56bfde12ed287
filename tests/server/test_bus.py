"""What every worker of a server hears: nothing is missed, nobody looks in vain, and one bad message harms nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from mcp_anyrev.server.audience import Audience, SessionStream
from mcp_anyrev.server.bus import Bus
from mcp_anyrev.storage.memory import MemoryHub
from mcp_anyrev.transports.departures import Departures


class Transport(asyncio.Transport):
    """A connection that can be lost."""

    lost = False

    def is_closing(self) -> bool:
        return self.lost


def bus(hub: Any) -> tuple[Bus, list[Any]]:
    heard: list[Any] = []

    async def hear(message: Any) -> None:
        if "bad" in message:
            raise KeyError("bad")
        heard.append(message)

    return Bus(hub, "server/test", hear), heard


async def until(condition: Any) -> None:
    while not condition():  # noqa: ASYNC110  # what is waited for says nothing
        await asyncio.sleep(0.005)


async def test_everybody_hears_what_anybody_says_once_they_are_ready() -> None:
    hub = MemoryHub()
    (one, heard_by_one), (two, heard_by_two) = bus(hub), bus(hub)
    await one.ready()
    await two.ready()
    await one.say({"n": 1})
    await until(lambda: heard_by_one == heard_by_two == [{"n": 1}])
    await one.stop()
    await two.stop()


async def test_a_message_that_is_not_understood_harms_nothing() -> None:
    one, heard = bus(MemoryHub())
    await one.ready()
    await one.say({"bad": True})
    await one._hub.publish("server/test", "no object")
    await one.say({"n": 2})
    await until(lambda: heard == [{"n": 2}])
    await one.stop()


async def test_what_threads_say_arrives_once_and_before_a_start_nobody_is_told() -> None:
    one, heard = bus(MemoryHub())
    one.say_soon({"n": 0})
    await one.ready()
    threads = [threading.Thread(target=one.say_soon, args=[{"n": 1}]) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    await until(lambda: bool(heard))
    assert heard == [{"n": 1}]
    await one.stop()


async def test_a_hub_that_fails_is_listened_to_again() -> None:
    class Failing(MemoryHub):
        failures = 2

        def listen(self, topic: str) -> Any:
            if self.failures:
                self.failures -= 1
                raise OSError("out of reach")
            return super().listen(topic)

    one, heard = bus(Failing())
    await one.ready()
    await one.say({"n": 1})
    await until(lambda: heard == [{"n": 1}])
    await one.stop()


async def test_departures_are_noticed_by_one_look_at_all() -> None:
    loop, looks = asyncio.get_running_loop(), 0
    departures, transports = Departures(), [Transport() for _ in range(500)]
    look = departures._look

    def counted(loop: asyncio.AbstractEventLoop) -> None:
        nonlocal looks
        looks += 1
        look(loop)

    departures._look = counted  # type: ignore[method-assign]
    waiting = [loop.create_task(departures.of(transport)) for transport in transports]  # type: ignore[arg-type]
    await asyncio.sleep(0.7)
    assert looks <= 3 and not any(task.done() for task in waiting)
    for transport in transports:
        transport.lost = True
    await asyncio.wait_for(asyncio.gather(*waiting), 1)


def test_the_newest_stream_of_a_session_that_is_read_is_told() -> None:
    class Silent:
        waits_for_ready = False
        server_notifications = ("notifications/tools/list_changed",)

        def encode_notification(self, method: str, params: Any) -> Any:
            return {"method": method}

    class Session:
        name, ready, subscriptions = "s", True, ()

    connected = {"old": True, "new": True}
    told: list[str] = []
    audience = Audience()
    for name in connected:
        audience.join(
            SessionStream(
                Session(),  # type: ignore[arg-type]
                Silent(),  # type: ignore[arg-type]
                lambda message, name=name: told.append(name),  # type: ignore[misc]
                lambda: None,
                lambda name=name: connected[name],  # type: ignore[misc]
            )
        )
    change = {"changed": "tools"}
    audience.tell(change)
    connected["new"] = False
    audience.tell(change)
    connected["old"] = False
    audience.tell(change)  # kept for whoever comes back
    audience.streams_of("s")[1].newer.add("elsewhere")
    audience.streams_of("s")[0].newer.add("elsewhere")
    audience.tell(change)
    assert told == ["new", "old", "new"]
