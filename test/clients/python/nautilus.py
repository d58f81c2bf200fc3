"""nautilus_trader: a trading node with the adapter of Binance, and a strategy that lives the life."""

import os
from datetime import timedelta
from decimal import Decimal

from facts import HTTP, IS_SPOT, KEY, SECRET, SIZE, WS, fact, far_below

from nautilus_trader.adapters.binance import (
    BINANCE,
    BinanceAccountType,
    BinanceDataClientConfig,
    BinanceExecClientConfig,
    BinanceLiveDataClientFactory,
    BinanceLiveExecClientFactory,
)
from nautilus_trader.adapters.binance.common.enums import BinanceEnvironment
from nautilus_trader.config import InstrumentProviderConfig, LoggingConfig, TradingNodeConfig
from nautilus_trader.live.node import TradingNode
from nautilus_trader.model.enums import BookType, OrderSide, TimeInForce
from nautilus_trader.model.identifiers import InstrumentId
from nautilus_trader.trading.strategy import Strategy

INSTRUMENT = InstrumentId.from_str("BTCUSDT.BINANCE" if IS_SPOT else "BTCUSDT-PERP.BINANCE")
provider = InstrumentProviderConfig(load_ids=frozenset({INSTRUMENT}))
common = {"api_key": KEY, "api_secret": SECRET, "base_url_http": HTTP, "instrument_provider": provider}

if IS_SPOT:
    common["environment"] = BinanceEnvironment.DEMO
    data = BinanceDataClientConfig(account_type=BinanceAccountType.SPOT, base_url_ws=WS, **common)
    execution = BinanceExecClientConfig(
        account_type=BinanceAccountType.SPOT, base_url_ws=WS + "/ws-api/v3", **common
    )
else:
    data = BinanceDataClientConfig(
        account_type=BinanceAccountType.USDT_FUTURES, base_url_ws=WS + "/market", **common
    )
    execution = BinanceExecClientConfig(
        account_type=BinanceAccountType.USDT_FUTURES,
        base_url_ws=WS + "/ws-fapi/v1",
        base_url_ws_stream=WS + "/private",
        **common,
    )


class Life(Strategy):
    """Takes each step when the one before has been seen."""

    def on_start(self):
        self.instrument = self.cache.instrument(INSTRUMENT)
        self.price = None
        self.trades = None
        self.books = []
        self.filled = None
        self.subscribe_quote_ticks(INSTRUMENT)
        self.subscribe_trade_ticks(INSTRUMENT)
        self.subscribe_order_book_deltas(INSTRUMENT, book_type=BookType.L2_MBP)

    def on_quote_tick(self, tick):
        if self.price is None:
            self.price, self.ask = tick.bid_price, tick.ask_price
            self.look()

    def on_trade_tick(self, tick):
        if self.trades is None:
            self.trades = [int(str(tick.trade_id))]
            self.look()

    def on_order_book_deltas(self, deltas):
        # It asks for the snapshot before it has subscribed, and applies changes that the snapshot has.
        if len(self.books) < 3 and deltas.sequence > max(self.books, default=0):
            self.books.append(deltas.sequence)
            self.look()

    def look(self):
        """Places the first order when all of the market has been seen."""
        if self.price is None or self.trades is None or len(self.books) != 3:
            return
        fact("ticker", symbol="BTCUSDT", last=str(self.price))
        fact("trades", symbol="BTCUSDT", ids=self.trades)
        fact("book", symbol="BTCUSDT", nonces=self.books, bid=str(self.price), ask=str(self.ask))
        self.books.append(None)
        self.resting = self.order_factory.limit(
            INSTRUMENT,
            OrderSide.BUY,
            self.instrument.make_qty(Decimal(SIZE)),
            self.instrument.make_price(Decimal(far_below(self.price))),
            time_in_force=TimeInForce.GTC,
        )
        self.submit_order(self.resting)

    def on_order_accepted(self, event):
        if event.client_order_id == self.resting.client_order_id:
            fact(
                "placed",
                orderId=int(str(event.venue_order_id)),
                clientOrderId=str(event.client_order_id),
                price=str(self.resting.price),
            )
            self.cancel_order(self.resting)

    def on_order_canceled(self, event):
        fact("canceled", orderId=int(str(event.venue_order_id)))
        self.submit_order(
            self.order_factory.market(INSTRUMENT, OrderSide.BUY, self.instrument.make_qty(Decimal(SIZE)))
        )

    def on_order_filled(self, event):
        order = self.cache.order(event.client_order_id)
        order_id = int(str(event.venue_order_id))
        fact("filled", orderId=order_id, status=order.status.name, quantity=str(order.filled_qty))
        fact(
            "fill",
            orderId=order_id,
            tradeId=int(str(event.trade_id)),
            price=str(event.last_px),
            quantity=str(event.last_qty),
        )
        self.filled = event
        self.clock.set_timer("balance", interval=timedelta(milliseconds=50), callback=self.check_balance)

    def check_balance(self, _):
        """The account's event follows the fill's."""
        account = self.portfolio.account(INSTRUMENT.venue)
        totals = {str(currency): money.as_decimal() for currency, money in account.balances_total().items()}
        if IS_SPOT and not totals.get("BTC"):
            return
        if not IS_SPOT and totals["USDT"] == 1_000:
            return
        self.clock.cancel_timer("balance")
        fact("balance", **{name: str(total) for name, total in totals.items() if total})
        if not IS_SPOT:
            fact("position", quantity=str(self.portfolio.net_position(INSTRUMENT)))
        self.shutdown_system("the life is over")

    def on_order_denied(self, event):
        self.fail(event)

    def on_order_rejected(self, event):
        self.fail(event)

    def fail(self, event):
        print(event, flush=True)
        os._exit(1)


node = TradingNode(
    TradingNodeConfig(
        logging=LoggingConfig(log_level=os.environ.get("NAUTILUS_LOG", "OFF")),
        data_clients={BINANCE: data},
        exec_clients={BINANCE: execution},
        timeout_post_stop=0.1,
    )
)
node.add_data_client_factory(BINANCE, BinanceLiveDataClientFactory)
node.add_exec_client_factory(BINANCE, BinanceLiveExecClientFactory)
node.trader.add_strategy(Life())
node.build()
try:
    node.run()
finally:
    node.dispose()
fact("closed")
