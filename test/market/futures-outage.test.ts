// Positions, legs and limits during ten hours without market data, in which the market falls by three percent
// and funding is settled. The oracle applies the tables' minutes by itself: mark prices beyond a liquidation
// price or a trigger, in order of time, are executed afterwards, once, and so is a limit that was traded
// through.
import { beforeAll, describe, expect, test } from "vitest";
import type { SeededStrategy } from "../../src/keys/seed.ts";
import type { Tape } from "../../src/market/tape/open.ts";
import { decimalText, signedUnits } from "../support/exact.ts";
import { seededRandom } from "../support/random.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { cleanFixtures, eventual, type Life, openLife, openManualTape, TURN_MS } from "./fixture.ts";
import {
  fundingOf,
  readMinutes,
  readSettlements,
  type TableMinute,
  type TableSettlement,
  WITHOUT_HISTORY,
  writeHistoryTape,
} from "./history.ts";
import {
  bankruptcyPriceOf,
  fundingPaid,
  type Holder,
  hold,
  isLong,
  liquidationPriceOf,
  riskOf,
  setLeverage,
} from "./holding.ts";
import { SYMBOL } from "./recorded.ts";

const SEED = 613;
const SPEED = 1_800;
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** In the middle of a minute, so that both edges are parts of minutes. */
const LOST_AT = Date.UTC(2025, 5, 12, 20, 0, 30);
/** At the last word of a minute about its best prices. */
const BACK_AT = Date.UTC(2025, 5, 13, 6, 0, 59);
const SPAN = { from: LOST_AT - 2 * HOUR, to: BACK_AT + 4 * HOUR };
const TICK = signedUnits("0.1");
const HOLDERS = 30;
const QUANTITY = "0.005";
const LEVERAGES = [5n, 25n, 40n, 75n, 125n];
/** How far from the price of the beginning triggers lie, in thousandths of it. */
const DISTANCES = [3n, 6n, 11n, 17n, 24n, 29n, 36n];
/** What the market reaches only in part. */
const BIDS = ["106600.3", "105500.5", "104300.7", "103300.9", "99000.1"];
const ASKS = ["106900.3", "108800.7"];
/** In the minutes after it nothing more is triggered. */
const AFTERWARDS = 300 * SECOND;
/** Minimum number of cases for each outcome. */
const SEEN_MIN = 2;

/** Of the program's own time, while what was missed is made up for. */
const SLOW_TURN_MS = 10;

type Outage = {
  readonly isUp: boolean;
  lose(tape: Tape, life: Life): Promise<void>;
  /** Returns the life that continues. */
  regain(tape: Tape, life: Life, dataDir: string): Promise<Life>;
};

const CUT: Outage = {
  isUp: true,
  async lose(tape) {
    tape.silence();
    tape.refuseConnections(true);
    tape.dropConnections();
  },
  async regain(tape, life) {
    tape.resume();
    tape.refuseConnections(false);
    return life;
  },
};

const SILENT: Outage = {
  isUp: true,
  lose: async (tape) => tape.silence(SYMBOL),
  async regain(tape, life) {
    tape.resume();
    return life;
  },
};

const STOPPED: Outage = {
  isUp: false,
  lose: (_tape, life) => life.stop(),
  regain: (tape, _life, dataDir) => openLife(tape, { dataDir, type: "FUTURES", speed: SPEED }),
};

const KILLED: Outage = { ...STOPPED, lose: (_tape, life) => life.kill() };

type Leg = { readonly type: "STOP_MARKET" | "TAKE_PROFIT_MARKET"; readonly trigger: bigint };
type Bet = { readonly holder: Holder; readonly legs: readonly Leg[] };
/** The outcome of a position: how it ends and at what price; null if it stays open. */
type Fate = {
  readonly end: "LIQUIDATION" | Leg["type"] | null;
  readonly price: bigint | null;
  /** What was settled while it was held. */
  readonly settled: readonly TableSettlement[];
};

cleanFixtures();

