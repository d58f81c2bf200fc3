// The alternative with the strategy's own latency is the order itself: on a random walk of the market the two
// rows are equal, whatever the order, the queue model and the cancel. One order at a time, since others are
// left out.
import { expect, test } from "vitest";
import { isRefusal } from "../../domain/refusal.ts";
import { decimal, formatDecimal, type Quantity } from "../../money/decimal.ts";
import { cleanFixtures, createFixture } from "../testing/fixture.ts";

const SYMBOL = "BTCUSDT";
const SEEDS = [1, 2, 3, 4, 5, 6].flatMap((seed) => [[seed, "SPOT"] as const, [seed, "FUTURES"] as const]);
const ORDERS = 25;
/** In ticks of 0.01 around 100, so that walks, queues and crossings all occur. */
const price = (ticks: number) => formatDecimal(decimal("100") + BigInt(ticks) * 1_000_000n);

cleanFixtures();

/**
 * A generator of whole numbers below a bound: a linear congruence modulo 2^32, of which the upper bits are
 * used.
 */
function numbersOf(seed: number) {
  let state = seed;
  return (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

test.each(SEEDS)("seed %i, %s: the alternative with the own latency is the order", async (seed, type) => {
  const below = numbersOf(seed);
  const latency = [0, 50, 250][seed % 3] ?? 0;
  const queue = (["trades", "power-1", "power-3"] as const)[below(3)] ?? "trades";
  const all = await createFixture({ type, strict: { latency, queue, refreshMs: 300 }, hasShadows: true });
  const { market, time } = all;
  let mid = 0;
  const levels = () => `${price(mid + 1 + below(3))}x0.${below(4)} ${price(mid + 1)}x0.${1 + below(3)}`;
  const below100 = () => `${price(mid - 1 - below(3))}x0.${below(4)} ${price(mid - 1)}x0.${1 + below(3)}`;
  market.openBook(SYMBOL, {
    asks: `${price(1)}x0.2 ${price(2)}x0.3`,
    bids: `${price(-1)}x0.2 ${price(-2)}x0.3`,
  });
  await all.triggers.open();
  await all.shadows.open();

  async function step(): Promise<void> {
    // Latencies are multiples of it, so that nothing is due between two steps.
    time.advance(10);
    await all.settled();
    const kind = below(10);
    if (kind < 4) {
      const side = below(2) === 0 ? "seller" : "buyer";
      const at = side === "seller" ? mid - 1 - below(2) : mid + 1 + below(2);
      market.aggregate(SYMBOL, side, `0.${1 + below(3)}`, price(at), time.now() - below(20));
    } else if (kind < 8) {
      market.diff(SYMBOL, { asks: levels(), bids: below100() });
    } else {
      // The market moves: what was on the other side of the new middle is gone.
      const gone = Array.from({ length: 9 }, (_each, index) => price(mid - 4 + index));
      mid = Math.max(-5, Math.min(5, mid + (kind === 8 ? 1 : -1)));
      const isAbove = (at: string) => decimal(at) > decimal(price(mid));
      market.diff(SYMBOL, {
        asks: [...gone.filter((at) => !isAbove(at)).map((at) => `${at}x0`), levels()].join(" "),
        bids: [...gone.filter(isAbove).map((at) => `${at}x0`), `${price(mid)}x0`, below100()].join(" "),
      });
    }
    market.show(SYMBOL, price(mid - 1), price(mid + 1));
    if (type === "FUTURES") market.showMark(SYMBOL, price(mid));
    await all.settled();
  }

  let lastClientId = 0;
  let compared = 0;
  let filledInParts = 0;
  while (compared < ORDERS) {
    const isMarket = below(4) === 0;
    const timeInForce = (["GTC", "GTC", "GTC", "IOC", "FOK"] as const)[below(5)] ?? "GTC";
    const account = (await all.store.loadAccount("one"))?.account;
    const held =
      type === "SPOT" ? account?.balances.get("BTC")?.free : account?.positions.get(SYMBOL)?.quantity;
    const isSale = held !== undefined && held >= decimal("0.5");
    const size = decimal<Quantity>("0.01") * BigInt(1 + below(90));
    const quantity = isSale && size > held ? held : size;
    lastClientId += 1;
    const sent = all.desk.execute("one", {
      type: "PlaceOrder",
      symbol: SYMBOL,
      side: isSale ? "SELL" : "BUY",
      orderType: isMarket ? "MARKET" : "LIMIT",
      size: { quantity: quantity as Quantity },
      price: isMarket ? null : decimal(price(mid - 2 + below(5))),
      stopPrice: null,
      clientOrderId: `order-${lastClientId}`,
      ...(!isMarket && { timeInForce }),
    });
    await all.settled();
    const steps = 26 + below(20);
    for (let count = 0; count < steps; count += 1) await step();
    const outcome = await sent;
    // Futures orders that fail as FOK are not recorded.
    if (isRefusal(outcome)) continue;
    const orderId = outcome.orders[0]?.orderId ?? 0;
    const isOpen = (await all.statusOf("one", orderId)) !== "FILLED";
    if (isOpen) void all.desk.execute("one", { type: "CancelOrder", orderId });
    await all.settled();
    for (let count = 0; count < 60 && all.shadows.isRunning("one", orderId); count += 1) await step();
    const found = await all.store.findCounterfactual("one", orderId);
    const own = found?.rows.at(-1);
    const same = found?.rows.find((row) => row.profile === "strict" && row.latencyMs === latency);
    expect({ orderId, ...same, profile: "own" }, `seed ${seed}`).toEqual({ orderId, ...own });
    compared += 1;
    if (own !== undefined && own.firstFillAt !== own.lastFillAt) filledInParts += 1;
  }
  expect(filledInParts).toBeGreaterThan(0);
});
