// Scaling against its definition, in exact fractions written down anew here: whatever an order, a copy and a venue's rules are,
// what is sent is never above the scaled size, never raised, on the venue's steps, within all its bounds and within what there is.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { LeadPlacement } from "../../domain/copying.ts";
import type { LotSize, SymbolRules } from "../../domain/symbol.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { type Amount, decimal, type Price, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import { NOTHING_RESTS, type ScaleInput, type Sized, scaleOrder } from "./scale-order.ts";
import { CopyBench } from "./testing/copy-bench.ts";

const RUNS = 4_000;
const ONE = 100_000_000n;
const STEPS = ["0", "0.00001", "0.0001", "0.0002", "0.0003", "0.001", "0.003"];

const amount = (max: number) => fc.integer({ min: 0, max }).map((cents) => (BigInt(cents) * ONE) / 100n);
const size = fc.integer({ min: 1, max: 60_000 }).map((units) => BigInt(units) * 100n);
const held = fc.oneof(
  fc.constant(0n),
  size,
  size.map((each) => -each),
);
const price = fc.integer({ min: 100, max: 100_000 }).map((units) => BigInt(units) * ONE);
const lot: fc.Arbitrary<LotSize> = fc
  .tuple(fc.constantFrom(...STEPS), fc.integer({ min: 0, max: 300 }), fc.constantFrom("0", "0.2", "9000"))
  .map(([step, min, max]) => ({
    minQuantity: (BigInt(min) * 1_000n) as Quantity,
    maxQuantity: decimal(max),
    stepSize: decimal(step),
  }));

const anyInput: fc.Arbitrary<ScaleInput> = fc
  .record({
    family: fc.constantFrom<StrategyType>("SPOT", "FUTURES"),
    side: fc.constantFrom<"BUY" | "SELL">("BUY", "SELL"),
    isLimit: fc.boolean(),
    quantity: size,
    limit: price,
    market: price,
    reduceOnly: fc.boolean(),
    leverage: fc.integer({ min: 1, max: 125 }),
    theirWallet: amount(300_000),
    theirs: held,
    ours: held,
    wallet: amount(1_000_000),
    free: fc.integer({ min: 0, max: 100 }),
    share: fc.integer({ min: 1, max: 100 }),
    maxPerOrder: fc.option(amount(200_000), { freq: 1 }),
    resting: fc.record({ worth: amount(1_000), sells: fc.oneof(fc.constant(0n), size) }),
    lotSize: fc.option(lot),
    marketLotSize: fc.option(lot),
    minNotional: amount(2_000),
    isPaused: fc.integer({ min: 0, max: 3 }).map((drawn) => drawn === 0),
  })
  .map((drawn) => {
    const isSpot = drawn.family === "SPOT";
    const rules: SymbolRules = {
      ...(isSpot ? symbolRules("BTC") : contractRules("BTC")),
      lotSize: drawn.lotSize,
      marketLotSize: drawn.marketLotSize,
    };
    const positive = (value: bigint) => (isSpot && value < 0n ? -value : value) as Quantity;
    // On spot what is sold is held.
    const theirs = positive(drawn.theirs);
    const quantity = isSpot && drawn.side === "SELL" && theirs < drawn.quantity ? theirs : drawn.quantity;
    const ours = positive(drawn.ours);
    return {
      family: drawn.family,
      placement: {
        kind: "PLACE",
        symbol: "BTCUSDT",
        orderId: 1,
        collectiveId: "one",
        side: drawn.side,
        orderType: drawn.isLimit ? "LIMIT" : "MARKET",
        quantity: (quantity > 0n ? quantity : 1n) as Quantity,
        price: (drawn.isLimit ? drawn.limit : ZERO) as Price,
        stopPrice: ZERO,
        reduceOnly: !isSpot && drawn.reduceOnly,
        leverage: isSpot ? null : drawn.leverage,
        filled: null,
      } satisfies LeadPlacement,
      lead: {
        wallet: drawn.theirWallet as Amount,
        held: new Map([[isSpot ? "BTC" : "BTCUSDT", theirs]]),
        lastPrices: new Map(),
      },
      settings: {
        share: ((BigInt(drawn.share) * ONE) / 100n) as Rate,
        maxPerOrder: drawn.maxPerOrder as Amount | null,
        stopLoss: null,
      },
      holdings: new Map(ours === 0n ? [] : [["BTCUSDT", { quantity: ours, cost: ZERO }]]),
      wallet: drawn.wallet as Amount,
      available: ((drawn.wallet * BigInt(drawn.free)) / 100n) as Amount,
      restingWorth: (isSpot ? drawn.resting.worth : ZERO) as Amount,
      restingOnSymbol: { ...NOTHING_RESTS, sells: (isSpot ? drawn.resting.sells : 0n) as Quantity },
      accountHeld: isSpot ? ours : ZERO,
      rules: {
        ...rules,
        notional: rules.notional && { ...rules.notional, minNotional: drawn.minNotional as Amount },
      },
      prices: new Map([["BTCUSDT", drawn.market as Price]]),
      opensNot: drawn.isPaused ? "PAUSED" : null,
    } satisfies ScaleInput;
  });

