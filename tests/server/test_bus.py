"""What every worker of a server hears: nothing is missed, nobody looks in vain, and one bad message harms nothing."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from mcp_anyrev import Registry
from mcp_anyrev.conversation.bus import Bus
from mcp_anyrev.server.audience import Audience, SessionStream
from mcp_anyrev.storage.memory import MemoryHub
from mcp_anyrev.transports.departures import Departures


class Transport(asyncio.Transport):
    """A connection that can be lost."""

    lost = False

    def is_closing(self) -> bool:
        return self.lost


def bus(hub: Any) -> tuple[Bus, list[Any]]:
    heard: list[Any] = []

    async def hear(said: Any) -> None:
        heard.append(said)

    async def fail(said: Any) -> None:
        raise KeyError("bad")

    made = Bus(hub, "test")
    made.hear("n", hear)
    made.hear("bad", fail)
    return made, heard


async def until(condition: Any) -> None:
    while not condition():  # noqa: ASYNC110  # what is waited for says nothing
        await asyncio.sleep(0.005)


async def test_everybody_hears_what_anybody_says_once_they_are_ready() -> None:
    hub = MemoryHub()
    (one, heard_by_one), (two, heard_by_two) = bus(hub), bus(hub)
    await one.ready()
    await two.ready()
    await one.say({"n": 1})
    await until(lambda: heard_by_one == heard_by_two == [1])
    await one.stop()
    await two.stop()


async def test_a_message_that_is_not_understood_harms_nothing() -> None:
    one, heard = bus(MemoryHub())
    await one.ready()
    await one.say({"bad": True})
    await one._hub.publish(one._topics[0], b"no object")
    await one.say({"n": 2})
    await until(lambda: heard == [2])
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
    assert heard == [1]
    await one.stop()


async def test_what_is_said_to_one_worker_only_that_one_hears() -> None:
    hub = MemoryHub()
    (one, heard_by_one), (two, heard_by_two) = bus(hub), bus(hub)
    await one.ready()
    await two.ready()
    await one.say_to(two.worker, {"n": 1})
    await one.say_to("nobody", {"n": 2})
    await one.say({"n": 3})
    await until(lambda: 3 in heard_by_one and 3 in heard_by_two)
    assert heard_by_one == [3] and sorted(heard_by_two) == [1, 3]
    await one.stop()
    await two.stop()


async def test_who_could_not_keep_up_is_told_so() -> None:
    one, heard = bus(MemoryHub(topic_messages=3))
    one.hear("missed", lambda said: one.say({"n": "missed"}))
    await one.ready()
    for each in range(10):
        await one.say({"n": each})
    await until(lambda: "missed" in heard)
    assert [each for each in heard if each != "missed"] == [7, 8, 9]
    await one.stop()


async def test_a_hub_that_fails_is_listened_to_again() -> None:
    class Failing(MemoryHub):
        failures = 2

        async def open(self, topic: Any, *, owner: str) -> str:
            if self.failures:
                self.failures -= 1
                raise OSError("out of reach")
            return await super().open(topic, owner=owner)

    one, heard = bus(Failing())
    await one.ready()
    await one.say({"n": 1})
    await until(lambda: heard == [1])
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


async def test_the_newest_stream_of_a_session_that_is_read_is_told() -> None:
    class Silent:
        waits_for_ready = False
        server_notifications = ("notifications/tools/list_changed",)

        def encode_notification(self, method: str, params: Any) -> Any:
            return {"method": method}

    class Session:
        name, version, ready, subscriptions, scopes = "s", "any", True, (), None

    connected = {"old": True, "new": True}
    told: list[str] = []

    def stream(name: str) -> SessionStream:
        return SessionStream(
            Session(),  # type: ignore[arg-type]
            Silent(),  # type: ignore[arg-type]
            None,
            lambda message, same: told.append(name),
            lambda: None,
            lambda: connected[name],
            name,
        )

    hub = MemoryHub()
    here, elsewhere = Bus(hub, "test"), Bus(hub, "test")
    audience, other = (Audience(each, None, {}, Registry("s", "1.0"), None, 60) for each in (here, elsewhere))  # type: ignore[arg-type]
    old, new = stream("old"), stream("new")
    await audience.join(old)
    await audience.join(new)
    await here.say({"changed": "tools"})
    await until(lambda: told == ["new"])
    connected["new"] = False
    await here.say({"changed": "tools"})
    await until(lambda: told == ["new", "old"])
    connected["old"] = False
    await here.say({"changed": "tools"})  # kept for whoever comes back
    await until(lambda: told == ["new", "old", "new"])
    newer = stream("newer")
    connected["newer"] = True
    await other.join(newer)
    await here.say({"changed": "tools"})
    await until(lambda: told == ["new", "old", "new", "newer"])
    await other.lost_reader(newer)
    other.leave(newer)
    connected["new"] = True
    await here.say({"changed": "tools"})
    await until(lambda: told == ["new", "old", "new", "newer", "new"])
    await other.join(stream("new"))  # the same stream, taken up again there, is told there
    await here.say({"changed": "tools"})
    await until(lambda: len(told) == 6)
    assert [each.name for each in audience.streams_of("s")] == ["old"]
    await audience.close()
    await other.close()
    await here.stop()
    await elsewhere.stop()
