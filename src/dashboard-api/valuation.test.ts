// A list values a strategy as its report does, to the last digit: what is open at the market's present
// prices, and what a closed one still holds at what was last paid for it.
import { expect, test } from "vitest";
import { createFixture } from "../analytics/testing/fixture.ts";
import { cleanFixtures } from "../desk/testing/fixture.ts";
import type { StrategyType } from "../domain/account.ts";
import { formatBriefly } from "../money/decimal.ts";
import { LastPrices } from "./last-prices.ts";
import { valuationOf } from "./valuation.ts";

cleanFixtures();

async function opened() {
  const on = await createFixture();
  const { pairs, contracts, store, wall } = on;
  const markets = { SPOT: pairs, FUTURES: contracts } as unknown as ConstructorParameters<
    typeof LastPrices
  >[0];
  const prices = new LastPrices(markets);
  return {
    ...on,
    /** What a list says, and what the report ends with. */
    async equities(type: StrategyType): Promise<readonly [string, string]> {
      wall.now += 5_000;
      const loaded = await store.loadAccount(type.toLowerCase());
      if (loaded === null) throw new Error("a strategy that was made is there");
      const { equity } = await valuationOf(loaded.account, { prices, store });
      const { statistics } = await on.report(type);
      return [formatBriefly(equity), formatBriefly(statistics.endEquity)];
    },
  };
}

test("what is open is worth the same in both, whatever the market has told", async () => {
  const { price, trade, pairs, contracts, equities } = await opened();
  price(1, "BTCUSDT", "100");
  await trade("SPOT", "BUY", "0.333", "BTCUSDT");
  await trade("FUTURES", "SELL", "0.7", "BTCUSDT");
  price(2, "BTCUSDT", "110");
  contracts.setMark("BTCUSDT", "107.77");
  // 200 − 33.3 + 0.332667 × 110; 1000 − 0.035 − 0.7 × 7.77
  expect(await equities("SPOT")).toEqual(["203.29337", "203.29337"]);
  expect(await equities("FUTURES")).toEqual(["994.526", "994.526"]);
  // Nothing was traded yet of what is quoted: the bid counts.
  pairs.show("ETHUSDT", "9.5", "10");
  await trade("SPOT", "BUY", "1", "ETHUSDT");
  // less 10, and 0.999 ETH at 9.5
  expect(await equities("SPOT")).toEqual(["202.78387", "202.78387"]);
  pairs.trade("ETHUSDT", "9.75");
  expect(await equities("SPOT")).toEqual(["203.03362", "203.03362"]);
});

test("what trades the other way round is worth the same in both, also as dust of a closed one", async () => {
  const { price, trade, carryOut, pairs, equities, report } = await opened();
  price(1, "USDTTRY", "20");
  await trade("SPOT", "SELL", "150", "USDTTRY");
  // 50 USDT, and 2,997 lira
  expect(await equities("SPOT")).toEqual(["199.85", "199.85"]);
  price(2, "USDTTRY", "25");
  expect(await equities("SPOT")).toEqual(["169.88", "169.88"]);
  // Bought for 150, of which 0.15 was the fee.
  const { statistics } = await report("SPOT");
  expect(formatBriefly(statistics.fees)).toBe("0.15");
  expect(formatBriefly(statistics.unrealised)).toBe("-29.97");
  pairs.step = "100";
  await carryOut("SPOT", { type: "CloseStrategy" });
  // 100 USDT for 2,500 lira, less the fee, and 497 lira
  expect(await equities("SPOT")).toEqual(["169.78", "169.78"]);
});

test("the dust of a closed one keeps its worth in both", async () => {
  const { price, trade, carryOut, pairs, equities } = await opened();
  price(1, "BTCUSDT", "100");
  await trade("SPOT", "BUY", "1", "BTCUSDT");
  price(2, "BTCUSDT", "50");
  await trade("SPOT", "SELL", "0.998", "BTCUSDT");
  price(3, "BTCUSDT", "70");
  pairs.step = "0.01";
  await carryOut("SPOT", { type: "CloseStrategy" });
  expect(await equities("SPOT")).toEqual(["149.9001", "149.9001"]);
  price(900, "BTCUSDT", "500");
  expect(await equities("SPOT")).toEqual(["149.9001", "149.9001"]);
});
