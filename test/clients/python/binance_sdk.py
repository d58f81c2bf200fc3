"""The official connectors: streams, WebSocket API and user data, one package for spot and one for futures."""

import raw
from facts import HTTP, IS_SPOT, IS_STRICT, KEY, SECRET, WS, Feed, bounded, fact, run

from binance_common.configuration import (
    ConfigurationRestAPI,
    ConfigurationWebSocketAPI,
    ConfigurationWebSocketStreams,
)
from binance_sdk_derivatives_trading_usds_futures.derivatives_trading_usds_futures import (
    DerivativesTradingUsdsFutures,
)
from binance_sdk_spot.spot import Spot

if IS_SPOT:
    client = Spot(
        ConfigurationRestAPI(KEY, SECRET, base_path=HTTP),
        ConfigurationWebSocketAPI(KEY, SECRET, stream_url=WS + "/ws-api/v3"),
        ConfigurationWebSocketStreams(stream_url=WS),
    )
else:
    client = DerivativesTradingUsdsFutures(
        ConfigurationRestAPI(KEY, SECRET, base_path=HTTP),
        ConfigurationWebSocketAPI(KEY, SECRET, stream_url=WS + "/ws-fapi/v1"),
        ConfigurationWebSocketStreams(stream_url=WS),
    )

# The connectors' own names of the account's events, which leave the exchange's out.
EVENTS = {
    "ExecutionReport": "executionReport",
    "OutboundAccountPosition": "outboundAccountPosition",
    "OrderTradeUpdate": "ORDER_TRADE_UPDATE",
    "AccountUpdate": "ACCOUNT_UPDATE",
}


def plain(message):
    """The exchange's own message from a connector's object."""
    while getattr(message, "actual_instance", None) is not None:
        message = message.actual_instance
    return {"e": EVENTS.get(type(message).__name__), **message.to_dict()}


def followed(handle, name):
    feed = Feed(name)
    handle.on("message", lambda message: feed.add(plain(message)))
    return feed


async def watch_market(streams):
    if IS_SPOT:
        calls = {
            "ticker": streams.ticker("btcusdt"),
            "trade": streams.trade("btcusdt"),
            "candle": streams.kline("btcusdt", "1m"),
            "book": streams.partial_book_depth("btcusdt", 5),
        }
    else:
        calls = {
            "ticker": streams.individual_symbol_ticker_streams("btcusdt"),
            "trade": streams.aggregate_trade_streams("btcusdt"),
            "candle": streams.kline_candlestick_streams("btcusdt", "1m"),
            "book": streams.partial_book_depth_streams("btcusdt", 5),
        }
    feeds = {name: followed(await bounded(call), name) for name, call in calls.items()}
    ticker = await feeds["ticker"].first()
    raw.tell_ticker(ticker)
    raw.tell_trades(await feeds["trade"].first())
    raw.tell_candle(await feeds["candle"].first())
    raw.tell_book(await feeds["book"].take(3))
    return ticker["c"]


class Refused(Exception):
    """What the connectors hand over, instead of raising it, when a request is refused."""

    def __init__(self, code):
        self.code = code


async def watch_own(api, streams):
    if IS_SPOT:
        subscribed = await bounded(api.user_data_stream_subscribe_signature())
        return followed(subscribed.stream, "user data")
    started = await bounded(api.start_user_data_stream())
    return followed(await bounded(streams.user_data(started.data().result.listen_key)), "user data")


async def read_account(api):
    if IS_SPOT:
        account = (await bounded(api.account_status())).data().result
        fact("balance over the WebSocket API", **{row.asset: row.free for row in account.balances})
    else:
        [position] = (await bounded(api.position_information_v2(symbol="BTCUSDT"))).data().result
        fact("position over the WebSocket API", quantity=position.position_amt)


async def life():
    streams = await bounded(client.websocket_streams.create_connection())
    price = None if IS_STRICT else await watch_market(streams)
    api = await bounded(client.websocket_api.create_connection())
    events = await watch_own(api, streams)

    async def place(order):
        call = api.order_place if IS_SPOT else api.new_order
        words = {"time_in_force" if name == "timeInForce" else name: value for name, value in order.items()}
        answer = (await call(**words)).data()
        if isinstance(answer, dict):
            raise Refused(answer["error"]["code"])
        result = answer.result
        return {"orderId": result.order_id, "status": result.status}

    async def cancel(order):
        call = api.order_cancel if IS_SPOT else api.cancel_order
        return await call(symbol=order["symbol"], order_id=order["orderId"])

    if IS_STRICT:
        await raw.trade_partly(events, place, cancel)
    else:
        await raw.trade(events, place, cancel, price)
        await read_account(api)
    await bounded(streams.close_connection(close_session=True))
    await bounded(api.close_connection(close_session=True))
    fact("closed")


run(life())
