// A copy that is stopped without being closed: orders that would open something are canceled, closing orders
// stay, and the log records it.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal, type Price } from "../../money/decimal.ts";
import { audit, type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";

let stage: CopiesStage;
beforeEach(async () => {
  stage = await openCopiesStage();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

const isWithdrawn = async (copier: Copier) =>
  (await stage.entries(copier)).some(({ kind }) => kind === "WITHDRAW");
const failureOf = async ({ copyId }: Copier) =>
  (await stage.store.copying.listRequests(copyId, 10)).find(({ kind }) => kind === "WITHDRAW")?.failure;

describe("on spot", () => {
  let strategy: string;
  let copier: Copier;
  beforeEach(async () => {
    strategy = await stage.strategy("SPOT");
    await stage.start();
    copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.001"));
    await stage.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await stage.does(strategy, places("SELL", "0.0005", { at: "110000" }));
  });
  const statuses = async () =>
    (await stage.venue.orders(copier.account, "BTCUSDT")).map(({ side, status }) => `${side} ${status}`);
  const withdrawn = [
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "PLACE BUY LIMIT 0.0005 CANCELED",
    "PLACE SELL LIMIT 0.0005 LEFT",
    "WITHDRAW DONE",
  ];

  test("a bid is canceled, an ask stays and is not queried any more", async () => {
    await stage.stopCopy(copier, strategy);
    await stage.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await stage.log(copier)).toEqual(withdrawn);
    expect(await failureOf(copier)).toBeNull();
    expect(await statuses()).toEqual(["BUY FILLED", "BUY CANCELED", "SELL NEW"]);
    const { copyId } = copier;
    expect(await stage.store.copying.listOpenEntries({ copyId })).toEqual([]);
    await stage.does(strategy, places("BUY", "0.0002"));
    expect(await stage.log(copier)).toEqual(withdrawn);
  });

  test("what is left to do is done by the next process, however late", async () => {
    await stage.stop();
    await stage.stopCopy(copier, strategy);
    stage.time.advance(2 * 3_600_000);
    await stage.start();
    await stage.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await stage.log(copier)).toEqual(withdrawn);
  });

  test("also of a strategy that is closed in the meantime", async () => {
    await stage.stop();
    await stage.stopCopy(copier, strategy);
    await stage.does(strategy, { type: "CloseStrategy" });
    await stage.start();
    await stage.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await stage.log(copier)).toEqual(withdrawn);
    await stage.passes(3_000);
    expect(await stage.claimed()).toEqual([]);
  });

  test("an order that was sent before the stop, and not recorded, is found and taken back", async () => {
    const cut = stage.cutRecording();
    await stage.does(strategy, places("BUY", "0.0003", { at: "80000" }), false);
    stage.wake(strategy);
    await cut;
    stage.abandon();
    stage.seams.recordProgress = stage.store.copying.recordProgress;
    await stage.stopCopy(copier, strategy);
    await stage.start();
    await stage.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect((await stage.log(copier)).slice(3)).toEqual(["PLACE BUY LIMIT 0.0003 CANCELED", "WITHDRAW DONE"]);
    expect((await statuses()).at(-1)).toBe("BUY CANCELED");
  });

  test("a kill switch puts it off", async () => {
    await stage.halt(strategy);
    await stage.stopCopy(copier, strategy);
    await stage.passes(20_000);
    expect(await isWithdrawn(copier)).toBe(false);
    expect(await statuses()).toEqual(["BUY FILLED", "BUY NEW", "SELL NEW"]);
    await stage.unhalt(strategy);
    await stage.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await stage.log(copier)).toEqual(withdrawn);
  });

  const given = [
    "PLACE BUY LIMIT 0.0005 LEFT",
    "PLACE SELL LIMIT 0.0005 LEFT",
    "WITHDRAW SKIPPED CREDENTIALS",
  ];

  test("a key that the venue rejects in the meantime leaves everything, and says so", async () => {
    await stage.revoke(copier);
    await stage.stopCopy(copier, strategy);
    await stage.waitFor("it is given up", () => isWithdrawn(copier));
    expect((await stage.log(copier)).slice(1)).toEqual(given);
    expect(await failureOf(copier)).toContain("key");
    expect(stage.told).toEqual([]);
  });

  test("an account that is disconnected in the meantime leaves everything, and says so", async () => {
    await stage.stop();
    await stage.stopCopy(copier, strategy);
    const { accountId, personId } = await stage.copy(copier);
    const ended = { accountId, personId, at: stage.time.now() };
    expect(await stage.store.copying.disconnectAccount(ended, audit(accountId))).toBe(true);
    await stage.start();
    await stage.waitFor("it is given up", () => isWithdrawn(copier));
    expect((await stage.log(copier)).slice(1)).toEqual(given);
    expect(await failureOf(copier)).toContain("key");
  });
});

test("of a contract legs stay, and of what closes no more than is held", async () => {
  const strategy = await stage.strategy("FUTURES");
  await stage.start();
  const copier = await stage.copier(strategy, "FUTURES");
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("90000") };
  await stage.does(strategy, {
    ...places("BUY", "0.002"),
    entry: { reduceOnly: false, leverage: null, attached },
  });
  await stage.does(strategy, places("SELL", "0.002", { at: "110000" }));
  await stage.does(strategy, places("SELL", "0.001", { at: "111000" }));
  await stage.does(strategy, {
    ...places("SELL", "0.001", { at: "112000" }),
    entry: { reduceOnly: true, leverage: null, attached: null },
  });
  await stage.stopCopy(copier, strategy);
  await stage.waitFor("it is withdrawn", () => isWithdrawn(copier));
  expect(await stage.log(copier)).toEqual([
    "PLACE BUY MARKET 0.002 FILLED executed 0.002",
    "PLACE_LEG SELL STOP_MARKET LEFT",
    "PLACE SELL LIMIT 0.002 LEFT",
    "PLACE SELL LIMIT 0.001 CANCELED",
    "PLACE SELL LIMIT 0.001 LEFT",
    "WITHDRAW DONE",
  ]);
  const account = await stage.venue.store.loadAccount(copier.account.strategyId);
  expect(account?.account.openLegs.size).toBe(1);
  expect(account?.account.openOrders.size).toBe(2);
});