/** What the definition says of an input, with nothing rounded: sizes are fractions over a common denominator. */
function definitionOf(input: ScaleInput) {
  const { family, placement, lead, holdings, settings, wallet, prices, restingOnSymbol } = input;
  const isSpot = family === "SPOT";
  const market = prices.get("BTCUSDT") ?? 0n;
  const own = holdings.get("BTCUSDT")?.quantity ?? 0n;
  const theirs = lead.held.get(isSpot ? "BTC" : "BTCUSDT") ?? 0n;
  const against = (position: bigint) =>
    position > 0n === (placement.side === "BUY") ? 0n : position < 0n ? -position : position;
  // Equities in units of 1e-16, the copy's times its share in units of 1e-24.
  const theirEquity = lead.wallet * ONE + (isSpot ? theirs * market : 0n);
  const ourEquity = (wallet * ONE + (isSpot ? own * market : 0n)) * settings.share;
  const q = placement.quantity;
  const reducesAll = isSpot ? placement.side === "SELL" : placement.reduceOnly;
  const reducing = isSpot && placement.side === "BUY" ? 0n : min(q, against(theirs));
  const opening = reducesAll ? 0n : q - reducing;
  const reducible =
    isSpot && placement.side === "BUY" ? 0n : against(own) - (isSpot ? restingOnSymbol.sells : 0n);
  return {
    market,
    own,
    opening,
    reducible: reducible > 0n ? reducible : 0n,
    /** Whether a size is at most reducing × own / theirs + opening × ours / theirs. */
    isWithinScale(size: bigint): boolean {
      const held = against(theirs) === 0n ? 1n : against(theirs);
      const whole = theirEquity === 0n ? 1n : theirEquity * ONE;
      const ofReducing = reducing * against(own) * whole;
      const ofOpening = theirEquity === 0n ? 0n : opening * ourEquity * held;
      return size * held * whole <= ofReducing + ofOpening;
    },
    ourEquity,
  };
}

describe("whatever is scaled", () => {
  test("what is sent is within the scale, the copier's bounds, what there is and the venue's rules", () => {
    const counts = new Map<string, number>();
    fc.assert(
      fc.property(anyInput, (input) => {
        const scaled = scaleOrder(input);
        const name = scaled.kind === "SIZED" ? sizedAs(input, scaled) : scaled.skip.reason;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        if (scaled.kind === "SIZED") {
          checkSize(input, scaled);
          checkRules(input, scaled);
          checkFunds(input, scaled);
          return;
        }
        const { wanted, had } = scaled.skip;
        if (wanted !== null && had !== null) expect(wanted).toBeGreaterThan(had);
      }),
      { numRuns: RUNS },
    );
    for (const name of [
      "SIZED SPOT",
      "SIZED FUTURES",
      "THROUGH ZERO",
      "LEFT OUT",
      "BELOW_MIN_QUANTITY",
      "BELOW_MIN_NOTIONAL",
      "ABOVE_MAXIMUM",
      "INSUFFICIENT_BALANCE",
      "INSUFFICIENT_MARGIN",
      "NOTHING_HELD",
      "PAUSED",
    ])
      expect(counts.get(name) ?? 0, name).toBeGreaterThan(10);
  });

  test("more money never makes an order smaller, nor too small", () => {
    let grown = 0;
    fc.assert(
      fc.property(anyInput, amount(200_000), (input, more) => {
        const richer = {
          ...input,
          wallet: (input.wallet + more) as Amount,
          available: (input.available + more) as Amount,
        };
        const [before, after] = [scaleOrder(input), scaleOrder(richer)];
        if (before.kind === "SKIPPED") return;
        if (after.kind === "SKIPPED") {
          // What grows by a whole step may cost more than what came in, or be more than the venue takes.
          expect(["ABOVE_MAXIMUM", "INSUFFICIENT_BALANCE", "INSUFFICIENT_MARGIN"]).toContain(
            after.skip.reason,
          );
          return;
        }
        // An order through zero may have lost its opening part for the same reasons.
        if (before.leftOut === null && after.leftOut !== null) return;
        expect(after.quantity).toBeGreaterThanOrEqual(before.quantity);
        if (after.quantity > before.quantity) grown += 1;
      }),
      { numRuns: RUNS },
    );
    expect(grown).toBeGreaterThan(100);
  });
});

