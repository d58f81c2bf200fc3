"""python-binance: its sockets, depth cache, user socket and orders over the WebSocket API."""

import raw
from facts import HTTP, IS_SPOT, IS_STRICT, KEY, SECRET, WS, Feed, bounded, fact, run

from binance import AsyncClient, BinanceSocketManager, DepthCacheManager
from binance.ws.depthcache import FuturesDepthCacheManager

AsyncClient.API_URL, AsyncClient.FUTURES_URL = HTTP + "/api", HTTP + "/fapi"
AsyncClient.WS_API_URL, AsyncClient.WS_FUTURES_URL = WS + "/ws-api/v3", WS + "/ws-fapi/v1"
BinanceSocketManager.STREAM_URL = BinanceSocketManager.FSTREAM_URL = WS + "/"


async def one_of(socket):
    """The first message of a socket of its own."""
    async with socket as stream:
        message = await bounded(stream.recv())
        return message.get("data", message)


async def watch_market(client, manager):
    if IS_SPOT:
        ticker = await one_of(manager.symbol_ticker_socket("BTCUSDT"))
        raw.tell_ticker(ticker)
        raw.tell_trades(await one_of(manager.trade_socket("BTCUSDT")))
        raw.tell_candle(await one_of(manager.kline_socket("BTCUSDT")))
        cache_manager = DepthCacheManager(client, "BTCUSDT", ws_interval=100)
    else:
        ticker = await one_of(manager.futures_multiplex_socket(["btcusdt@ticker"]))
        raw.tell_ticker(ticker)
        raw.tell_trades(await one_of(manager.aggtrade_futures_socket("BTCUSDT")))
        raw.tell_candle(await one_of(manager.kline_futures_socket("BTCUSDT")))
        cache_manager = FuturesDepthCacheManager(client, "BTCUSDT")
    times = []
    async with cache_manager as caches:
        for _ in range(3):
            cache = await bounded(caches.recv())
            times.append(cache.update_time)
    bid, ask = cache.get_bids()[0][0], cache.get_asks()[0][0]
    fact("book", symbol=cache.symbol, nonces=times, bid=bid, ask=ask)
    return ticker["c"]


async def read_account(client):
    if IS_SPOT:
        account = await bounded(client.ws_get_account())
        rows = {row["asset"]: row["free"] for row in account["balances"]}
        fact("balance over the WebSocket API", **rows)
    else:
        [position] = await bounded(client.ws_futures_v2_account_position(symbol="BTCUSDT"))
        fact("position over the WebSocket API", quantity=position["positionAmt"])


async def life():
    client = await bounded(AsyncClient.create(KEY, SECRET))
    manager = BinanceSocketManager(client)
    price = None if IS_STRICT else await watch_market(client, manager)
    events = Feed("user data")
    async with manager.user_socket() if IS_SPOT else manager.futures_user_socket() as socket:
        reading = events.follow(socket.recv)
        if IS_SPOT:
            place, cancel = client.ws_create_order, client.ws_cancel_order
        else:
            place, cancel = client.ws_futures_create_order, client.ws_futures_cancel_order
        if IS_STRICT:
            await raw.trade_partly(events, lambda order: place(**order), lambda order: cancel(**order))
        else:
            await raw.trade(events, lambda order: place(**order), lambda order: cancel(**order), price)
        reading.cancel()
    if not IS_STRICT:
        await read_account(client)
    await client.close_connection()
    fact("closed")


run(life())
