"""The part of a life that is the same for every client which hands over the exchange's own messages."""

from facts import IS_SPOT, SIZE, bounded, fact, far_below


def tell_ticker(message):
    fact("ticker", symbol=message["s"], last=message["c"])


def tell_trades(message):
    """Of single trades, or of one that stands for several."""
    first, last = (message["t"], message["t"]) if "t" in message else (message["f"], message["l"])
    fact("trades", symbol=message["s"], ids=list(range(first, last + 1)))


def tell_candle(message):
    fact("candle", time=message["k"]["t"], close=message["k"]["c"])


def tell_book(messages):
    """Of the best levels, as streams of partial depth have them."""
    numbers = [message.get("lastUpdateId") or message["u"] for message in messages]
    last = messages[-1]
    bids, asks = last.get("bids") or last["b"], last.get("asks") or last["a"]
    fact("book", symbol="BTCUSDT", nonces=numbers, bid=bids[0][0], ask=asks[0][0])


def report_of(event):
    """The order of an event, if it is one's report."""
    if event.get("e") == "executionReport":
        return event
    return event["o"] if event.get("e") == "ORDER_TRADE_UPDATE" else {}


async def trade(events, place, cancel, price):
    """Rests an order, cancels it, buys; each is seen in the account's events."""

    async def reported(order_id, status):
        event = await events.first(
            lambda each: report_of(each).get("i") == order_id and report_of(each)["X"] == status
        )
        return report_of(event)

    common = {"symbol": "BTCUSDT", "side": "BUY", "quantity": SIZE}
    limit = {**common, "type": "LIMIT", "timeInForce": "GTC", "price": far_below(price)}
    placed = await bounded(place(limit))
    opened = await reported(placed["orderId"], "NEW")
    fact("placed", orderId=placed["orderId"], clientOrderId=opened["c"], price=opened["p"])
    await bounded(cancel({"symbol": "BTCUSDT", "orderId": placed["orderId"]}))
    canceled = await reported(placed["orderId"], "CANCELED")
    fact("canceled", orderId=canceled["i"])

    bought = await bounded(place({**common, "type": "MARKET"}))
    filled = await reported(bought["orderId"], "FILLED")
    fact("filled", orderId=bought["orderId"], status=filled["X"], quantity=filled["z"])
    fact("fill", orderId=filled["i"], tradeId=filled["t"], price=filled["L"], quantity=filled["l"])
    if IS_SPOT:
        position = await events.first(
            lambda each: each.get("e") == "outboundAccountPosition"
            and any(row["a"] == "BTC" and float(row["f"]) > 0 for row in each["B"])
        )
        fact("balance", **{row["a"]: row["f"] for row in position["B"]})
    else:
        update = await events.first(lambda each: each.get("e") == "ACCOUNT_UPDATE" and each["a"]["P"])
        fact("balance", **{row["a"]: row["wb"] for row in update["a"]["B"]})
        fact("position", quantity=update["a"]["P"][0]["pa"])


async def trade_partly(events, place, cancel):
    """Under `strict`, on the book of `strict-stage.ts`: each order with its answer's status and its events."""
    common = {"symbol": "BTCUSDT", "side": "BUY"}

    async def tell(name, placed, end):
        def is_its(each):
            return report_of(each).get("i") == placed["orderId"]

        await events.first(lambda each: is_its(each) and report_of(each)["X"] == end)
        reports = [report_of(each) for each in events.messages if is_its(each)]
        seen = [f"{each['x']} {each['X']} {each['l']} {each['z']}" for each in reports]
        fact(name, status=placed["status"], reports=seen, average=reports[-1].get("ap"))

    def limit(price, time_in_force, quantity):
        terms = {"type": "LIMIT", "timeInForce": time_in_force}
        return place({**common, **terms, "price": price, "quantity": quantity})

    quantity = "0.0007" if IS_SPOT else "0.006"
    await tell("walked", await bounded(place({**common, "type": "MARKET", "quantity": quantity})), "FILLED")
    await tell("taken", await bounded(limit("60001", "IOC", "0.0006" if IS_SPOT else "0.004")), "EXPIRED")
    opened = await bounded(limit("60010", "GTC", "0.0015" if IS_SPOT else "0.010"))
    await bounded(cancel({"symbol": "BTCUSDT", "orderId": opened["orderId"]}))
    await tell("partly", opened, "CANCELED")
    try:
        if IS_SPOT:
            maker = {**common, "type": "LIMIT_MAKER", "price": "60100", "quantity": "0.0005"}
            await bounded(place(maker))
        else:
            await bounded(limit("60100", "GTX", "0.004"))
    except Exception as error:  # Each client has a class of its own.
        fact("refused", code=error.code)