function sizedAs({ family }: ScaleInput, { leftOut, opening, quantity }: Sized): string {
  if (leftOut !== null) return "LEFT OUT";
  return opening > 0n && opening < quantity ? "THROUGH ZERO" : `SIZED ${family}`;
}

function checkSize(input: ScaleInput, sized: Sized): void {
  const definition = definitionOf(input);
  expect(sized.quantity).toBeGreaterThan(0n);
  expect(sized.quantity).toBeLessThanOrEqual(sized.scaledQuantity);
  expect(definition.isWithinScale(sized.scaledQuantity), "above the scaled size").toBe(true);
  if (definition.opening === 0n)
    expect(sized.quantity, "reduced more than is held").toBeLessThanOrEqual(definition.reducible);
  if (input.opensNot !== null || sized.leftOut !== null) expect(sized.opening).toBe(0n);
  if (input.family === "FUTURES" && input.placement.orderType === "MARKET" && definition.opening === 0n)
    expect(sized.reduceOnly).toBe(true);
}

function checkRules({ rules, placement, prices }: ScaleInput, sized: Sized): void {
  const isMarket = placement.orderType === "MARKET";
  for (const each of [rules?.lotSize, isMarket ? rules?.marketLotSize : null]) {
    if (each === null || each === undefined) continue;
    if (each.stepSize > 0n) expect(sized.quantity % each.stepSize, "off the step").toBe(0n);
    expect(sized.quantity, "below the minimum").toBeGreaterThanOrEqual(each.minQuantity);
    if (each.maxQuantity > 0n)
      expect(sized.quantity, "above the maximum").toBeLessThanOrEqual(each.maxQuantity);
  }
  const measured = isMarket ? (prices.get("BTCUSDT") ?? 0n) : sized.price;
  if (!(rules?.contract && sized.reduceOnly))
    expect((measured * sized.quantity) / ONE).toBeGreaterThanOrEqual(rules?.notional?.minNotional ?? 0n);
}

function checkFunds(input: ScaleInput, sized: Sized): void {
  const { market, ourEquity, own } = definitionOf(input);
  if (sized.opening === 0n) {
    expect(sized.worth).toBe(0n);
    return;
  }
  const at = input.placement.orderType === "MARKET" ? market : sized.price;
  expect(sized.worth).toBeLessThanOrEqual(input.available);
  const { maxPerOrder } = input.settings;
  const isThroughZero = sized.opening < sized.quantity;
  if (maxPerOrder !== null && !isThroughZero)
    expect(sized.quantity * at, "above the bound for an order").toBeLessThanOrEqual(maxPerOrder * ONE);
  const spotInUse = own * market + input.restingWorth * ONE;
  const inUse = input.family === "SPOT" ? spotInUse : (input.wallet - input.available) * ONE;
  const least =
    input.family === "SPOT"
      ? sized.opening * at
      : (sized.opening * at) / BigInt(input.placement.leverage ?? 1);
  expect((least + inUse) * ONE, "more than the copy's share").toBeLessThanOrEqual(ourEquity + ONE * ONE * 4n);
}

