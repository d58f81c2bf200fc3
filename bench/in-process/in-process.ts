// The cost of the pure parts, each beside the lower bound of its work: printed as JSON. A program of its own,
// so that it can be pinned and starts cold.
import { createHmac, createSecretKey } from "node:crypto";
import type { StrategyType } from "../../src/domain/account.ts";
import type { Quote } from "../../src/domain/market.ts";
import type { Price } from "../../src/money/decimal.ts";
import { decimal } from "../../src/money/decimal.ts";
import { TriggerIndex } from "../../src/triggers/trigger-index.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import { bookKb, FollowedBook, PlainMaps, restingOrderKb, walkUs } from "./books.ts";
import { decisionsPerSecond } from "./decisions.ts";
import { FUTURES_DECISIONS } from "./futures-decisions.ts";
import { MarkTicks } from "./mark-ticks.ts";
import { plainReceiptsPerSecond, receiptsPerSecond } from "./receipts.ts";
import { SPOT_DECISIONS, STRICT_DECISIONS } from "./spot-decisions.ts";

export type InProcess = {
  readonly decisionsPerSecond: Spread;
  readonly futuresDecisionsPerSecond: Spread;
  readonly signaturesPerSecond: Spread;
  /** A tick that hits nothing, by number of open orders. */
  readonly ticks: readonly { readonly resting: number; readonly ns: Spread }[];
  readonly bareTickNs: Spread;
  /** A mark price that hits none of many positions, and one that liquidates one of them. */
  readonly idleMarkNs: Spread;
  readonly liquidatingMarkUs: Spread;
  readonly strictDecisionsPerSecond: Spread;
  /**
   * Diffs of books, by strategy type and number of open orders under `strict`, and the same changes in plain
   * maps.
   */
  readonly diffs: readonly (RestingUs & { readonly type: StrategyType })[];
  readonly plainDiffUs: { readonly [T in StrategyType]: Spread };
  /**
   * Trades that fill nobody: at a price where nobody waits, by number of open orders, and at the limit of
   * some.
   */
  readonly trades: readonly { readonly resting: number; readonly ns: Spread }[];
  readonly tradeAtLimitNs: Spread;
  readonly walkUs: Spread;
  /** The heap of an open order under `strict` in its queue, by number of symbols, and of a followed book. */
  readonly restingOrderKb: readonly { readonly symbols: number; readonly kb: Spread }[];
  readonly bookKb: Spread;
  readonly receiptsPerSecond: Spread;
  readonly plainReceiptsPerSecond: Spread;
};
type RestingUs = { readonly resting: number; readonly us: Spread };

const SIGNATURES = 50_000;
const SYMBOLS = 500;
const RESTING = [0, 10_000, 100_000] as const;
const TICKS = 1_000_000;

const [repeatsText] = process.argv.slice(2);
const repeats = Number(repeatsText);
if (!(repeats >= 1)) throw new Error("usage: the number of repetitions, at least 1");

/** Open orders under `strict`, on one symbol. */
const OPEN_ORDERS = 100_000;
const HEAP_SYMBOLS = [1, 50] as const;
const FOLLOWED = (["SPOT", "FUTURES"] as const).flatMap((type) =>
  [0, OPEN_ORDERS].map((resting) => ({ type, resting })),
);

const BID = decimal<Price>("99.99");
const ASK = decimal<Price>("100.01");

function signatures(): number {
  const key = createSecretKey("0123456789abcdef".repeat(4), "utf8");
  const message =
    "symbol=DOGEUSDT&side=BUY&type=MARKET&quantity=161&recvWindow=10000&timestamp=1790000000000";
  const start = performance.now();
  for (let count = 0; count < SIGNATURES; count += 1) {
    createHmac("sha256", key).update(message, "latin1").digest("hex");
  }
  return SIGNATURES / ((performance.now() - start) / 1_000);
}

const symbols = Array.from({ length: SYMBOLS }, (_, index) => `COIN${index}USDT`);
const lists = RESTING.map((resting) => indexOf(resting / SYMBOLS));
const quotes: Quote[] = Array.from({ length: 16 }, (_, index) => ({
  bid: (BID - BigInt(index)) as Price,
  ask: (ASK + BigInt(index)) as Price,
}));

/** Buyers from 90 down and sellers from 110 up, in random order, this many per symbol. */
function indexOf(restingPerSymbol: number): TriggerIndex {
  const list = new TriggerIndex();
  for (const symbol of symbols) {
    for (let count = 0; count < restingPerSymbol; count += 1) {
      const condition = count % 2 === 0 ? "ASK_FALLS" : "BID_RISES";
      const distance = BigInt((count * 7_919) % restingPerSymbol) * 1_000_000n;
      const price = (
        condition === "ASK_FALLS" ? 9_000_000_000n - distance : 11_000_000_000n + distance
      ) as Price;
      list.add({ strategyId: symbol, kind: "LIMIT", id: count, symbol, condition, price, since: 0 });
    }
  }
  return list;
}

