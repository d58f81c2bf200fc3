"""Hummingbot: its connectors for Binance, with a strategy on its base class, run by its clock."""

import asyncio
import logging
from decimal import Decimal

from facts import HTTP, IS_SPOT, KEY, SECRET, SIZE, WS, fact, far_below, run

if IS_SPOT:
    from hummingbot.connector.exchange.binance import binance_constants

    binance_constants.REST_URL = HTTP + "/api/"
    binance_constants.WSS_URL = WS + "/ws"
    binance_constants.WSS_API_URL = WS + "/ws-api/v3"
    from hummingbot.connector.exchange.binance.binance_exchange import BinanceExchange
else:
    from hummingbot.connector.derivative.binance_perpetual import binance_perpetual_constants

    binance_perpetual_constants.PERPETUAL_BASE_URL = HTTP + "/fapi/"
    binance_perpetual_constants.PERPETUAL_WS_URL = WS + "/"
    from hummingbot.connector.derivative.binance_perpetual.binance_perpetual_derivative import (
        BinancePerpetualDerivative,
    )

from hummingbot.core.clock import Clock
from hummingbot.core.clock_mode import ClockMode
from hummingbot.core.data_type.common import OrderType, PositionAction
from hummingbot.core.web_assistant.ws_post_processors import WSPostProcessorBase
from hummingbot.strategy.strategy_py_base import StrategyPyBase

PAIR = "BTC-USDT"
LEVERAGE = 3


class Events(WSPostProcessorBase):
    """Records the order events that the connector receives by socket."""

    def __init__(self):
        self.steps = set()

    async def post_process(self, response):
        if isinstance(response.data, dict):
            event = response.data.get("event", response.data)
            reports = {"executionReport": event, "ORDER_TRADE_UPDATE": event.get("o")}
            report = reports.get(event.get("e"))
            if report is not None:
                self.steps.add((str(report["i"]), report["x"]))
        return response


class Complaints(logging.Handler):
    """Records the warnings and errors of Hummingbot's log."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(self.format(record))


class Bot(StrategyPyBase):
    """Places a limit order and cancels it, buys, and sells. Each tick continues to the next `yield`."""

    def __init__(self, connector, events):
        super().__init__()
        self.connector = connector
        self.events = events
        self.add_markets([connector])
        self.created, self.canceled, self.fills, self.completed = {}, set(), {}, set()
        self.ended = asyncio.get_running_loop().create_future()
        self.steps = self.life()

    def tick(self, timestamp):
        if self.ended.done():
            return
        try:
            next(self.steps)
        except StopIteration:
            self.ended.set_result(None)
        except Exception as error:
            self.ended.set_exception(error)

    def did_create_buy_order(self, event):
        self.created[event.order_id] = event

    def did_create_sell_order(self, event):
        self.created[event.order_id] = event

    def did_cancel_order(self, event):
        self.canceled.add(event.order_id)

    def did_fill_order(self, event):
        self.fills.setdefault(event.order_id, []).append(event)

    def did_complete_buy_order(self, event):
        self.completed.add(event.order_id)

    def did_complete_sell_order(self, event):
        self.completed.add(event.order_id)

    def did_fail_order(self, event):
        if not self.ended.done():
            self.ended.set_exception(RuntimeError(f"order failed: {event}"))

    def life(self):
        connector = self.connector
        while not connector.ready:
            yield
        fact("ready", **connector.status_dict)
        if not IS_SPOT:
            connector.set_leverage(PAIR, LEVERAGE)
            while connector.get_leverage(PAIR) != LEVERAGE:
                yield
            fact("leverage", leverage=connector.get_leverage(PAIR))
        opening = {} if IS_SPOT else {"position_action": PositionAction.OPEN}
        closing = {} if IS_SPOT else {"position_action": PositionAction.CLOSE}

        bid, ask = connector.get_price(PAIR, False), connector.get_price(PAIR, True)
        fact("book", bid=bid, ask=ask)
        price = Decimal(far_below(bid))
        order = connector.buy(PAIR, Decimal(SIZE), OrderType.LIMIT, price, **opening)
        while order not in self.created or not self.reported(order, "NEW"):
            yield
        created = self.created[order]
        fact("placed", orderId=int(created.exchange_order_id), clientOrderId=order, price=created.price)
        connector.cancel(PAIR, order)
        while order not in self.canceled or not self.reported(order, "CANCELED"):
            yield
        fact("canceled", clientOrderId=order)

        money = connector.get_balance("USDT")
        order = connector.buy(PAIR, Decimal(SIZE), OrderType.MARKET, **opening)
        yield from self.filled("buy", order)
        if IS_SPOT:
            while connector.get_balance("BTC") == 0 or connector.get_balance("USDT") == money:
                yield
            amount = connector.get_available_balance("BTC")
            fact("held", BTC=amount)
        else:
            while not connector.account_positions or connector.get_balance("USDT") == money:
                yield
            [position] = connector.account_positions.values()
            fact("position", quantity=position.amount, entry=position.entry_price, leverage=position.leverage)
            amount = position.amount

        money = connector.get_balance("USDT")
        order = connector.sell(PAIR, amount, OrderType.MARKET, **closing)
        yield from self.filled("sell", order)
        while connector.get_balance("USDT") == money:
            yield
        if not IS_SPOT:
            while connector.account_positions:
                yield
        assets = ["BTC", "USDT"] if IS_SPOT else ["USDT"]
        fact("balance", **{asset: connector.get_balance(asset) for asset in assets})

    def reported(self, order, step):
        """Whether the connector has received this event of an order by socket."""
        return (str(self.created[order].exchange_order_id), step) in self.events.steps

    def filled(self, name, order):
        while order not in self.completed or not self.reported(order, "TRADE"):
            yield
        [fill] = self.fills[order]
        [fee] = fill.trade_fee.flat_fees
        fact(
            name,
            orderId=int(self.created[order].exchange_order_id),
            clientOrderId=order,
            tradeId=int(fill.exchange_trade_id),
            price=fill.price,
            quantity=fill.amount,
            fee=fee.amount,
            feeAsset=fee.token,
        )


async def life():
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)
    if IS_SPOT:
        connector = BinanceExchange(KEY, SECRET, trading_pairs=[PAIR])
    else:
        connector = BinancePerpetualDerivative(
            binance_perpetual_api_key=KEY, binance_perpetual_api_secret=SECRET, trading_pairs=[PAIR]
        )
    events = Events()
    connector._web_assistants_factory._ws_post_processors.append(events)
    bot = Bot(connector, events)
    clock = Clock(ClockMode.REALTIME)
    for iterator in (connector, bot):
        clock.add_iterator(iterator)
    with clock:
        ticking = asyncio.create_task(clock.run())
        await bot.ended
        ticking.cancel()
    await connector.stop_network()
    await connector._web_assistants_factory.close()
    fact("complaints", texts=complaints.texts)
    fact("closed")


run(life())
