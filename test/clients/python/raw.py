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