describe.skipIf(WITHOUT_HISTORY !== "")(`an outage of a contract${WITHOUT_HISTORY}`, () => {
  let minutes: readonly TableMinute[];

  beforeAll(() => {
    minutes = readMinutes();
  });

  test.each([
    ["the stream is cut", CUT],
    ["the contract is silent", SILENT],
    ["the program is stopped", STOPPED],
    ["the program is killed", KILLED],
  ] as const)(
    `while %s for hours: mark prices and trades of that time decide (seed ${SEED})`,
    async (_what, outage) => {
      const tape = await openManualTape({
        file: writeHistoryTape({ publishedAfterMs: 5 * SECOND, ...SPAN }),
      });
      const dataDir = newDirectory();
      const first = await openLife(tape, { dataDir, type: "FUTURES", speed: SPEED });
      await first.playTo(LOST_AT);
      const bets = await placeBets(first);
      const limits = await placeLimits(first);

      const missed = minutes.filter(({ markedAt }) => markedAt > LOST_AT && markedAt <= BACK_AT);
      const present = presentOf(minutes);
      const settled = readSettlements().filter(({ dueAt }) => dueAt > LOST_AT && dueAt <= BACK_AT);
      expect([missed.length, settled.length]).toEqual([600, 1]);
      const fates = bets.map((bet) => [bet, fateOf(bet, missed, settled, present)] as const);
      const reached = limits.filter((limit) => isTradedThrough(limit, missed));

      await outage.lose(tape, first);
      await (outage.isUp ? first.missTo(BACK_AT) : tape.advanceTo(BACK_AT));
      const life = await outage.regain(tape, first, dataDir);
      const ended = fates.flatMap(([{ holder }, { end }]) => (end === null ? [] : [holder.strategy]));
      await untilTraded(life, tape, present, [
        ...ended.map((each) => [each, 2] as const),
        ...reached.map(({ strategy }) => [strategy, 1] as const),
      ]);

      const seen = { LIQUIDATION: 0, STOP_MARKET: 0, TAKE_PROFIT_MARKET: 0, open: 0 };
      for (const [bet, fate] of fates) {
        await expectFate(life, bet, fate);
        seen[fate.end ?? "open"] += 1;
      }
      for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThanOrEqual(SEEN_MIN);
      expect(reached.length).toBeGreaterThanOrEqual(SEEN_MIN);
      expect(reached.length).toBeLessThan(limits.length);
      for (const limit of limits) await expectLimit(life, limit, reached.includes(limit));

      // Nothing is executed a second time when the market continues, and nothing else is.
      const all = [...bets.map(({ holder }) => holder.strategy), ...limits.map(({ strategy }) => strategy)];
      const before = await tradeCounts(life, all);
      await life.playTo(BACK_AT + AFTERWARDS);
      await life.turn(TURN_MS);
      expect(await tradeCounts(life, all)).toEqual(before);
    },
  );
});

/** Positions with all sorts of leverage and legs, on either side. */
async function placeBets(life: Life): Promise<readonly Bet[]> {
  const random = seededRandom(SEED);
  const oneOf = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(random() * values.length)];
    if (value === undefined) throw new Error("there is nothing to choose from");
    return value;
  };
  const bets: Bet[] = [];
  for (const strategy of await life.seed(HOLDERS)) {
    const sign = random() < 0.5 ? 1n : -1n;
    const holder = await hold(life, strategy, sign > 0n ? QUANTITY : `-${QUANTITY}`, oneOf(LEVERAGES));
    const legs: Leg[] = [
      {
        type: "STOP_MARKET",
        trigger: random() < 0.4 ? brinkOf(holder) : priceAt(holder, -sign * oneOf(DISTANCES)),
      },
      { type: "TAKE_PROFIT_MARKET", trigger: priceAt(holder, sign * oneOf(DISTANCES)) },
    ];
    const placed = legs.filter(() => random() < 0.7);
    for (const { type, trigger } of placed) {
      const side = sign > 0n ? "SELL" : "BUY";
      await life.call(strategy, "POST", "/fapi/v1/algoOrder", {
        symbol: SYMBOL,
        side,
        type,
        triggerPrice: decimalText(trigger),
        closePosition: "true",
        algoType: "CONDITIONAL",
      });
    }
    bets.push({ holder, legs: placed });
  }
  return bets;
}

