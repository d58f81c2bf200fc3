// Scaling against an independent definition in exact fractions (`testing/scale-definition.ts`). Whatever the
// order, the copy and the venue's rules: the size sent is never above the scaled size, never raised, on the
// venue's steps, within all bounds and within the available funds. For want of funds it is all that can be
// paid for, if that covers 98 % of the cost of the size that would be sent otherwise (of futures: of its
// margin); or nothing.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import { EXACT_SETTINGS } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { type Amount, decimal, type Price, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import type { ScaleInput } from "./proportion.ts";
import { type Sized, scaleOrder, type Unsized } from "./scale-order.ts";
import { amount, anyBounded, anyFlip, anyInput } from "./testing/any-scale-input.ts";
import { CopyBench } from "./testing/copy-bench.ts";
import {
  bareFor,
  definitionOf,
  freedBy,
  onStep,
  paidFor,
  roomOf,
  stepOf,
  wholeOf,
} from "./testing/scale-definition.ts";

const RUNS = 4_000;
const ONE = 100_000_000n;
/** Of contracts here. */
const STEP = 100_000n;
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
          if (checkCut(input, scaled)) counts.set("CUT", (counts.get("CUT") ?? 0) + 1);
          return;
        }
        const { wanted, had, reason } = scaled.skip;
        if (wanted !== null && had !== null) expect(wanted).toBeGreaterThan(had);
        if (reason.startsWith("INSUFFICIENT_")) checkShortfall(input, scaled);
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
      "CUT",
    ])
      expect(counts.get(name) ?? 0, name).toBeGreaterThan(10);
  });

  test("an order through zero is paid for with what it frees, as far as that goes", () => {
    const counts = { whole: 0, leftOut: 0 };
    fc.assert(
      fc.property(anyFlip, (input) => {
        const scaled = scaleOrder(input);
        if (scaled.kind === "SKIPPED") return;
        checkSize(input, scaled);
        checkRules(input, scaled);
        checkFunds(input, scaled);
        if (scaled.leftOut !== null) counts.leftOut += 1;
        else if (scaled.worth > roomOf(input, 0n)) counts.whole += 1;
      }),
      { numRuns: RUNS },
    );
    expect(counts.whole).toBeGreaterThan(500);
    expect(counts.leftOut).toBeGreaterThan(50);
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
          // A size larger by a whole step may cost more than the sale brought in, or be more than the venue
          // takes.
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

describe("whatever a copier has set", () => {
  test("nothing that opens is above any bound, and no bound holds back an exit", () => {
    const counts = new Map<string, number>();
    const count = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
    fc.assert(
      fc.property(anyBounded, (input) => {
        const scaled = scaleOrder(input);
        const { leftOut } = scaled.kind === "SIZED" ? scaled : { leftOut: scaled.skip };
        if (leftOut !== null) count(leftOut.reason);
        const unbounded = scaleOrder({ ...input, settings: EXACT_SETTINGS });
        const isExit = unbounded.kind === "SIZED" && unbounded.opening === 0n && unbounded.leftOut === null;
        if (isExit && definitionOf(input).opening === 0n) {
          count("EXIT");
          expect(scaled).toEqual(unbounded);
        }
        if (scaled.kind === "SKIPPED" || scaled.opening === 0n) return;
        count(input.settings.size.by);
        checkBounds(input, scaled);
      }),
      { numRuns: RUNS },
    );
    for (const name of [
      ...["RATIO", "FIXED_RATIO", "FIXED_AMOUNT", "EXIT"],
      ...["ABOVE_POSITION_MAX", "ABOVE_EXPOSURE_MAX", "SYMBOL_NOT_ALLOWED", "SLIPPAGE"],
    ])
      expect(counts.get(name) ?? 0, name).toBeGreaterThan(20);
  });

  test("the sum of a ladder of exits is the strategy's, whichever side fills first", () => {
    const rung = fc.record({
      /** In percent of what the strategy has not promised. */
      part: fc.integer({ min: 1, max: 100 }),
      fillsCopy: fc.boolean(),
      fillsBoth: fc.boolean(),
    });
    const position = fc.integer({ min: 1_000, max: 50_000 }).map((units) => BigInt(units) * STEP);
    fc.assert(
      fc.property(
        position,
        position,
        fc.array(rung, { minLength: 2, maxLength: 6 }),
        (theirs, ours, rungs) => {
          const bench = new CopyBench("FUTURES", rulesOf("FUTURES"));
          bench.prices.set("BTCUSDT", decimal("100"));
          bench.strategy.holdings.set("BTCUSDT", { quantity: theirs as Quantity, cost: ZERO });
          bench.copy.holdings.set("BTCUSDT", { quantity: ours as Quantity, cost: ZERO });
          bench.changeRules("BTCUSDT", { notional: null });
          let [wanted, copied] = [0n, 0n];
          for (const { part, fillsCopy, fillsBoth } of rungs) {
            const quantity = ((theirs - wanted) * BigInt(part)) / 100n;
            if (quantity <= 0n) break;
            const scaled = bench.place({
              ...{ symbol: "BTCUSDT", side: "SELL", orderType: "LIMIT", reduceOnly: true, leverage: 1 },
              ...{ quantity: quantity as Quantity, price: decimal("101"), stopPrice: ZERO },
            });
            wanted += quantity;
            if (scaled.kind === "SIZED") copied += scaled.quantity;
            const [oldest, resting] = [...bench.resting].find(([, { copied: copy }]) => copy !== null) ?? [];
            if (oldest === undefined || resting === undefined) continue;
            if (fillsBoth) bench.fill(oldest, resting.placement.price);
            else if (fillsCopy) bench.fillCopy(oldest);
          }
          expect(copied * theirs, "more than in proportion").toBeLessThanOrEqual(ours * wanted);
          const missing = (ours * wanted) / theirs - copied;
          expect(missing, "more is missing than was snapped").toBeLessThanOrEqual(
            STEP * BigInt(rungs.length),
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** Against the copier's settings, reckoned with nothing rounded. */
function checkBounds(input: ScaleInput, { opening, quantity, worth, price }: Sized): void {
  const { settings, placement, holdings, prices, restingOnSymbol, type } = input;
  const isSpot = type === "SPOT";
  const isBuy = placement.side === "BUY";
  const market = prices.get("BTCUSDT") ?? 0n;
  const at = placement.orderType === "MARKET" || (!isSpot && !isBuy && market > price) ? market : price;
  const other = (holdings.get("ETHUSDT")?.quantity ?? 0n) * (prices.get("ETHUSDT") ?? 0n);
  const others = other < 0n ? -other : other;
  const own = holdings.get("BTCUSDT")?.quantity ?? 0n;
  const onSide = own > 0n === isBuy ? (own < 0n ? -own : own) : 0n;
  const whole = input.wallet * ONE + (isSpot ? own * market + others : 0n);
  const shared = (whole * settings.share) / ONE;
  const budget = settings.budget === null ? shared : settings.budget * ONE;
  const equity = shared < budget ? shared : budget;
  const resting = isBuy ? restingOnSymbol.buys : restingOnSymbol.sells;
  const position = (onSide + opening + (isSpot && !isBuy ? 0n : resting)) * at;
  if (settings.positionMax !== null)
    expect(position * ONE, "above the bound for a position").toBeLessThanOrEqual(
      equity * settings.positionMax,
    );
  const open = isSpot ? input.restingWorth : input.restingElsewhere;
  if (settings.exposureMax !== null)
    expect((position + others + open * ONE) * ONE, "above the exposure").toBeLessThanOrEqual(
      equity * settings.exposureMax,
    );
  const { size, leverageMax, slippageMax } = settings;
  const opened = definitionOf(input).opening;
  if (size.by === "FIXED_RATIO" && opened > 0n && opening === quantity)
    expect(opening * ONE).toBeLessThanOrEqual(opened * size.ratio);
  if (size.by === "FIXED_AMOUNT" && opening === quantity)
    expect(opening * at).toBeLessThanOrEqual(size.amount * ONE);
  if (!isSpot && leverageMax !== null)
    expect(worth * ONE * BigInt(leverageMax), "margin at a higher leverage").toBeGreaterThanOrEqual(
      opening * at,
    );
  expect(settings.symbols).toBeNull();
  const { filled } = placement;
  if (filled === null || slippageMax === null) return;
  const worse = isBuy ? market - filled.price : filled.price - market;
  expect(worse * ONE, "above the slippage").toBeLessThanOrEqual(filled.price * slippageMax.major);
}

function sizedAs({ type }: ScaleInput, { leftOut, opening, quantity }: Sized): string {
  if (leftOut !== null) return "LEFT OUT";
  return opening > 0n && opening < quantity ? "THROUGH ZERO" : `SIZED ${type}`;
}

function checkSize(input: ScaleInput, sized: Sized): void {
  const definition = definitionOf(input);
  expect(sized.quantity).toBeGreaterThan(0n);
  expect(sized.quantity).toBeLessThanOrEqual(sized.scaledQuantity);
  expect(definition.isWithinScale(sized.scaledQuantity), "above the scaled size").toBe(true);
  if (definition.opening === 0n)
    expect(sized.quantity, "reduced more than is held").toBeLessThanOrEqual(definition.reducible);
  if (input.opensNot !== null || sized.leftOut !== null) expect(sized.opening).toBe(0n);
  if (input.type === "FUTURES" && input.placement.orderType === "MARKET" && definition.opening === 0n)
    expect(sized.reduceOnly).toBe(true);
}

/**
 * Whether it was cut for want of funds: where no more than 2 % of what the opening part takes are missing,
 * then snapped.
 */
function checkCut(input: ScaleInput, sized: Sized): boolean {
  if (sized.opening === 0n) return false;
  const { whole, opening } = wholeOf(input, sized.scaledQuantity);
  expect(sized.quantity, "above what would be sent with enough money").toBeLessThanOrEqual(whole);
  const cut = onStep(input, whole - opening + (opening * 98n + 99n) / 100n);
  if (input.type === "SPOT") expect(sized.quantity, "cut by more than 2 %").toBeGreaterThanOrEqual(cut);
  if (sized.quantity === whole) return false;
  const least = (bareFor(input, opening) * 98n) / 100n;
  expect(roomOf(input, whole - opening), "more than 2 % were missing").toBeGreaterThanOrEqual(least);
  // One step more would be too much for what there is.
  const more = sized.opening + (stepOf(input) || 1n);
  const room = roomOf(input, whole - opening);
  expect(paidFor(input, more), "cut by more than was needed").toBeGreaterThan(room - 4n);
  return true;
}

/** Where 98 % of what is wanted are there, what they would buy is too little for the venue. */
function checkShortfall(input: ScaleInput, { skip, quantity, scaledQuantity }: Unsized): void {
  const [wanted, had] = [skip.wanted ?? 0n, skip.had ?? 0n];
  expect(quantity).not.toBeNull();
  const { whole, opening } = wholeOf(input, scaledQuantity ?? 0n);
  expect(quantity).toBe(whole);
  expect(wanted).toBeGreaterThanOrEqual(paidFor(input, opening));
  expect(had).toBe(roomOf(input, whole - opening));
  if (had * 1_000n < (input.type === "SPOT" ? wanted : bareFor(input, opening) + 1n) * 981n) return;
  // Of fewer than a thousand units, rounding down may cost the tenth of a percent between 98 % and that.
  if (input.type === "SPOT" && opening < 1_000n) return;
  const cut = onStep(input, whole - opening + (opening * had) / wanted - 10n);
  const { placement, rules } = input;
  const isMarket = placement.orderType === "MARKET";
  const at = isMarket ? definitionOf(input).market : placement.price;
  const isTooLittle =
    cut <= whole - opening ||
    [rules?.lotSize, isMarket ? rules?.marketLotSize : null].some(
      (each) => cut < (each?.minQuantity ?? 0n),
    ) ||
    (cut * at) / ONE < (rules?.notional?.minNotional ?? 0n);
  expect(isTooLittle, "skipped though it could be cut").toBe(true);
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
  const closed = sized.quantity - sized.opening;
  expect(sized.worth).toBeLessThanOrEqual(roomOf(input, closed));
  expect(sized.worth).toBeGreaterThanOrEqual(paidFor(input, sized.opening));
  const { maxPerOrder } = input.settings;
  const isThroughZero = sized.opening < sized.quantity;
  if (maxPerOrder !== null && !isThroughZero)
    expect(sized.quantity * at, "above the bound for an order").toBeLessThanOrEqual(maxPerOrder * ONE);
  const freed = freedBy(input, closed);
  const locked = input.wallet - input.available;
  const spotInUse = own * market + input.restingWorth * ONE;
  const inUse = input.type === "SPOT" ? spotInUse : (locked > freed ? locked - freed : 0n) * ONE;
  const least =
    input.type === "SPOT" ? sized.opening * at : (sized.opening * at) / BigInt(input.placement.leverage ?? 1);
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

  test.each<StrategyType>(["SPOT", "FUTURES"])("a copy never uses more than its balance: %s", (type) => {
    const sent = { opening: 0, reducing: 0 };
    fc.assert(
      fc.property(account, ({ steps, wallet, share }) => {
        const bench = new CopyBench(type, rulesOf(type));
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
          if (type === "FUTURES") continue;
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

/**
 * One step, as the strategy could take it; returns what was sent for it. Prices of contracts are constant:
 * losses use no money.
 */
function carryOut(bench: CopyBench, { verb, symbol, part, price: drawn }: DrawnStep): Sized | null {
  const [oldest] = bench.resting.keys();
  const isSpot = bench.type === "SPOT";
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

/** The strategy's remaining funds. */
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

/** The copy's used funds and its share of everything, at present prices. */
function useOf(bench: CopyBench): { readonly inUse: bigint; readonly share: bigint } {
  const { wallet, holdings } = bench.copy;
  const { share } = bench.settings;
  // Margins, and bids, are rounded up one by one.
  const slack = BigInt(holdings.size + bench.resting.size + 2);
  if (bench.type === "FUTURES")
    return { inUse: wallet - bench.available, share: (wallet * share) / ONE + slack };
  const worth = [...holdings].reduce(
    (sum, [symbol, { quantity }]) => sum + quantity * (bench.prices.get(symbol) ?? 0n),
    0n,
  );
  const bids = [...bench.resting.values()].reduce((sum, { copied }) => sum + (copied?.worth ?? 0n), 0n);
  return { inUse: worth / ONE + bids, share: ((wallet * ONE + worth) * share) / (ONE * ONE) + slack };
}

function rulesOf(type: StrategyType): readonly SymbolRules[] {
  return type === "SPOT"
    ? [symbolRules("BTC"), symbolRules("ETH")]
    : [contractRules("BTC"), contractRules("ETH")];
}
