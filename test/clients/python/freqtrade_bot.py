"""freqtrade itself, with the strategy of this file and the configuration of docs/clients.md."""

import json
import os
import signal
import tempfile
from pathlib import Path

from facts import HTTP, IS_SPOT, KEY, SECRET, WS, fact

from freqtrade.strategy import IStrategy


class BuysAndSells(IStrategy):
    """Places an entry and cancels it, buys, waits for candles from the socket, and sells."""

    INTERFACE_VERSION = 3
    timeframe = "1m"
    startup_candle_count = 5
    stoploss = -0.2
    # On futures freqtrade sends its stop with a quantity, which the server refuses.
    order_types = {"entry": "limit", "exit": "market", "stoploss": "limit", "stoploss_on_exchange": IS_SPOT}
    canceled = False
    closed = False

    def populate_indicators(self, dataframe, metadata):
        return dataframe

    def populate_entry_trend(self, dataframe, metadata):
        dataframe["enter_long"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        return dataframe

    def leverage(self, **_):
        return 3

    def custom_entry_price(self, proposed_rate, **_):
        # The market moves between the quote and the order, so a limit at the quote may stay open.
        return proposed_rate * (1.005 if self.canceled else 0.9)

    def check_entry_timeout(self, order, **_):
        if self.canceled:
            return False
        fact("placed", orderId=int(order.order_id))
        self.canceled = True
        return True

    def order_filled(self, order, **_):
        fact(order.ft_order_side, orderId=int(order.order_id), quantity=order.filled)
        self.closed = order.ft_order_side == "sell"

    def custom_exit(self, pair, trade, **_):
        if self.order_types["stoploss_on_exchange"]:
            candles = self.dp._exchange._exchange_ws.ohlcvs(pair, "1m")
            if not candles or not trade.open_sl_orders:
                return None
            [stop] = trade.open_sl_orders
            fact("stop", orderId=int(stop.order_id))
            fact("candle", time=candles[-1][0], close=candles[-1][4])
        return "seen"

    def bot_loop_start(self, **_):
        if self.closed:
            self.wallets.update()
            fact("balance", USDT=self.wallets.get_total("USDT"))
            os.kill(os.getpid(), signal.SIGTERM)


def documented():
    """The configuration of docs/clients.md, with the addresses of this test's server."""
    document = Path(__file__).parents[3] / "docs/clients.md"
    text = document.read_text().split("### freqtrade")[1].split("```json\n")[1].split("```")[0]
    return json.loads(text.replace("http://localhost:8080", HTTP).replace("ws://localhost:8080", WS))


def main():
    from freqtrade.main import main as freqtrade

    config = documented()
    pair = "BTC/USDT" if IS_SPOT else "BTC/USDT:USDT"
    config["exchange"].update(key=KEY, secret=SECRET, pair_whitelist=[pair])
    config.update(
        custom_price_max_distance_ratio=0.5,
        dry_run=False,
        entry_pricing={"price_side": "other", "use_order_book": True, "order_book_top": 1},
        exit_pricing={"price_side": "other", "use_order_book": True, "order_book_top": 1},
        initial_state="running",
        internals={"process_throttle_secs": 1},
        max_open_trades=1,
        pairlists=[{"method": "StaticPairList"}],
        stake_amount=100,
        stake_currency="USDT",
        strategy="BuysAndSells",
        strategy_path=str(Path(__file__).parent),
    )
    if not IS_SPOT:
        config.update(trading_mode="futures", margin_mode="isolated")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        os.chdir(folder)
        try:
            freqtrade(["trade", "--config", str(path), "--userdir", folder, "--db-url", "sqlite://"])
        except SystemExit as end:
            # freqtrade ends with this code after a signal.
            if end.code != 130:
                raise
    fact("closed")


if __name__ == "__main__":
    main()