/** So many thousandths away from where the position was entered, on the grid of ticks. */
function priceAt({ entryPrice }: Holder, thousandths: bigint): bigint {
  return ((entryPrice * (1_000n + thousandths)) / 1_000n / TICK) * TICK;
}

/**
 * The last tick before the position ends: a minute that reaches it mostly goes beyond the end, which comes
 * first then.
 */
function brinkOf(holder: Holder): bigint {
  const ticks = liquidationPriceOf(holder, holder.wallet) / TICK;
  return (isLong(holder) ? ticks + 1n : ticks) * TICK;
}

/** Goes through the minutes in the order of time; funding comes first in its own. */
function fateOf(
  { holder, legs }: Bet,
  minutes: readonly TableMinute[],
  settlements: readonly TableSettlement[],
  present: Present,
): Fate {
  let { wallet } = holder;
  const settled: TableSettlement[] = [];
  for (const { markedAt, mark: text } of minutes) {
    for (const settlement of settlements.filter(({ dueAt }) => dueAt === markedAt)) {
      wallet += fundingOf(holder.quantity, settlement);
      settled.push(settlement);
    }
    const mark = signedUnits(text);
    const isBelow = (price: bigint) => mark < price;
    const isAbove = (price: bigint) => mark > price;
    const [isAgainst, isFor] = isLong(holder) ? [isBelow, isAbove] : [isAbove, isBelow];
    const liquidation = liquidationPriceOf(holder, wallet);
    if (isAgainst(liquidation)) {
      const bankruptcy = bankruptcyPriceOf(holder, wallet);
      const isBeyond = mark === bankruptcy || isAgainst(bankruptcy);
      return { end: "LIQUIDATION", price: isBeyond ? bankruptcy : liquidation, settled };
    }
    const isReached = { STOP_MARKET: isAgainst, TAKE_PROFIT_MARKET: isFor };
    const fired = legs.find(({ type, trigger }) => isReached[type](trigger));
    if (fired !== undefined) {
      return { end: fired.type, price: isLong(holder) ? present.bid : present.ask, settled };
    }
  }
  return { end: null, price: null, settled };
}

/** The market's prices when it is back. */
type Present = { readonly bid: bigint; readonly ask: bigint; readonly mark: string };

function presentOf(minutes: readonly TableMinute[]): Present {
  const traded = minutes.find(({ tradedAt }) => tradedAt === BACK_AT);
  const marked = minutes.findLast(({ markedAt }) => markedAt <= BACK_AT);
  if (traded === undefined || marked === undefined) throw new Error("the tables have no such minute");
  const ask = signedUnits(traded.close);
  return { bid: ask - TICK, ask, mark: marked.mark };
}

/** Funding is paid for what was held when it was due: positions that ended earlier in the outage pay none. */
async function expectFate(life: Life, { holder, legs }: Bet, fate: Fate): Promise<void> {
  const { strategy, quantity } = holder;
  const { positionAmt } = await riskOf(life, strategy);
  const trades = await tradesOf(life, strategy);
  const rows = await life.call(strategy, "GET", "/fapi/v1/allAlgoOrders", { symbol: SYMBOL });
  const statuses = Object.fromEntries(
    rows.map((row: { orderType: string; algoStatus: string }) => [row.orderType, row.algoStatus]),
  );
  const wanted = legs.map(({ type }) => {
    const other = fate.end === null ? "NEW" : "CANCELED";
    return [type, type === fate.end ? "FINISHED" : other];
  });
  expect({
    fate,
    isOpen: signedUnits(positionAmt) !== 0n,
    trades: trades.slice(1).map(({ price }) => signedUnits(price)),
    statuses,
    funding: await fundingPaid(life, strategy, LOST_AT),
  }).toEqual({
    fate,
    isOpen: fate.end === null,
    trades: fate.price === null ? [] : [fate.price],
    statuses: Object.fromEntries(wanted),
    funding: fate.settled.map((each) => [each.fundingTime, decimalText(fundingOf(quantity, each))]),
  });
  if (fate.end === null) expect(signedUnits(positionAmt)).toBe(signedUnits(quantity));
}

