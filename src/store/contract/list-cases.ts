// What the lists of orders, trades and legs answer between bounds, all of them included: of rows 1–12 of the
// times 100, 200, … 1200, of which the fifth is of another symbol.
import type { OrderQuery } from "../ports/trading.ts";

/** The bounds of such a list: `from` is an id. */
export type Bounds = Omit<OrderQuery, "symbol" | "fromOrderId"> & { readonly from?: number };

export const LIST_CASES: readonly (readonly [string, Bounds, readonly number[]])[] = [
  ["no bound: the newest, newest last", { limit: 3 }, [10, 11, 12]],
  ["no bound and room for all: all", { limit: 100 }, [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]],
  ["from an id: the oldest from there, it included", { from: 4, limit: 3 }, [4, 6, 7]],
  ["from an id beyond the last: none", { from: 13, limit: 3 }, []],
  ["from a time: the oldest from there, it included", { startTime: 900, limit: 2 }, [9, 10]],
  ["from just after a time: the next", { startTime: 901, limit: 2 }, [10, 11]],
  ["until a time: the newest up to there, it included", { endTime: 900, limit: 2 }, [8, 9]],
  ["between two times: the oldest", { startTime: 200, endTime: 400, limit: 2 }, [2, 3]],
  ["between two times with room: all", { startTime: 200, endTime: 700, limit: 9 }, [2, 3, 4, 6, 7]],
  ["a span that ends before it starts: none", { startTime: 700, endTime: 200, limit: 9 }, []],
  [
    "between two times, told to keep the newest",
    { startTime: 200, endTime: 700, limit: 2, keeps: "NEWEST" },
    [6, 7],
  ],
  ["from an id, told to keep the newest", { from: 4, limit: 2, keeps: "NEWEST" }, [11, 12]],
  ["until a time, told to keep the oldest", { endTime: 900, limit: 2, keeps: "OLDEST" }, [1, 2]],
  ["no bound, told to keep the oldest", { limit: 3, keeps: "OLDEST" }, [1, 2, 3]],
  ["an id and times: both hold", { from: 7, startTime: 300, endTime: 900, limit: 9 }, [7, 8, 9]],
];
