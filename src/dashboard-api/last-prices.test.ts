// The price of a silent market has the time at which it was received, never the current time.
import { expect, test } from "vitest";
import { StubMarket } from "../desk/testing/fixture.ts";
import type { Price } from "../money/decimal.ts";
import { LastPrices } from "./last-prices.ts";

class QuietMarket extends StubMarket {
  time = 1_000;
  isQuiet = false;

  override now(): number {
    return this.time;
  }

  override quote(symbol: string): ReturnType<StubMarket["quote"]> {
    return this.isQuiet ? null : super.quote(symbol);
  }
}

function listening() {
  const market = new QuietMarket();
  const markets = { SPOT: market, FUTURES: market } as unknown as ConstructorParameters<typeof LastPrices>[0];
  const prices = new LastPrices(markets);
  market.show("BTCUSDT", "100", "101");
  market.trade("BTCUSDT", "100");
  const at = (time: number): { readonly price: Price; readonly at: number } | null => {
    market.time = time;
    return prices.of("SPOT", "BTCUSDT");
  };
  return { market, at };
}

test("a market without new data is shown as of its last poll", () => {
  const { market, at } = listening();
  expect(at(5_000)).toMatchObject({ at: 5_000 });
  market.isQuiet = true;
  expect([at(60_000)?.at, at(90_000)?.at]).toEqual([5_000, 5_000]);
  market.isQuiet = false;
  expect(at(120_000)).toMatchObject({ at: 120_000 });
});

test("one that was silent before anybody looked may be as old as the server", () => {
  const { market, at } = listening();
  market.isQuiet = true;
  expect([at(60_000)?.at, at(90_000)?.at]).toEqual([1_000, 1_000]);
});