type Limit = {
  readonly strategy: SeededStrategy;
  readonly orderId: number;
  readonly side: string;
  readonly price: string;
};

/** Each on a strategy of its own. */
async function placeLimits(life: Life): Promise<readonly Limit[]> {
  const wanted = [...BIDS.map((price) => ["BUY", price]), ...ASKS.map((price) => ["SELL", price])] as const;
  const limits: Limit[] = [];
  for (const [index, strategy] of (await life.seed(wanted.length)).entries()) {
    const [side = "", price = ""] = wanted[index] ?? [];
    await setLeverage(life, strategy, 5n);
    const terms = { symbol: SYMBOL, side, type: "LIMIT", timeInForce: "GTC", quantity: QUANTITY, price };
    const { orderId } = await life.call(strategy, "POST", "/fapi/v1/order", terms);
    limits.push({ strategy, orderId, side, price });
  }
  return limits;
}

function isTradedThrough({ side, price }: Limit, minutes: readonly TableMinute[]): boolean {
  const trades = minutes.map(({ close }) => signedUnits(close));
  return trades.some((each) => (side === "BUY" ? each < signedUnits(price) : each > signedUnits(price)));
}

async function expectLimit(life: Life, limit: Limit, isReached: boolean): Promise<void> {
  const { strategy, orderId, price } = limit;
  const order = await life.call(strategy, "GET", "/fapi/v1/order", { symbol: SYMBOL, orderId: `${orderId}` });
  const trades = await tradesOf(life, strategy);
  expect({
    ...limit,
    status: order.status,
    trades: trades.map((each) => [signedUnits(each.price), each.maker]),
  }).toEqual({
    ...limit,
    status: isReached ? "FILLED" : "NEW",
    trades: isReached ? [[signedUnits(price), true]] : [],
  });
}

/**
 * Resolves when strategies have this many trades. The market is constant and alive in that time; the
 * program's own time advances slowly, since it does not wait for history without limit.
 */
async function untilTraded(
  life: Life,
  tape: Tape,
  present: Present,
  wanted: readonly (readonly [strategy: SeededStrategy, trades: number])[],
): Promise<void> {
  const quote = { b: decimalText(present.bid), a: decimalText(present.ask) };
  const pending = [...wanted];
  let count = 0;
  await eventual(
    async () => {
      await life.turn(life.market.status().connected ? SLOW_TURN_MS : TURN_MS);
      count += 1;
      const ticker = { e: "bookTicker", u: 10 ** 9 + count, s: SYMBOL, ...quote, B: "1", A: "1" };
      tape.sendRaw("btcusdt@bookTicker", { ...ticker, T: BACK_AT, E: BACK_AT }, "FUTURES");
      const mark = { e: "markPriceUpdate", E: BACK_AT + count, s: SYMBOL, p: present.mark, i: present.mark };
      tape.sendRaw("btcusdt@markPrice@1s", { ...mark, r: "0", T: 0 }, "FUTURES");
      const [strategy, trades] = pending[0] ?? [];
      if (strategy !== undefined && (await tradesOf(life, strategy)).length === trades) pending.shift();
      return pending.length;
    },
    (left) => left === 0,
  );
  await life.probe();
}

type TradeRow = { readonly price: string; readonly maker: boolean };

async function tradesOf(life: Life, strategy: SeededStrategy): Promise<readonly TradeRow[]> {
  return await life.call(strategy, "GET", "/fapi/v1/userTrades", { symbol: SYMBOL });
}

async function tradeCounts(life: Life, strategies: readonly SeededStrategy[]): Promise<readonly number[]> {
  const counts: number[] = [];
  for (const strategy of strategies) counts.push((await tradesOf(life, strategy)).length);
  return counts;
}
