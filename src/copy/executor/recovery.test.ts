// One request of a copy was in flight when its process ended. Its outcome is resolved before anything else is
// sent.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import type { CopyRequest } from "../../domain/copying.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { NOT_FOUND_AFTER_MS } from "./submit.ts";

let fixture: CopiesFixture;
let proxy: FaultProxy;
/** Whether the venue shows no order of the spot market that is queried by its id. */
let hidesOrders: boolean;

beforeEach(async () => {
  hidesOrders = false;
  fixture = await openCopiesFixture({
    through: async (url) => {
      proxy = await FaultProxy.open(url, {
        rule: ({ route }) =>
          hidesOrders && route === "GET /api/v3/order" ? { answer: { status: 400, body: unknown } } : {},
      });
      return proxy.url;
    },
  });
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

const unknown = JSON.stringify({ code: -2013, msg: "Order does not exist." });

async function asksForRepair({ copyId }: Copier, strategy: string): Promise<void> {
  const asked: CopyRequest = {
    requestId: "repair",
    copyId,
    kind: "REPAIR",
    mayIncrease: true,
    askedAt: fixture.time.now(),
    doneAt: null,
    failure: null,
  };
  await fixture.store.copying.addRequest(asked, null);
  await fixture.peopleChanged(strategy);
}

const repairOf = async ({ copyId }: Copier) => (await fixture.store.copying.listRequests(copyId, 5))[0];

describe("a repair that was sent and not recorded", () => {
  let strategy: string;
  let copier: Copier;

  beforeEach(async () => {
    strategy = await fixture.strategy("SPOT");
    await fixture.start();
    copier = await fixture.copier(strategy, "SPOT");
    await fixture.halt(strategy);
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.unhalt(strategy);
    const cut = fixture.cutRecording();
    await asksForRepair(copier, strategy);
    await cut;
  });

  const orders = () => fixture.venue.orders(copier.account, "BTCUSDT");

  test("is recorded before the strategy's later actions are executed", async () => {
    fixture.abandon();
    await fixture.does(strategy, places("SELL", "0.00099"), false);
    await fixture.restart();
    await fixture.waitFor("both are done", async () => {
      const { doneSeq } = await fixture.copy(copier);
      return doneSeq === 2 && (await repairOf(copier))?.doneAt !== null;
    });
    const log = await fixture.log(copier);
    expect(log[1]).toContain("REPAIR BUY MARKET");
    expect(log[2]).toContain("PLACE SELL MARKET");
    expect(log[2]).toContain("FILLED");
    expect((await orders()).map(({ side }) => side)).toEqual(["BUY", "SELL"]);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
    expect((await repairOf(copier))?.failure).toBeNull();
  });

  test("is recorded although the copy was stopped in the meantime", async () => {
    fixture.abandon();
    const change = {
      copyId: copier.copyId,
      from: ["FOLLOWING"],
      status: "STOPPED",
      reason: "COPIER",
    } as const;
    await fixture.store.copying.changeCopy(
      { ...change, at: fixture.time.now() },
      {
        who: { kind: "SERVICE" },
        what: "COPY_STARTED",
        about: { kind: "COPY", id: copier.copyId },
        at: 0,
        details: {},
      },
    );
    await fixture.restart();
    await fixture.waitFor("the request is over", async () => (await repairOf(copier))?.doneAt !== null);
    expect((await fixture.log(copier)).at(-1)).toContain("REPAIR BUY MARKET");
    const owned = await fixture.owned(copier, "BTC");
    await fixture.waitFor("its fee is known", async () => (await fixture.holds(copier, "BTCUSDT")) === owned);
  });
});

test("a copy that is being closed sells what an order that was not recorded has bought", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  const cut = fixture.cutRecording();
  await fixture.does(strategy, places("BUY", "0.001"), false);
  fixture.wake(strategy);
  await cut;
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.restart();
  await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect(await fixture.log(copier)).toEqual([
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099",
  ]);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
});

test("a leg that had waited, was sent and not recorded is found, and taken back with the strategy's", async () => {
  const strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  const copier = await fixture.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("90000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  const orderId = await fixture.does(strategy, { ...places("BUY", "0.002", { at: "95000" }), entry });
  const seen = decimal<Price>("95000");
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, seen, seenAt: fixture.time.now() });
  const [legId = 0] = (await fixture.store.loadAccount(strategy))?.account.openLegs.keys() ?? [];
  const [first] = await fixture.entries(copier);
  await fixture.venue.fill(copier.account, first?.venueOrderId ?? "", "95000");
  const legs = async () =>
    (await fixture.venue.store.loadAccount(copier.account.strategyId))?.account.openLegs.size;
  // The poll that finds the position is recorded; the leg is not.
  const real = fixture.store.copying.recordProgress;
  fixture.seams.recordProgress = (strategyId, holder, progress) => {
    const isLeg = progress.some(({ entries }) =>
      entries.some((entry) => entry.kind === "PLACE_LEG" && entry.venueOrderId !== null),
    );
    return isLeg ? new Promise(() => {}) : real(strategyId, holder, progress);
  };
  await fixture.waitFor("the leg is at the venue", async () => (await legs()) === 1);
  await fixture.does(strategy, { type: "CancelLeg", legId }, false);
  await fixture.lead();
  await fixture.eventually(
    "the copies could know of it",
    async () => (await fixture.store.copying.findLead(strategy))?.seq === 4,
  );
  await fixture.restart();
  await fixture.waitFor("it is dealt with", async () => (await fixture.copy(copier)).doneSeq === 4);
  // On a busy machine the venue's answer comes late: the leg is then unconfirmed until it was asked for.
  await fixture.waitFor(
    "the leg is confirmed",
    async () => !(await fixture.log(copier)).some((line) => line.endsWith("UNCONFIRMED")),
  );
  expect(await legs()).toBe(0);
  expect((await fixture.log(copier)).slice(2)).toEqual([
    "PLACE_LEG SELL STOP_MARKET CANCELED",
    "CANCEL_LEG SELL STOP_MARKET DONE",
  ]);
});

