"""unicorn-binance-websocket-api: its streams, user data and orders over the WebSocket API."""

import asyncio

import raw
from facts import HTTP, IS_SPOT, KEY, SECRET, WS, Feed, bounded, fact, run

from unicorn_binance_rest_api import BinanceRestApiManager
from unicorn_binance_websocket_api import BinanceWebSocketApiManager

BinanceRestApiManager.API_URL, BinanceRestApiManager.FUTURES_URL = HTTP + "/api", HTTP + "/fapi"
if IS_SPOT:
    manager = BinanceWebSocketApiManager(
        exchange="binance.com",
        websocket_base_uri=WS + "/",
        websocket_api_base_uri=WS + "/ws-api/v3",
        output_default="dict",
        warn_on_update=False,
    )
else:
    manager = BinanceWebSocketApiManager(
        exchange="binance.com-futures",
        websocket_base_uri=WS + "/",
        websocket_api_base_uri=WS + "/ws-fapi/v1",
        restful_base_uri=HTTP + "/fapi",
        output_default="dict",
        warn_on_update=False,
    )
    manager.restclient.ubra = BinanceRestApiManager(KEY, SECRET, tld="com", warn_on_update=False)


def stream(name, *parts, **options):
    """A stream of its own, whose messages come from a thread of the client."""
    feed, loop = Feed(name), asyncio.get_running_loop()

    def add(message):
        loop.call_soon_threadsafe(feed.add, message.get("data") or message.get("event") or message)

    feed.id = manager.create_stream(*parts, process_stream_data=add, **options)
    return feed


def of_market(message):
    """Not an answer to one of the client's own requests, which come the same way."""
    return "result" not in message


async def in_thread(call, *args, **options):
    return await bounded(asyncio.to_thread(call, *args, **options))


async def watch_market():
    ticker = await stream("ticker", ["ticker"], ["btcusdt"]).first(of_market)
    raw.tell_ticker(ticker)
    trades = stream("trades", ["trade" if IS_SPOT else "aggTrade"], ["btcusdt"])
    raw.tell_trades(await trades.first(of_market))
    raw.tell_candle(await stream("candle", ["kline_1m"], ["btcusdt"]).first(of_market))
    book = await stream("book", ["depth5"], ["btcusdt"]).take(4)
    raw.tell_book([message for message in book if of_market(message)][:3])
    return ticker["c"]


async def life():
    price = await watch_market()
    keys = {"api_key": KEY, "api_secret": SECRET}
    events = stream("user data", "arr", "!userData", **keys)
    await in_thread(manager.wait_till_stream_has_started, events.id)
    answers = stream("answers", api=True, **keys)
    await in_thread(manager.wait_till_stream_has_started, answers.id)
    calls = manager.api.spot if IS_SPOT else manager.api.futures

    async def answer(call, **options):
        # Not by the client's `return_response`, which misses an answer that comes at once.
        request = manager.get_new_uuid_id()
        await in_thread(call, stream_id=answers.id, request_id=request, **options)
        return (await answers.first(lambda message: message.get("id") == request))["result"]

    async def place(order):
        return await answer(
            calls.create_order,
            symbol=order["symbol"],
            side=order["side"],
            order_type=order["type"],
            quantity=float(order["quantity"]),
            price=float(order.get("price", 0)),
            time_in_force=order.get("timeInForce"),
        )

    async def cancel(order):
        return await answer(calls.cancel_order, symbol=order["symbol"], order_id=order["orderId"])

    await raw.trade(events, place, cancel, price)
    if IS_SPOT:
        account = await answer(calls.get_account_status)
        fact("balance over the WebSocket API", **{row["asset"]: row["free"] for row in account["balances"]})
    else:
        [position] = await answer(calls.get_account_position, symbol="BTCUSDT")
        fact("position over the WebSocket API", quantity=position["positionAmt"])


try:
    run(life())
finally:
    # Its threads would keep the program alive.
    manager.stop_manager()
fact("closed")
