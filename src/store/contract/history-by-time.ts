// Orders, trades and legs are listed by time without visiting the rows of other times.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Account, DISORDER_MS_MAX } from "../../domain/account.ts";
import { legOf } from "./futures-records.ts";
import { accountOf, commitOf, orderOf, tradeOf, upTo } from "./records.ts";
import { commit, create, type Opened } from "./store-under-test.ts";

const ROWS = 20_000;
const SECOND_MS = 1_000;
const RUNS = 15;
const SYMBOLS = ["BTCUSDT", "ETHUSDT"] as const;

export function historyByTimeCases(opened: Opened): void {
  describe("reading history by time", () => {
    const { store } = opened;

    // One trade has the time of rows that are hours away from it: a list that returns it has visited it.
    test("rows outside of the times are not visited", async () => {
      await create(store, "one");
      const account = accountOf("one");
      const misplaced = new Map([
        [100, 15_005],
        [19_900, 5_005],
      ]);
      const timeOf = (id: number) => (misplaced.get(id) ?? id) * SECOND_MS;
      const trades = upTo(ROWS).map((id) => tradeOf(id, 1, { at: timeOf(id) }));
      await commit(store, [commitOf(account, 2, { orders: [orderOf(1)], trades })]);
      const idsOf = async (query: { startTime?: number; endTime?: number; keeps?: "NEWEST" | "OLDEST" }) =>
        (await store.listTrades("one", { symbol: "BTCUSDT", limit: 12, ...query })).map(
          ({ tradeId }) => tradeId,
        );
      expect(await idsOf({ startTime: 15_000 * SECOND_MS })).toEqual(upTo(15_011).slice(14_999));
      expect(await idsOf({ endTime: 5_010 * SECOND_MS })).toEqual(upTo(5_010).slice(4_998));
      expect(await idsOf({ startTime: 15_001 * SECOND_MS, endTime: 15_009 * SECOND_MS })).toEqual(
        upTo(15_009).slice(15_000),
      );
      expect(await idsOf({ startTime: ROWS * SECOND_MS + 1 })).toEqual([]);
      expect(await idsOf({ endTime: SECOND_MS - 1 })).toEqual([]);
    });

    // Below the ids from which times ascend they are in any order, as after a tape that was played twice.
    const row = fc.record({
      symbol: fc.constantFrom(...SYMBOLS),
      stepMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * DISORDER_MS_MAX })),
      lateMs: fc.integer({ min: 0, max: DISORDER_MS_MAX }),
      anyTime: fc.integer({ min: 0, max: 100 * DISORDER_MS_MAX }),
    });
    const time = fc.option(fc.double({ min: -0.05, max: 1.05, noNaN: true }), { nil: undefined });
    const query = fc.record({
      symbol: fc.constantFrom(...SYMBOLS, "XRPUSDT"),
      from: fc.option(fc.nat({ max: 130 }), { nil: undefined }),
      startTime: time,
      endTime: time,
      limit: fc.integer({ min: 1, max: 40 }),
      keeps: fc.constantFrom("OLDEST", "NEWEST", undefined),
    });

    test("lists are what a filter over all rows answers, for any times, limits and orders", async () => {
      let strategies = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(row, { maxLength: 120 }),
          fc.nat({ max: 130 }),
          fc.array(query, { minLength: 1, maxLength: 25 }),
          async (rows, below, queries) => {
            const strategyId = `strategy-${++strategies}`;
            await create(store, strategyId);
            let now = 0;
            const times = rows.map(({ stepMs, lateMs, anyTime }, index) => {
              now += stepMs;
              return index + 1 < below ? anyTime : now - Math.min(now, lateMs);
            });
            const at = (index: number) => ({
              at: times[index] ?? 0,
              symbol: rows[index]?.symbol ?? SYMBOLS[0],
            });
            const all = {
              orders: rows.map((_, index) => orderOf(index + 1, at(index))),
              trades: rows.map((_, index) => tradeOf(index + 1, 1, at(index))),
              legs: rows.map((_, index) => legOf(index + 1, at(index))),
            };
            await commit(store, [commitOf(ascendingFrom(accountOf(strategyId), below), 2, all)]);
            const last = Math.max(1, ...times);
            for (const { from, startTime, endTime, ...asked } of queries) {
              const wanted = {
                ...asked,
                ...(startTime !== undefined && { startTime: Math.floor(startTime * last) }),
                ...(endTime !== undefined && { endTime: Math.floor(endTime * last) }),
              };
              const expected = expectedIds(rows, times, { ...wanted, from });
              const found = {
                orders: await store.listOrders(strategyId, { ...wanted, fromOrderId: from }),
                trades: await store.listTrades(strategyId, { ...wanted, fromTradeId: from }),
                legs: await store.listLegs(strategyId, { ...wanted, fromLegId: from }),
              };
              expect(found.orders.map(({ orderId }) => orderId)).toEqual(expected);
              expect(found.trades.map(({ tradeId }) => tradeId)).toEqual(expected);
              expect(found.legs.map(({ legId }) => legId)).toEqual(expected);
            }
          },
        ),
        { numRuns: RUNS },
      );
    });
  });
}

function ascendingFrom(account: Account, id: number): Account {
  account.ascendsFrom = { orderId: Math.max(1, id), tradeId: Math.max(1, id) };
  return account;
}

type Asked = {
  readonly symbol: string;
  readonly from: number | undefined;
  readonly startTime?: number;
  readonly endTime?: number;
  readonly limit: number;
  readonly keeps: "OLDEST" | "NEWEST" | undefined;
};

function expectedIds(
  rows: readonly { readonly symbol: string }[],
  times: readonly number[],
  { symbol, from, startTime, endTime, limit, keeps }: Asked,
): number[] {
  const ids = rows.flatMap((each, index) => {
    const [id, at] = [index + 1, times[index] ?? 0];
    const isWithin = at >= (startTime ?? 0) && at <= (endTime ?? Number.POSITIVE_INFINITY);
    return each.symbol === symbol && id >= (from ?? 1) && isWithin ? [id] : [];
  });
  const isOldest = keeps === undefined ? (from ?? startTime) !== undefined : keeps === "OLDEST";
  return isOldest ? ids.slice(0, limit) : ids.slice(-limit);
}
