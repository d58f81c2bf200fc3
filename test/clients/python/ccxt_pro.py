"""ccxt.pro: market data, own orders, fills and balances over sockets, orders over the WebSocket API."""

import asyncio

from facts import HTTP, IS_SPOT, IS_STRICT, KEY, SECRET, SIZE, WS, Feed, bounded, fact, far_below, run

import ccxt.pro

exchange = ccxt.pro.binance({"apiKey": KEY, "secret": SECRET})
for name, address in exchange.urls["api"].items():
    if name != "ws":
        exchange.urls["api"][name] = HTTP + "/" + address.split("/", 3)[3]
exchange.urls["api"]["ws"].update({"spot": WS + "/stream/ws", "linear": WS + "/ws"})
exchange.urls["api"]["ws"]["ws-api"].update({"spot": WS + "/ws-api/v3", "linear": WS + "/ws-fapi/v1"})

SYMBOL = "BTC/USDT" if IS_SPOT else "BTC/USDT:USDT"
OWN = {"type": "spot"} if IS_SPOT else {"type": "swap"}


async def watch_market():
    ticker = await bounded(exchange.watch_ticker(SYMBOL))
    fact("ticker", symbol=ticker["symbol"], last=ticker["last"])
    trades = await bounded(exchange.watch_trades(SYMBOL))
    fact("trades", symbol=trades[0]["symbol"], ids=[int(trade["id"]) for trade in trades])
    candles = await bounded(exchange.watch_ohlcv(SYMBOL, "1m"))
    fact("candle", time=candles[-1][0], close=candles[-1][4])
    nonces = []
    while len(nonces) < 3:
        book = await bounded(exchange.watch_order_book(SYMBOL))
        # It answers the snapshot twice when no change followed it.
        if book["nonce"] not in nonces:
            nonces.append(book["nonce"])
    fact("book", symbol=book["symbol"], nonces=nonces, bid=book["bids"][0][0], ask=book["asks"][0][0])
    return ticker["last"]


async def watch_own():
    """Follows the account; resolves when the subscription is in force."""
    orders, trades, balances, positions = Feed("orders"), Feed("trades"), Feed("balances"), Feed("positions")
    tasks = [
        orders.follow(lambda: exchange.watch_orders(SYMBOL, params=OWN)),
        trades.follow(lambda: exchange.watch_my_trades(SYMBOL, params=OWN)),
        balances.follow(lambda: exchange.watch_balance(OWN)),
    ]
    if not IS_SPOT:
        tasks.append(positions.follow(lambda: exchange.watch_positions([SYMBOL])))
        while not any("listenKey" in url for url in exchange.clients):
            await asyncio.sleep(0)
        await bounded(next(client for url, client in exchange.clients.items() if "listenKey" in url).connected)
    else:
        await bounded(exchange.authenticate({"type": "spot"}))
    return orders, trades, balances, positions, tasks


async def trade(orders, trades, balances, positions, price):
    limit = far_below(price)
    placed = await bounded(exchange.create_order_ws(SYMBOL, "limit", "buy", float(SIZE), float(limit)))
    opened = await orders.first(lambda order: order["id"] == placed["id"] and order["status"] == "open")
    fact("placed", orderId=int(placed["id"]), clientOrderId=opened["clientOrderId"], price=opened["price"])
    canceled = await bounded(exchange.cancel_order_ws(placed["id"], SYMBOL))
    await orders.first(lambda order: order["id"] == placed["id"] and order["status"] == "canceled")
    fact("canceled", orderId=int(canceled["id"]))

    bought = await bounded(exchange.create_order_ws(SYMBOL, "market", "buy", float(SIZE)))
    filled = await orders.first(lambda order: order["id"] == bought["id"] and order["status"] == "closed")
    trade = await trades.first(lambda each: each["order"] == bought["id"])
    fact("filled", orderId=int(filled["id"]), status=bought["status"], quantity=filled["filled"])
    fact("fill", orderId=int(trade["order"]), tradeId=int(trade["id"]), price=trade["price"], quantity=trade["amount"])
    if IS_SPOT:
        await balances.first(lambda balance: balance.get("BTC", {}).get("free"))
        balance = balances.messages[-1]
        fact("balance", BTC=balance["BTC"]["free"], USDT=balance["USDT"]["free"])
        # ccxt 4.5.90 reads no rows of spot here; they are in the answer itself.
        same = await bounded(exchange.fetch_balance_ws({"type": "spot"}))
        rows = {row["asset"]: row["free"] for row in same["info"]["balances"]}
        fact("balance over the WebSocket API", BTC=rows["BTC"], USDT=rows["USDT"])
    else:
        await balances.first()
        fact("balance", USDT=balances.messages[-1]["USDT"]["total"])
        position = await positions.first(lambda each: each["contracts"])
        fact("position", side=position["side"], quantity=position["contracts"])
        [same] = await bounded(exchange.fetch_positions_ws([SYMBOL]))
        fact("position over the WebSocket API", side=same["side"], quantity=same["contracts"])


async def trade_partly(orders, trades):
    """Under `strict`, on the book of `strict-stage.ts`: each order as it ended, and its fills one by one."""

    async def tell(name, placed, end):
        def fills():
            return [each for each in trades.messages if each["order"] == placed["id"]]

        ended = await orders.first(lambda order: order["id"] == placed["id"] and order["status"] == end)
        await trades.first(lambda _: abs(sum(each["amount"] for each in fills()) - ended["filled"]) < 1e-9)
        told = [[each["price"], each["amount"], each["takerOrMaker"]] for each in fills()]
        fact(name, status=placed["status"], filled=ended["filled"], average=ended["average"], fills=told)

    def limit(price, quantity, terms):
        return exchange.create_order_ws(SYMBOL, "limit", "buy", quantity, price, terms)

    quantity = 0.0007 if IS_SPOT else 0.006
    await tell("walked", await bounded(exchange.create_order_ws(SYMBOL, "market", "buy", quantity)), "closed")
    ioc = {"timeInForce": "IOC"}
    await tell("taken", await bounded(limit(60001, 0.0006 if IS_SPOT else 0.004, ioc)), "expired")
    opened = await bounded(limit(60010, 0.0015 if IS_SPOT else 0.010, {}))
    await bounded(exchange.cancel_order_ws(opened["id"], SYMBOL))
    await tell("partly", opened, "canceled")
    try:
        await bounded(limit(60100, 0.0005 if IS_SPOT else 0.004, {"postOnly": True}))
    except ccxt.pro.ExchangeError as error:
        fact("refused", text=str(error))


async def life():
    await bounded(exchange.load_markets())
    price = None if IS_STRICT else await watch_market()
    orders, trades, balances, positions, tasks = await watch_own()
    if IS_STRICT:
        await trade_partly(orders, trades)
    else:
        await trade(orders, trades, balances, positions, price)
    for task in tasks:
        task.cancel()
    await exchange.close()
    fact("closed")


run(life())