test("an order that the venue does not know for a moment stays open, and is recorded when it is filled", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  const orderId = await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
  const line = async () => (await fixture.log(copier))[0];
  expect(await line()).toBe("PLACE BUY LIMIT 0.0005 RESTING");
  await fixture.passes(10_000);
  hidesOrders = true;
  const seen = decimal<Price>("90000");
  await fixture.does(strategy, { type: "FillRestingOrder", orderId, seen, seenAt: fixture.time.now() });
  // Now it may have been executed: it is neither over nor sent again.
  const isMissed = async () => (await line()) === "PLACE BUY LIMIT 0.0005 UNCONFIRMED UNCONFIRMED";
  await fixture.waitFor("it is missed", isMissed);
  hidesOrders = false;
  await fixture.waitFor("it is shown", async () => (await line()) === "PLACE BUY LIMIT 0.0005 RESTING");
  const [first] = await fixture.entries(copier);
  await fixture.venue.fill(copier.account, first?.venueOrderId ?? "", "90000");
  const isFilled = async () => (await line()) === "PLACE BUY LIMIT 0.0005 FILLED executed 0.0005";
  await fixture.waitFor("it is recorded", isFilled);
  const owned = await fixture.owned(copier, "BTC");
  await fixture.waitFor("its fee is known", async () => (await fixture.holds(copier, "BTCUSDT")) === owned);
  expect(await fixture.venue.orders(copier.account, "BTCUSDT")).toHaveLength(1);
});

test("a cancel that the venue has refused is repeated by the next poll", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  const orderId = await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
  // The first poll of a process catches up on what may have been missed before.
  await fixture.passes(20_000);
  await fixture.ask(copier, strategy, { kind: "REPAIR" });
  const body = JSON.stringify({ code: -1099, msg: "Not now." });
  proxy.plan("DELETE /api/v3/order", { answer: { status: 400, body } });
  await fixture.does(strategy, { type: "CancelOrder", orderId });
  const status = async () => (await fixture.venue.orders(copier.account, "BTCUSDT"))[0]?.status;
  await fixture.waitFor("it is cancelled after all", async () => (await status()) === "CANCELED");
  // The strategy's cancel was refused, or the reconciler's, which knew of it first.
  expect(proxy.seen.filter((route) => route === "DELETE /api/v3/order")).toHaveLength(2);
});

