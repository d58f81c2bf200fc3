"""unicorn-binance-websocket-api: its streams, user data and orders over the WebSocket API."""

import asyncio

import raw
from facts import HTTP, IS_SPOT, KEY, SECRET, WS, Feed, bounded, fact, run

from unicorn_binance_websocket_api import BinanceWebSocketApiManager

manager = BinanceWebSocketApiManager(
    exchange="binance.com" if IS_SPOT else "binance.com-futures",
    websocket_base_uri=WS + "/",
    websocket_api_base_uri=WS + ("/ws-api/v3" if IS_SPOT else "/ws-fapi/v1"),
    restful_base_uri=HTTP,
    warn_on_update=False,
    output_default="dict",
)


def stream(name, *parts, **options):
    """A stream of its own, whose messages come from a thread of the client."""
    feed, loop = Feed(name), asyncio.get_running_loop()

    def add(message):
        # The answers to its own requests come the same way.
        if "result" not in message:
            loop.call_soon_threadsafe(feed.add, message.get("data") or message.get("event") or message)

    feed.id = manager.create_stream(*parts, process_stream_data=add, **options)
    return feed


async def in_thread(call, *args, **options):
    return await bounded(asyncio.to_thread(call, *args, **options))


async def watch_market():
    ticker = await stream("ticker", ["ticker"], ["btcusdt"]).first()
    raw.tell_ticker(ticker)
    raw.tell_trades(await stream("trades", ["trade" if IS_SPOT else "aggTrade"], ["btcusdt"]).first())
    raw.tell_candle(await stream("candle", ["kline_1m"], ["btcusdt"]).first())
    raw.tell_book(await stream("book", ["depth5"], ["btcusdt"]).take(3))
    return ticker["c"]


async def life():
    price = await watch_market()
    keys = {"api_key": KEY, "api_secret": SECRET}
    events = stream("user data", "arr", "!userData", **keys)
    await in_thread(manager.wait_till_stream_has_started, events.id)
    api = manager.create_stream(api=True, **keys)
    await in_thread(manager.wait_till_stream_has_started, api)
    calls = manager.api.spot if IS_SPOT else manager.api.futures

    async def place(order):
        _, answer = await in_thread(
            calls.create_order,
            stream_id=api,
            symbol=order["symbol"],
            side=order["side"],
            order_type=order["type"],
            quantity=float(order["quantity"]),
            price=float(order.get("price", 0)),
            time_in_force=order.get("timeInForce"),
            return_response=True,
        )
        return answer["result"]

    async def cancel(order):
        return await in_thread(
            calls.cancel_order,
            stream_id=api,
            symbol=order["symbol"],
            order_id=order["orderId"],
            return_response=True,
        )

    await raw.trade(events, place, cancel, price)
    if IS_SPOT:
        account = await in_thread(calls.get_account_status, stream_id=api, return_response=True)
        fact("balance over the WebSocket API", **{row["asset"]: row["free"] for row in account["result"]["balances"]})
    else:
        answer = await in_thread(
            calls.get_account_position, stream_id=api, symbol="BTCUSDT", return_response=True
        )
        fact("position over the WebSocket API", quantity=answer["result"][0]["positionAmt"])


try:
    run(life())
finally:
    # Its threads would keep the program alive.
    manager.stop_manager()
fact("closed")
