// Orders, copies and rules of any kind, for properties of scaling; half of the orders cost about all that the
// strategy has.
import fc from "fast-check";
import type { StrategyType } from "../../../domain/account.ts";
import { EXACT_SETTINGS, type LeadPlacement, skipOf } from "../../../domain/copying.ts";
import type { LotSize, SymbolRules } from "../../../domain/symbol.ts";
import { contractRules } from "../../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../../engine/testing/market-stub.ts";
import { type Amount, decimal, type Price, type Quantity, type Rate, ZERO } from "../../../money/decimal.ts";
import { NOTHING_RESTS, type ScaleInput } from "../proportion.ts";

const ONE = 100_000_000n;
const STEPS = ["0", "0.00001", "0.0001", "0.0002", "0.0003", "0.001", "0.003"];

export const amount = (max: number) =>
  fc.integer({ min: 0, max }).map((cents) => (BigInt(cents) * ONE) / 100n);
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

export const anyInput: fc.Arbitrary<ScaleInput> = fc
  .record({
    type: fc.constantFrom<StrategyType>("SPOT", "FUTURES"),
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
    /** The entry price, in percent of the market's price. */
    entry: fc.integer({ min: 80, max: 120 }),
    wallet: amount(1_000_000),
    free: fc.integer({ min: 0, max: 100 }),
    share: fc.integer({ min: 1, max: 100 }),
    maxPerOrder: fc.option(amount(200_000), { freq: 2 }),
    resting: fc.record({ worth: amount(1_000), sells: fc.oneof(fc.constant(0n), size) }),
    lotSize: fc.option(lot),
    marketLotSize: fc.option(lot),
    minNotional: amount(2_000),
    isPaused: fc.integer({ min: 0, max: 3 }).map((drawn) => drawn === 0),
    /** The order's cost in 10,000ths of the strategy's funds; null for any size. */
    allIn: fc.option(fc.integer({ min: 9_700, max: 10_300 }), { freq: 2 }),
  })
  .map((drawn) => {
    const isSpot = drawn.type === "SPOT";
    const rules: SymbolRules = {
      ...(isSpot ? symbolRules("BTC") : contractRules("BTC")),
      lotSize: drawn.lotSize,
      marketLotSize: drawn.marketLotSize,
    };
    const positive = (value: bigint) => (isSpot && value < 0n ? -value : value) as Quantity;
    // On spot what is sold is held.
    const theirs = positive(drawn.theirs);
    const allIn = drawn.allIn === null ? 0n : allInOf(drawn, isSpot, BigInt(drawn.allIn));
    const wanted = allIn === 0n ? drawn.quantity : allIn;
    const quantity = isSpot && drawn.side === "SELL" && theirs < wanted ? theirs : wanted;
    const ours = positive(drawn.ours);
    return {
      type: drawn.type,
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
        promised: new Map(),
      },
      settings: {
        ...EXACT_SETTINGS,
        share: ((BigInt(drawn.share) * ONE) / 100n) as Rate,
        maxPerOrder: drawn.maxPerOrder as Amount | null,
      },
      holdings: new Map(ours === 0n ? [] : [["BTCUSDT", { quantity: ours, cost: costOf(ours, drawn) }]]),
      wallet: drawn.wallet as Amount,
      available: ((drawn.wallet * BigInt(drawn.allIn === null ? drawn.free : 100)) / 100n) as Amount,
      restingWorth: (isSpot ? drawn.resting.worth : ZERO) as Amount,
      restingOnSymbol: { ...NOTHING_RESTS, sells: (isSpot ? drawn.resting.sells : 0n) as Quantity },
      restingElsewhere: ZERO,
      accountHeld: isSpot ? ours : ZERO,
      rules: {
        ...rules,
        notional: rules.notional && { ...rules.notional, minNotional: drawn.minNotional as Amount },
      },
      prices: new Map([["BTCUSDT", drawn.market as Price]]),
      opensNot: drawn.isPaused ? skipOf("PAUSED") : null,
    } satisfies ScaleInput;
  });

const bound = (max: number) => fc.option(fc.integer({ min: 1, max }), { freq: 2 });

