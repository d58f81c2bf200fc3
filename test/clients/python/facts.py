"""What every script here starts with: its arguments, its output of one JSON line per fact, and bounded waiting."""

import asyncio
import json
import os
import sys

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def stay_on_loopback(event, parts):
    """An address that was left out of a client's settings would lead to the real exchange."""
    if event == "socket.connect" and isinstance(parts[1], tuple) and parts[1][0] not in LOOPBACK:
        raise SystemExit(f"a test may not connect to {parts[1][0]}")


sys.addaudithook(stay_on_loopback)

TYPE, HTTP, KEY, SECRET = sys.argv[1:5]
WS = HTTP.replace("http", "ws", 1)
IS_SPOT = TYPE == "spot"
# Whether to place orders that are filled in part, instead of living a bot's life.
IS_STRICT = os.environ.get("LIFE") == "strict"

# How long anything may take, seconds.
BOUND = 45
# The size of an order, in BTC.
SIZE = "0.001" if IS_SPOT else "0.004"


def fact(name, **values):
    """Prints what the client has seen; the test compares it with REST."""
    print(json.dumps({"fact": name, **values}, default=str), flush=True)


def far_below(price):
    """A price at which a limit order rests, within the exchange's filters."""
    return str(round(float(price) * 0.9))


async def bounded(awaitable):
    return await asyncio.wait_for(awaitable, BOUND)


class Feed:
    """The messages of one subscription, in order."""

    def __init__(self, name):
        self.name = name
        self.messages = []
        self.changed = asyncio.Event()

    def add(self, message):
        self.messages.append(message)
        self.changed.set()

    def follow(self, call):
        """Calls for the next messages again and again; returns the task."""

        async def read():
            while True:
                got = await call()
                for message in got if isinstance(got, list) else [got]:
                    self.add(message)

        return asyncio.create_task(read())

    async def first(self, holds=lambda message: True):
        """The first message that satisfies this, of those that came and those that come."""

        async def look():
            index = 0
            while True:
                self.changed.clear()
                for message in self.messages[index:]:
                    if holds(message):
                        return message
                index = len(self.messages)
                await self.changed.wait()

        try:
            return await bounded(look())
        except asyncio.TimeoutError:
            raise SystemExit(f"{self.name}: not among {json.dumps(self.messages, default=str)}") from None

    async def take(self, count):
        """The first so many messages."""
        await self.first(lambda message: len(self.messages) >= count)
        return self.messages[:count]


def run(life):
    """Runs a life with a bound for all of it."""
    asyncio.run(asyncio.wait_for(life, 3 * BOUND))