describe("whatever is done one after the other", () => {
  const step = fc.record({
    verb: fc.constantFrom("buy", "sell", "limit buy", "limit sell", "fill", "cancel", "price"),
    symbol: fc.constantFrom("BTCUSDT", "ETHUSDT"),
    part: fc.integer({ min: 1, max: 100 }),
    price: fc.integer({ min: 1_000, max: 9_000 }),
  });
  const account = fc.record({
    steps: fc.array(step, { minLength: 20, maxLength: 60 }),
    wallet: amount(5_000_000),
    share: fc.integer({ min: 1, max: 100 }),
  });

  test.each<StrategyType>(["SPOT", "FUTURES"])("a copy never uses more than its balance: %s", (family) => {
    const sent = { opening: 0, reducing: 0 };
    fc.assert(
      fc.property(account, ({ steps, wallet, share }) => {
        const bench = new CopyBench(family, rulesOf(family));
        bench.strategy.wallet = decimal("10000");
        bench.copy.wallet = wallet as Amount;
        bench.settings = { ...bench.settings, share: ((BigInt(share) * ONE) / 100n) as Rate };
        for (const symbol of ["BTCUSDT", "ETHUSDT"]) bench.prices.set(symbol, decimal("5000"));
        for (const each of steps) {
          const sized = carryOut(bench, each);
          if (sized === null) continue;
          sent[sized.opening > 0n ? "opening" : "reducing"] += 1;
          expect(bench.available, "more than there is").toBeGreaterThanOrEqual(0n);
          const use = useOf(bench);
          if (sized.opening > 0n) expect(use.inUse, "more than its share").toBeLessThanOrEqual(use.share);
          if (family === "FUTURES") continue;
          for (const [symbol, { quantity }] of bench.copy.holdings) {
            expect(quantity, "sold more than was held").toBeGreaterThanOrEqual(0n);
            expect(restingSells(bench, symbol), "sold twice").toBeLessThanOrEqual(quantity);
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(sent.opening).toBeGreaterThan(500);
    expect(sent.reducing).toBeGreaterThan(100);
  });
});

type DrawnStep = {
  readonly verb: string;
  readonly symbol: string;
  readonly part: number;
  readonly price: number;
};

/** One step, as the strategy could take it; what was sent for it. Prices of contracts stand still: losses are no use of money. */
function carryOut(bench: CopyBench, { verb, symbol, part, price: drawn }: DrawnStep): Sized | null {
  const [oldest] = bench.resting.keys();
  const isSpot = bench.family === "SPOT";
  const limit = BigInt(drawn) * ONE;
  if (verb === "fill" && oldest !== undefined) {
    const placement = bench.resting.get(oldest)?.placement;
    if (placement !== undefined) bench.fill(oldest, placement.price);
    return null;
  }
  if (verb === "cancel" && oldest !== undefined) bench.cancel(oldest);
  if (verb === "price" && isSpot) bench.prices.set(symbol, limit as Price);
  if (!/buy|sell/.test(verb) || (verb.startsWith("limit") && !isSpot)) return null;
  const isBuy = verb.endsWith("buy");
  const isLimit = verb.startsWith("limit");
  const at = isLimit ? limit : (bench.prices.get(symbol) ?? 1n);
  const free = strategyFree(bench);
  const most = isSpot && !isBuy ? unsold(bench, symbol) : (free * ONE) / at;
  const quantity = (most * BigInt(part)) / 100n;
  if (quantity <= 0n) return null;
  const scaled = bench.place({
    symbol,
    side: isBuy ? "BUY" : "SELL",
    orderType: isLimit ? "LIMIT" : "MARKET",
    quantity: quantity as Quantity,
    price: (isLimit ? at : ZERO) as Price,
    stopPrice: ZERO,
    reduceOnly: false,
    leverage: isSpot ? null : 3,
  });
  return scaled.kind === "SIZED" ? scaled : null;
}

/** What the strategy could still pay with. */
function strategyFree(bench: CopyBench): bigint {
  const bids = [...bench.resting.values()]
    .filter(({ placement }) => placement.side === "BUY")
    .reduce((sum, { placement }) => sum + (placement.price * placement.quantity) / ONE + 1n, 0n);
  const free = bench.strategy.wallet - bids - ONE;
  return free > 0n ? free : 0n;
}

function unsold(bench: CopyBench, symbol: string): bigint {
  const asks = [...bench.resting.values()]
    .filter(({ placement }) => placement.symbol === symbol && placement.side === "SELL")
    .reduce((sum, { placement }) => sum + placement.quantity, 0n);
  return bench.strategy.held(symbol) - asks;
}

function restingSells(bench: CopyBench, symbol: string): bigint {
  return [...bench.resting.values()]
    .filter(({ placement }) => placement.symbol === symbol && placement.side === "SELL")
    .reduce((sum, { copied }) => sum + (copied?.quantity ?? 0n), 0n);
}

/** What the copy has in use and what its share of everything is, at the prices of now. */
function useOf(bench: CopyBench): { readonly inUse: bigint; readonly share: bigint } {
  const { wallet, holdings } = bench.copy;
  const { share } = bench.settings;
  // Margins, and bids, are rounded up one by one.
  const slack = BigInt(holdings.size + bench.resting.size + 2);
  if (bench.family === "FUTURES")
    return { inUse: wallet - bench.available, share: (wallet * share) / ONE + slack };
  const worth = [...holdings].reduce(
    (sum, [symbol, { quantity }]) => sum + quantity * (bench.prices.get(symbol) ?? 0n),
    0n,
  );
  const bids = [...bench.resting.values()].reduce((sum, { copied }) => sum + (copied?.worth ?? 0n), 0n);
  return { inUse: worth / ONE + bids, share: ((wallet * ONE + worth) * share) / (ONE * ONE) + slack };
}

function rulesOf(family: StrategyType): readonly SymbolRules[] {
  return family === "SPOT"
    ? [symbolRules("BTC"), symbolRules("ETH")]
    : [contractRules("BTC"), contractRules("ETH")];
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