function ticks(list: TriggerIndex): number {
  let crossed = 0;
  const start = performance.now();
  for (let count = 0; count < TICKS; count += 1) {
    const quote = quotes[count & 15];
    const symbol = symbols[count % SYMBOLS];
    if (quote !== undefined && symbol !== undefined) crossed += list.takeAtQuote(symbol, quote).length;
  }
  const elapsedMs = performance.now() - start;
  if (crossed > 0) throw new Error("these ticks cross nothing");
  return (elapsedMs * 1_000_000) / TICKS;
}

const tops = new Map(symbols.map((symbol) => [symbol, { buy: 9_000_000_000n, sell: 11_000_000_000n }]));

function bareTicks(): number {
  let crossed = 0;
  const start = performance.now();
  for (let count = 0; count < TICKS; count += 1) {
    const quote = quotes[count & 15];
    const symbol = symbols[count % SYMBOLS];
    const top = symbol === undefined ? undefined : tops.get(symbol);
    if (quote === undefined || top === undefined || quote.ask === null || quote.bid === null) continue;
    if (quote.ask <= top.buy || quote.bid >= top.sell) crossed += 1;
  }
  const elapsedMs = performance.now() - start;
  if (crossed > 0) throw new Error("these ticks cross nothing");
  return (elapsedMs * 1_000_000) / TICKS;
}

/** Measures several things alternately; the first run of each warms the compiler up. */
function inTurns(measures: readonly (() => number)[]): Spread[] {
  const values: number[][] = measures.map(() => []);
  for (let turn = 0; turn <= repeats; turn += 1) {
    measures.forEach((measure, index) => {
      const value = measure();
      if (turn > 0) values[index]?.push(value);
    });
  }
  return values.map(spreadOf);
}

const marks = new MarkTicks(repeats + 1);

const followed = FOLLOWED.map(({ type, resting }) => new FollowedBook(type, resting));
const maps = { SPOT: new PlainMaps("SPOT"), FUTURES: new PlainMaps("FUTURES") };
const [bookOfNobody, bookOfMany] = [new FollowedBook("SPOT", 0), new FollowedBook("SPOT", OPEN_ORDERS)];

const [
  strictly,
  spotMaps,
  futuresMaps,
  tradeOfNobody,
  trade,
  tradeAtLimit,
  walked,
  receipts,
  plainReceipts,
  ...diffs
] = inTurns([
  () => decisionsPerSecond(STRICT_DECISIONS),
  () => maps.SPOT.diffUs(),
  () => maps.FUTURES.diffUs(),
  () => bookOfNobody.tradeNs(0),
  () => bookOfMany.tradeNs(0),
  () => bookOfMany.tradeNs(1),
  walkUs,
  receiptsPerSecond,
  plainReceiptsPerSecond,
  ...followed.map((book) => () => book.diffUs()),
]);

const [decided, decidedFutures, signed, bareTick, idleMark, liquidatingMark, ...ticked] = inTurns([
  () => decisionsPerSecond(SPOT_DECISIONS),
  () => decisionsPerSecond(FUTURES_DECISIONS),
  signatures,
  bareTicks,
  () => marks.idleNs(),
  () => marks.liquidatingUs(),
  ...lists.map((list) => () => ticks(list)),
]);
const [bookHeap, ...orderHeaps] = inTurns([
  bookKb,
  ...HEAP_SYMBOLS.map((count) => () => restingOrderKb(count)),
]);
process.stdout.write(
  JSON.stringify({
    decisionsPerSecond: measured(decided),
    futuresDecisionsPerSecond: measured(decidedFutures),
    signaturesPerSecond: measured(signed),
    bareTickNs: measured(bareTick),
    idleMarkNs: measured(idleMark),
    liquidatingMarkUs: measured(liquidatingMark),
    strictDecisionsPerSecond: measured(strictly),
    diffs: FOLLOWED.map((each, index) => ({ ...each, us: measured(diffs[index]) })),
    plainDiffUs: { SPOT: measured(spotMaps), FUTURES: measured(futuresMaps) },
    trades: [
      { resting: 0, ns: measured(tradeOfNobody) },
      { resting: OPEN_ORDERS, ns: measured(trade) },
    ],
    tradeAtLimitNs: measured(tradeAtLimit),
    walkUs: measured(walked),
    restingOrderKb: HEAP_SYMBOLS.map((count, index) => ({ symbols: count, kb: measured(orderHeaps[index]) })),
    bookKb: measured(bookHeap),
    receiptsPerSecond: measured(receipts),
    plainReceiptsPerSecond: measured(plainReceipts),
    ticks: RESTING.map((resting, index) => ({ resting, ns: measured(ticked[index]) })),
  } satisfies InProcess),
);

function measured(spread: Spread | undefined): Spread {
  if (spread === undefined) throw new Error("every measure has its spread");
  return spread;
}