describe("a stop", () => {
  let strategy: string;
  let copier: Copier;
  const legs = async () =>
    [
      ...((await fixture.venue.store.loadAccount(copier.account.strategyId))?.account.openLegs.values() ??
        []),
    ].map(({ clientLegId }) => clientLegId);
  const entry = {
    reduceOnly: false,
    leverage: null,
    attached: { takeProfitPrice: null, stopLossPrice: decimal<Price>("90000") },
  };

  beforeEach(async () => {
    strategy = await fixture.strategy("FUTURES");
    await fixture.start();
    copier = await fixture.copier(strategy, "FUTURES");
  });

  test("does not wait for the outcome of an exit before it", async () => {
    await fixture.does(strategy, places("BUY", "0.004"));
    proxy.plan("POST /fapi/v1/order", { answer: { status: 503, body: "" } });
    await fixture.does(strategy, places("SELL", "0.001"), false);
    await fixture.does(strategy, { ...places("BUY", "0.001"), entry }, false);
    fixture.wake(strategy);
    await fixture.eventually("the stop is there", async () => (await legs()).length === 1);
    const exit = (await fixture.entries(copier)).find(({ side }) => side === "SELL");
    expect(exit).toMatchObject({ kind: "PLACE", status: "SENT" });
    await fixture.waitFor("all is done", async () => (await fixture.copy(copier)).doneSeq === 4);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.004");
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY MARKET 0.004 FILLED executed 0.004",
      "PLACE SELL MARKET 0.001 FILLED executed 0.001",
      "PLACE BUY MARKET 0.001 FILLED executed 0.001",
      expect.stringMatching(/^PLACE_LEG SELL STOP_MARKET RESTING/),
    ]);
    expect(await legs()).toHaveLength(1);
  });

  test("of the next position waits for the outcome of an order that may close this one", async () => {
    await fixture.does(strategy, places("BUY", "0.002"));
    proxy.plan("POST /fapi/v1/order", { answer: { status: 503, body: "" } });
    await fixture.does(strategy, places("SELL", "0.004"), false);
    await fixture.does(strategy, { ...places("BUY", "0.004"), entry }, false);
    fixture.wake(strategy);
    await fixture.eventually("all is in the log", async () => (await fixture.entries(copier)).length === 4);
    const atRest = fixture.restWatch();
    await fixture.eventually("nothing goes on", () => atRest() >= 100);
    expect(proxy.seen).not.toContain("POST /fapi/v1/algoOrder");
    await fixture.waitFor("all is done", async () => (await fixture.copy(copier)).doneSeq === 4);
    // The order that was lost is not sent again: the stop waits for nothing else.
    await fixture.waitFor("it has its stop", async () => (await legs()).length === 1);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.002");
    const log = await fixture.log(copier);
    expect(log[1]).toBe("PLACE SELL MARKET 0.004 SKIPPED STOP_FIRST");
    expect(log).toContain("RECONCILE SELL MARKET 0.002 FILLED executed 0.002");
    expect(log.at(-1)).toMatch(/^PLACE_LEG SELL STOP_MARKET (SENT|RESTING)/);
  });

  test("whose request is lost on its way is sent again at once, under the same id", async () => {
    proxy.plan("POST /fapi/v1/algoOrder", { cut: "BEFORE" });
    const at = fixture.time.now();
    await fixture.does(strategy, { ...places("BUY", "0.002"), entry }, false);
    await fixture.waitFor("it is there", async () => (await legs()).length === 1);
    expect(fixture.time.now() - at).toBeLessThan(NOT_FOUND_AFTER_MS);
  });

  test.each([
    ["", async () => {}],
    [", also by the next process", () => fixture.restart()],
  ])(
    "whose request was lost and that was sent again is canceled again should it come after it was canceled%s",
    async (_, between) => {
      const leg = "/fapi/v1/algoOrder";
      proxy.plan(`POST ${leg}`, { cut: "BEFORE" });
      await fixture.does(strategy, { ...places("BUY", "0.002"), entry }, false);
      await fixture.waitFor("it is there", async () => (await legs()).length === 1);
      const [clientLegId] = await legs();
      const [legId = 0] = (await fixture.store.loadAccount(strategy))?.account.openLegs.keys() ?? [];
      await fixture.does(strategy, { type: "CancelLeg", legId }, false);
      fixture.wake(strategy);
      await fixture.eventually("it is canceled", async () => (await legs()).length === 0);
      const isDealtWith = async () => (await fixture.copy(copier)).doneSeq === 3;
      await fixture.eventually("nothing waits for it", isDealtWith);
      await between();
      // The venue has it again, by the first request.
      const body = {
        symbol: "BTCUSDT",
        algoId: 9,
        clientAlgoId: clientLegId,
        algoStatus: "NEW",
        updateTime: 1,
      };
      proxy.plan(`GET ${leg}`, { answer: { status: 200, body: JSON.stringify(body) } });
      proxy.seen.length = 0;
      const canceled = () => proxy.seen.filter((route) => route === `DELETE ${leg}`).length;
      await fixture.waitFor("it is canceled again", () => canceled() === 1);
      const leftOf = async () => (await fixture.log(copier)).slice(1);
      await fixture.waitFor("it is over", async () => `${(await leftOf())[0]}`.includes("CANCELED"));
      expect(await leftOf()).toEqual([
        expect.stringMatching(/^PLACE_LEG SELL STOP_MARKET CANCELED/),
        "CANCEL_LEG SELL STOP_MARKET DONE",
      ]);
      await fixture.passes(60_000);
      expect(canceled()).toBe(1);
    },
  );
});
