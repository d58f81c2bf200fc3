import { expect, test } from "vitest";
import { seededRandom } from "../../../test/support/random.ts";
import { testSeed } from "../../../test/support/seed.ts";
import { decimal, formatDecimal } from "../../money/decimal.ts";
import type { TapeLine } from "./line.ts";
import { createTapeTrades } from "./trades.ts";

const seed = testSeed();
const startsAt = 1_700_000_000_000;

test("the sums of any span are those of its trades one by one", () => {
  const random = seededRandom(seed);
  let at = startsAt;
  const lines: Extract<TapeLine, { readonly kind: "trade" }>[] = Array.from({ length: 5_000 }, (_, index) => {
    at += Math.floor(random() * 3);
    const price = (100 + random() * 10).toFixed(2);
    const trade = { id: index + 1, at, price, quantity: random().toFixed(3), isBuyerMaker: random() < 0.5 };
    return { type: "SPOT", kind: "trade", at, trade, verbatim: "" };
  });
  const trades = createTapeTrades(lines);
  for (let round = 0; round < 200; round += 1) {
    const from = startsAt + Math.floor(random() * 5_000);
    const until = from + Math.floor(random() * (at - from + 10));
    const inside = lines.map(({ trade }) => trade).filter((trade) => trade.at >= from && trade.at < until);
    const total = (some: typeof inside) => some.reduce((sum, { quantity }) => sum + decimal(quantity), 0n);
    const prices = inside.map(({ price }) => decimal(price));
    const told = trades.statistics(from, until);
    if (inside.length === 0) {
      expect(told).toBeUndefined();
      continue;
    }
    const quote = inside.reduce((sum, { price, quantity }) => sum + decimal(price) * decimal(quantity), 0n);
    expect(told).toMatchObject({
      open: inside[0]?.price,
      close: inside.at(-1)?.price,
      high: formatDecimal(prices.reduce((one, other) => (one > other ? one : other))),
      low: formatDecimal(prices.reduce((one, other) => (one < other ? one : other))),
      volume: formatDecimal(total(inside)),
      takerBuyVolume: formatDecimal(total(inside.filter(({ isBuyerMaker }) => !isBuyerMaker))),
      quoteVolume: formatDecimal(quote / 100_000_000n),
      tradeCount: inside.length,
      firstTradeId: inside[0]?.id,
      lastTradeId: inside.at(-1)?.id,
    });
  }
});