/** Any order of a copier with limits, beside a holding of another symbol. */
export const anyBounded: fc.Arbitrary<ScaleInput> = fc
  .record({
    base: anyInput,
    size: fc.oneof(
      fc.constant({ by: "RATIO" as const }),
      fc.integer({ min: 1, max: 300 }).map((percent) => ({
        by: "FIXED_RATIO" as const,
        ratio: ((BigInt(percent) * ONE) / 100n) as Rate,
      })),
      amount(200_000).map((each) => ({ by: "FIXED_AMOUNT" as const, amount: (each + ONE) as Amount })),
    ),
    budget: fc.option(amount(500_000), { freq: 2 }),
    leverageMax: bound(20),
    /** In percent. */
    positionMax: bound(500),
    exposureMax: bound(800),
    others: fc.record({ quantity: held, market: price, resting: amount(50_000) }),
    isAllowed: fc.integer({ min: 0, max: 4 }).map((drawn) => drawn > 0),
    /**
     * How far the strategy's own fill is from the venue's price, in 10,000 parts of it; null if it is not
     * filled.
     */
    fill: fc.option(fc.integer({ min: -300, max: 300 })),
    slippage: fc.option(fc.integer({ min: 0, max: 200 })),
  })
  .map(({ base, others, ...drawn }) => {
    const isSpot = base.type === "SPOT";
    const market = base.prices.get("BTCUSDT") ?? 1n;
    const other = (isSpot && others.quantity < 0n ? -others.quantity : others.quantity) as Quantity;
    const rate = (percent: number | null) =>
      percent === null ? null : (((BigInt(percent) * ONE) / 100n) as Rate);
    const isFilled = base.placement.orderType === "MARKET" && drawn.fill !== null;
    const filledAt = (market * (10_000n + BigInt(drawn.fill ?? 0))) / 10_000n;
    const slippage = drawn.slippage === null ? null : (((BigInt(drawn.slippage) * ONE) / 10_000n) as Rate);
    return {
      ...base,
      placement: {
        ...base.placement,
        filled: isFilled ? { quantity: base.placement.quantity, price: filledAt as Price } : null,
      },
      settings: {
        ...base.settings,
        size: drawn.size,
        budget: drawn.budget as Amount | null,
        leverageMax: drawn.leverageMax,
        positionMax: rate(drawn.positionMax),
        exposureMax: rate(drawn.exposureMax),
        symbols: drawn.isAllowed ? null : ["ETHUSDT"],
        slippageMax: slippage === null ? null : { major: slippage, other: ZERO },
      },
      holdings: new Map(base.holdings).set("ETHUSDT", { quantity: other, cost: ZERO }),
      prices: new Map(base.prices).set("ETHUSDT", others.market as Price),
      restingElsewhere: (isSpot ? ZERO : others.resting) as Amount,
      restingOnSymbol: { ...base.restingOnSymbol, openSides: isSpot ? [] : (["BUY", "SELL"] as const) },
    };
  });

/** An order at the market's price through zero, of a position that holds most of both wallets. */
export const anyFlip: fc.Arbitrary<ScaleInput> = fc
  .record({
    base: anyInput.filter(({ type }) => type === "FUTURES"),
    side: fc.constantFrom<"BUY" | "SELL">("BUY", "SELL"),
    market: price,
    leverage: fc.integer({ min: 1, max: 20 }),
    wallet: fc.integer({ min: 1_000, max: 50_000 }).map((units) => BigInt(units) * ONE),
    /**
     * In percent: what of the wallet is in use, what is opened on the other side, and what the position was
     * bought at.
     */
    inUse: fc.integer({ min: 30, max: 99 }),
    opened: fc.integer({ min: 50, max: 110 }),
    entry: fc.integer({ min: 97, max: 103 }),
  })
  .map(({ base, side, market, leverage, wallet, inUse, opened, entry }) => {
    const size = (wallet * BigInt(leverage * inUse) * ONE) / (market * 100n);
    const held = side === "SELL" ? size : -size;
    const cost = costOf(held, { market, entry });
    const locked = cost / BigInt(leverage);
    const quantity = (size + (size * BigInt(opened)) / 100n) as Quantity;
    return {
      ...base,
      placement: {
        ...base.placement,
        side,
        orderType: "MARKET",
        quantity,
        price: ZERO,
        reduceOnly: false,
        leverage,
      },
      lead: { ...base.lead, wallet: wallet as Amount, held: new Map([["BTCUSDT", held as Quantity]]) },
      settings: EXACT_SETTINGS,
      holdings: new Map(held === 0n ? [] : [["BTCUSDT", { quantity: held as Quantity, cost }]]),
      wallet: wallet as Amount,
      available: (locked < wallet ? wallet - locked : 0n) as Amount,
      rules: base.rules && { ...base.rules, lotSize: null, marketLotSize: null },
      prices: new Map([["BTCUSDT", market as Price]]),
      opensNot: null,
    };
  });

/** An order for all of the strategy's wallet, at the price that it would be reckoned at here. */
function allInOf(
  drawn: { isLimit: boolean; limit: bigint; market: bigint; theirWallet: bigint; leverage: number },
  isSpot: boolean,
  parts: bigint,
): bigint {
  const at = drawn.isLimit ? drawn.limit : drawn.market;
  const funds = isSpot ? drawn.theirWallet : drawn.theirWallet * BigInt(drawn.leverage);
  return (funds * ONE * parts) / (at * 10_000n);
}

function costOf(ours: bigint, { market, entry }: { market: bigint; entry: number }): Amount {
  return (((ours < 0n ? -ours : ours) * market * BigInt(entry)) / (ONE * 100n)) as Amount;
}
