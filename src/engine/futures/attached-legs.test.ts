// Attached legs beyond the scenarios: the records of its order, and entries of older databases.
import { expect, test } from "vitest";
import { decodeEvents, decodeOrder, encodeOrder } from "../../store/codec.ts";
import { apply } from "../apply.ts";
import { FUTURES } from "../testing/futures-setup.ts";
import { Workbench } from "../testing/workbench.ts";

const BEFORE = ["mark BTCUSDT 60000", "quote BTCUSDT 59999.9 60000"];

test("an entry's order records its legs, which are named after it", () => {
  const bench = benchAfter("buy 0.02 BTCUSDT @ 59000 tp 62000 sl 58000");
  expect(bench.account.openOrders.get(1)?.legs).toMatchObject([
    { legId: 2, clientLegId: "stopLoss/1", type: "STOP_MARKET" },
    { legId: 3, clientLegId: "takeProfit/1", type: "TAKE_PROFIT_MARKET" },
  ]);
  expect([...bench.account.openLegs.values()]).toMatchObject([
    { legId: 2, clientLegId: "stopLoss/1", side: "SELL", status: "PENDING", entryId: 1 },
    { legId: 3, clientLegId: "takeProfit/1", side: "SELL", status: "PENDING", entryId: 1 },
  ]);
});

test("an entry without legs records none", () => {
  expect(benchAfter("buy 0.02 BTCUSDT @ 59000").account.openOrders.get(1)).not.toHaveProperty("legs");
});

test.each([
  ["are armed", [], "pending leg 2, then pending leg 3, then armed leg 2, then armed leg 3"],
  [
    "say why not",
    ["buy 0.01 BTCUSDT", "stop sell BTCUSDT 57000"],
    "pending leg 4, then pending leg 5, then expired leg 4 LEG_EXISTS, then armed leg 5",
  ],
] as const)(
  "the legs of an entry from before they had rows %s when it is filled",
  (_what, steps, outcome) => {
    const bench = benchAfter("buy 0.02 BTCUSDT @ 59000");
    const resting = bench.account.openOrders.get(1);
    if (resting === undefined) throw new Error("the entry rests");
    const written = {
      ...JSON.parse(encodeOrder(resting)),
      attached: { takeProfitPrice: "62000", stopLossPrice: "58000" },
    };
    bench.account.openOrders.set(1, decodeOrder(JSON.stringify(written)));
    for (const step of steps) bench.take(step);
    const filled = bench.take("quote BTCUSDT 58999.9 59000").outcome;
    expect(filled.endsWith(`maker, then ${outcome}`), filled).toBe(true);
  },
);

test("canceled with its entry, such legs leave nothing", () => {
  const bench = benchAfter("buy 0.02 BTCUSDT @ 59000");
  expect(bench.take("cancel 1").outcome).toBe("canceled 1");
});

test("a journal from before legs had reasons replays: they ended for none that is known", () => {
  const { account } = benchAfter("buy 0.02 BTCUSDT sl 58000 tp 62000");
  const [canceled, expired] = decodeEvents(
    JSON.stringify([
      { type: "LegCanceled", at: 1, legId: 2, postings: [] },
      { type: "LegExpired", at: 1, legId: 3, postings: [] },
    ]),
  );
  if (canceled === undefined || expired === undefined) throw new Error("there are two events");
  for (const [event, status] of [
    [canceled, "CANCELED"],
    [expired, "EXPIRED"],
  ] as const) {
    const { leg } = apply(account, event);
    expect(leg).toMatchObject({ status });
    expect(leg).not.toHaveProperty("endReason");
  }
});

function benchAfter(step: string): Workbench {
  const bench = new Workbench(FUTURES);
  for (const each of [...BEFORE, step]) bench.take(each);
  return bench;
}
