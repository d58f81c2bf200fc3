// Control of copies: pauses, kill switches, delays, rejected credentials, stop losses, closings, repairs.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EXACT_SETTINGS } from "../../domain/copying.ts";
import {
  type Amount,
  decimal,
  formatBriefly,
  type Price,
  type Quantity,
  type Rate,
} from "../../money/decimal.ts";
import { audit, type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";
import { order } from "../venue/testing/venue-stage.ts";

let stage: CopiesStage;
let strategy: string;

beforeEach(async () => {
  stage = await openCopiesStage();
  strategy = await stage.strategy("SPOT");
  await stage.start();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a pause", () => {
  test("opens nothing, and still follows cancels and sales", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.0005"));
    const orderId = await stage.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await stage.changeCopy(copier, strategy, "PAUSED", "COPIER");
    await stage.waitFor("the bid is taken back", async () =>
      (await stage.venue.orders(copier.account, "BTCUSDT")).some(({ status }) => status === "CANCELED"),
    );
    await stage.does(strategy, places("BUY", "0.0002"));
    await stage.does(strategy, { type: "CancelOrder", orderId });
    await stage.does(strategy, places("SELL", "0.0004"));
    const log = await stage.log(copier);
    expect(log[1]).toBe("PLACE BUY LIMIT 0.0005 CANCELED PAUSED");
    expect(log[2]).toContain("SKIPPED PAUSED");
    expect(log[3]).toContain("SKIPPED ALREADY_OVER");
    expect(log[4]).toContain("FILLED executed");
  });
});

describe("a kill switch", () => {
  test("sends nothing at all; what was to be cancelled is cancelled once it is lifted", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    const orderId = await stage.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await stage.halt(strategy);
    await stage.does(strategy, places("BUY", "0.0002"));
    await stage.does(strategy, { type: "CancelOrder", orderId });
    expect((await stage.log(copier)).slice(1)).toEqual([
      "PLACE BUY MARKET SKIPPED HALTED",
      "CANCEL BUY LIMIT 0.0005 SKIPPED HALTED",
    ]);
    expect((await stage.venue.orders(copier.account, "BTCUSDT")).map(({ status }) => status)).toEqual([
      "NEW",
    ]);
    await stage.unhalt(strategy);
    await stage.waitFor("the order is cancelled after all", async () => {
      const [order] = await stage.venue.orders(copier.account, "BTCUSDT");
      return order?.status === "CANCELED";
    });
    await stage.waitFor(
      "the log says so",
      async () => (await stage.log(copier))[0]?.includes("OVERTAKEN") === true,
    );
  });
});

describe("what opens and comes too late", () => {
  test("is skipped; a sale is not", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.0005"));
    await stage.stop();
    await stage.does(strategy, places("BUY", "0.0002"));
    await stage.does(strategy, places("SELL", "0.0003"));
    stage.time.advance(61_000);
    await stage.start();
    await stage.waitFor("all is dealt with", async () => (await stage.copy(copier)).doneSeq === 3);
    expect((await stage.log(copier)).slice(1)).toEqual([
      expect.stringContaining("PLACE BUY MARKET SKIPPED TOO_LATE"),
      expect.stringContaining("PLACE SELL MARKET 0.00021 FILLED"),
    ]);
  });
});

describe("credentials that the venue rejects", () => {
  test("pause the copy, mark the account, and notify the copier, once", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    const other = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.0005"));
    await stage.revoke(copier);
    await stage.does(strategy, places("BUY", "0.0002"), false);
    await stage.waitFor("both have dealt with it", async () =>
      (await Promise.all([stage.copy(copier), stage.copy(other)])).every(({ doneSeq }) => doneSeq === 2),
    );
    expect(await stage.copy(copier)).toMatchObject({ status: "PAUSED", reason: "CREDENTIALS" });
    expect((await stage.log(copier))[1]).toContain("SKIPPED CREDENTIALS");
    expect((await stage.log(other))[1]).toContain("FILLED");
    const { accountId } = await stage.copy(copier);
    expect(await stage.store.copying.findAccount(accountId)).toMatchObject({ status: "FAILED" });
    expect(stage.told).toEqual([{ copyId: copier.copyId, reason: "CREDENTIALS" }]);
  });
});

test("a change of one copy waits for no other account", async () => {
  const rejected = await stage.copier(strategy, "SPOT");
  const other = await stage.copier(strategy, "SPOT");
  await stage.revoke(rejected);
  await stage.does(strategy, places("BUY", "0.0005"), false);
  await stage.waitFor("both have dealt with it", async () =>
    (await Promise.all([stage.copy(rejected), stage.copy(other)])).every(({ doneSeq }) => doneSeq === 1),
  );
  const asked: string[] = [];
  stage.seams.findAccount = (accountId) => {
    asked.push(accountId);
    return new Promise(() => {});
  };
  await stage.changeCopy(other, strategy, "PAUSED", "COPIER");
  // Only the account of a copy that held something back is polled.
  expect(asked).toEqual([(await stage.copy(rejected)).accountId]);
  await stage.does(strategy, places("BUY", "0.0002"));
  expect((await stage.log(other)).at(-1)).toContain("SKIPPED PAUSED");
});

describe("a stop loss", () => {
  test("closes everything, pauses the copy, and notifies once", async () => {
    const copier = await stage.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
    await stage.does(strategy, places("BUY", "0.001"));
    await stage.does(strategy, places("BUY", "0.0001", { at: "70000" }));
    stage.pairs.show("BTCUSDT", "79990", "80000");
    await stage.waitFor("the copy is paused", async () => (await stage.copy(copier)).status === "PAUSED");
    expect(await stage.copy(copier)).toMatchObject({ reason: "STOP_LOSS" });
    expect(await stage.log(copier)).toEqual([
      "PLACE BUY MARKET 0.001 FILLED executed 0.001",
      "PLACE BUY LIMIT 0.0001 CANCELED",
      "FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099",
    ]);
    await stage.passes(50_000);
    await stage.ask(copier, strategy, { kind: "LOOK" });
    expect(stage.told).toEqual([{ copyId: copier.copyId, reason: "STOP_LOSS" }]);
    expect(await stage.copy(copier)).toMatchObject({ status: "PAUSED" });
  });
});

test("a stop loss that has acted counts from what was left then", async () => {
  const copier = await stage.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
  await stage.does(strategy, places("BUY", "0.001"));
  stage.pairs.show("BTCUSDT", "79990", "80000");
  await stage.waitFor("it is paused", async () => (await stage.copy(copier)).status === "PAUSED");
  const { book } = await stage.copy(copier);
  expect(book.stopBase).toBe(book.snapshot?.equity);
  await stage.changeCopy(copier, strategy, "FOLLOWING", null);
  await stage.ask(copier, strategy, { kind: "LOOK" });
  await stage.passes(50_000);
  expect(await stage.copy(copier)).toMatchObject({ status: "FOLLOWING" });
  await stage.does(strategy, places("BUY", "0.0005"));
  await stage.ask(copier, strategy, { kind: "LOOK" });
  expect(await stage.copy(copier)).toMatchObject({ status: "FOLLOWING" });
  stage.pairs.show("BTCUSDT", "39990", "40000");
  await stage.waitFor("it acts again", async () => (await stage.copy(copier)).reason === "STOP_LOSS");
});

test("a stop loss that has been due for long does not wait behind what the strategy does", async () => {
  const copier = await stage.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
  await stage.does(strategy, places("BUY", "0.001"));
  const writing = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const { recordProgress } = stage.seams;
  stage.seams.recordProgress = async (...given) => {
    writing.resolve();
    await written.promise;
    return await recordProgress(...given);
  };
  await stage.does(strategy, places("BUY", "0.0001", { at: "70000" }), false);
  stage.wake(strategy);
  await writing.promise;
  for (let index = 0; index < 10; index += 1) {
    const orderId = await stage.does(strategy, places("BUY", "0.0001", { at: "70000" }), false);
    await stage.does(strategy, { type: "CancelOrder", orderId }, false);
  }
  await stage.lead();
  stage.pairs.show("BTCUSDT", "79990", "80000");
  await stage.passes(35_000);
  written.resolve();
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).reason === "STOP_LOSS");
  await stage.dealtWith(strategy);
  await stage.waitFor("it is paused", async () => (await stage.copy(copier)).status === "PAUSED");
  // Nothing of what the strategy did since was sent: it would have opened something.
  const sent = await stage.venue.orders(copier.account, "BTCUSDT");
  expect(sent.map(({ side, type }) => `${side} ${type}`)).toEqual(["BUY MARKET", "SELL MARKET"]);
});

test("with another share the copy has lost the same part of it as before, and of that its stop loss knows", async () => {
  const stopLoss = decimal<Rate>("0.1");
  const copier = await stage.copier(strategy, "SPOT", { stopLoss });
  const choose = async (share: string) => {
    const settings = { ...EXACT_SETTINGS, share: decimal<Rate>(share), stopLoss };
    await stage.store.copying.changeSettings(copier.copyId, settings, audit(copier.copyId));
    await stage.peopleChanged(strategy);
    return await lookTwice();
  };
  const lookTwice = async () => {
    await stage.ask(copier, strategy, { kind: "LOOK" });
    await stage.ask(copier, strategy, { kind: "LOOK" });
    return await stage.copy(copier);
  };
  await stage.does(strategy, places("BUY", "0.0015"));
  const { startEquity } = (await stage.copy(copier)).book;
  // A loss of twelve is six per cent of the whole account, and would be twelve of its half.
  stage.pairs.show("BTCUSDT", "91990", "92000");
  await stage.passes(20_000);
  const { equity } = (await lookTwice()).book.snapshot ?? {};
  const halved = await choose("0.5");
  expect(halved).toMatchObject({ status: "FOLLOWING", book: { stopBase: (startEquity ?? 0n) / 2n } });
  expect(halved.book.snapshot?.equity).toBe((equity ?? 0n) / 2n);
  const whole = await choose("1");
  expect(whole.book).toMatchObject({ startEquity, stopBase: startEquity, snapshot: { equity } });
  expect((await choose("0.5")).status).toBe("FOLLOWING");
  stage.pairs.show("BTCUSDT", "85990", "86000");
  await stage.passes(20_000);
  await stage.waitFor("it is closed", async () => (await stage.copy(copier)).reason === "STOP_LOSS");
});

test("a share that was changed just before a restart, or while nothing ran, is followed by the next process", async () => {
  const copier = await stage.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
  await stage.does(strategy, places("BUY", "0.0001"));
  const { startEquity } = (await stage.copy(copier)).book;
  const half = (startEquity ?? 0n) / 2n;
  await stage.stop();
  const settings = { ...EXACT_SETTINGS, share: decimal<Rate>("0.5"), stopLoss: decimal<Rate>("0.1") };
  await stage.store.copying.changeSettings(copier.copyId, settings, audit(copier.copyId));
  await stage.start();
  await stage.ask(copier, strategy, { kind: "LOOK" });
  await stage.ask(copier, strategy, { kind: "LOOK" });
  const { book } = await stage.copy(copier);
  expect(book).toMatchObject({ stopBase: half, startShare: decimal("0.5") });
});

describe("the close of a strategy", () => {
  test("sells and cancels for all of its copies, and a second one changes nothing", async () => {
    const copiers: Copier[] = [];
    for (let index = 0; index < 3; index += 1) copiers.push(await stage.copier(strategy, "SPOT"));
    await stage.does(strategy, places("BUY", "0.0005"));
    await stage.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await stage.does(strategy, { type: "CloseStrategy" }, false);
    await stage.waitFor("all copies are stopped", async () => {
      await stage.lead();
      const all = await Promise.all(copiers.map((each) => stage.copy(each)));
      return all.every(({ status }) => status === "STOPPED");
    });
    for (const copier of copiers) {
      expect(await stage.copy(copier)).toMatchObject({ reason: "STRATEGY_CLOSED" });
      expect((await stage.log(copier)).slice(1)).toEqual([
        "PLACE BUY LIMIT 0.0005 CANCELED",
        "CLOSE DONE",
        expect.stringContaining("CLOSE SELL MARKET 0.00049 FILLED"),
      ]);
      expect(await stage.owned(copier, "BTC")).toBe(await stage.holds(copier, "BTCUSDT"));
    }
    const toldAll = copiers.map(({ copyId }) => ({ copyId, reason: "STRATEGY_CLOSED" }));
    expect(stage.told).toHaveLength(3);
    expect(stage.told).toEqual(expect.arrayContaining(toldAll));
    const before = await Promise.all(copiers.map((each) => stage.log(each)));
    await stage.stop();
    await stage.start();
    await stage.passes(10_000);
    expect(await Promise.all(copiers.map((each) => stage.log(each)))).toEqual(before);
    expect(stage.told).toHaveLength(3);
  });
});

describe("a repair", () => {
  test("reduces only, unless the copier says otherwise, and a second one finds nothing to do", async () => {
    await stage.does(strategy, places("BUY", "0.001"));
    const copier = await stage.copier(strategy, "SPOT");
    expect((await stage.ask(copier, strategy, { kind: "REPAIR" })).failure).toBeNull();
    expect(await stage.log(copier)).toEqual([]);
    await stage.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    const log = await stage.log(copier);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("REPAIR BUY MARKET");
    await stage.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    expect(await stage.log(copier)).toEqual(log);
  });

  test("sells what a strategy without anything has left behind", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.001"));
    await stage.halt(strategy);
    await stage.does(strategy, places("SELL", "0.00099"));
    await stage.unhalt(strategy);
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.000999");
    await stage.ask(copier, strategy, { kind: "REPAIR" });
    expect((await stage.log(copier)).at(-1)).toContain("REPAIR SELL MARKET 0.00099 FILLED");
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.000009");
  });
});

test("a copier closes: what a copy holds is sold, and it is stopped", async () => {
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.waitFor("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
  expect((await stage.log(copier)).at(-1)).toContain("FLATTEN SELL MARKET 0.00099 FILLED");
});

test("a copy that is closed while it is behind, with a remainder too small to sell, ends", async () => {
  const copier = await stage.copier(strategy, "SPOT", { share: decimal<Rate>("0.1") });
  await stage.does(strategy, places("BUY", "0.001"));
  await stage.does(strategy, places("SELL", "0.0001"));
  expect((await stage.log(copier)).at(-1)).toContain("SKIPPED BELOW_MIN_NOTIONAL");
  await stage.stop();
  await stage.does(strategy, places("BUY", "0.0005"), false);
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.start();
  await stage.waitFor("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
  const log = await stage.log(copier);
  // Which of the two is first depends on when the next process takes the purchase.
  expect(log.slice(2).toSorted()).toEqual([
    "FLATTEN SELL MARKET 0.00009 FILLED executed 0.00009",
    "PLACE BUY MARKET SKIPPED PAUSED",
  ]);
});

test("a copy that ends with a gain settles its profit share, which is charged to nobody", async () => {
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  const wallet = await stage.owned(copier, "USDT");
  stage.pairs.show("BTCUSDT", "110000", "110010");
  await stage.passes(2_000);
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.waitFor("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
  const { profitShare, kind } = (await stage.entries(copier)).at(-1) ?? {};
  const { realized, fees } = (await stage.copy(copier)).book;
  expect([kind, profitShare?.mark]).toEqual(["PROFIT_SHARE", 0n]);
  // The remainder of a step has some value, too.
  expect(profitShare?.profit).toBeGreaterThan(realized - fees);
  expect(profitShare?.share).toBe((profitShare?.profit ?? 0n) / 10n);
  const sold = "108.7911"; // 0.00099 × 110,000, less a thousandth
  expect(await stage.owned(copier, "USDT")).toBe(
    formatBriefly(decimal<Amount>(wallet) + decimal<Amount>(sold)),
  );
});

test("a closing that the venue refuses is reported once, and retried at growing intervals", async () => {
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  // Its owner offers the coins elsewhere, so that they are locked.
  const own = { side: "SELL", type: "LIMIT", quantity: decimal<Quantity>("0.00099") } as const;
  const offered = order({ ...own, price: decimal<Price>("120000"), clientOrderId: "own" });
  expect((await stage.venue.client("SPOT", copier.account).place(offered)).kind).toBe("OK");
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  const refused = "FLATTEN SELL MARKET 0.00099 SKIPPED INSUFFICIENT_BALANCE";
  await stage.waitFor("it is refused", async () => (await stage.log(copier)).at(-1) === refused);
  const sends = async () => (await stage.entries(copier)).at(-1)?.sends ?? 0;
  await stage.waitFor("it was tried several times", async () => (await sends()) === 4);
  await stage.waitFor("it is refused again", async () => (await stage.log(copier)).at(-1) === refused);
  expect((await stage.log(copier)).slice(1)).toEqual([refused]);
  await stage.venue.client("SPOT", copier.account).cancel("BTCUSDT", "own");
  await stage.waitFor("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
  expect(await stage.holds(copier, "BTCUSDT")).toBe("0.000009");
});

test("a closing that a kill switch has blocked continues at once when it is cleared", async () => {
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  await stage.halt(strategy);
  await stage.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await stage.passes(1_000);
  await stage.unhalt(strategy);
  await stage.passes(1_000);
  // The clock does not move from here.
  await stage.eventually("it is stopped", async () => (await stage.copy(copier)).status === "STOPPED");
});

test("a copy that begins gets one executor, however many notifications of it arrive", async () => {
  const copier = await stage.copier(strategy, "SPOT", {}, async () => {
    await Promise.all([1, 2, 3].map(() => stage.peopleChanged(strategy)));
  });
  await stage.does(strategy, places("BUY", "0.0005"));
  await stage.passes(40_000);
  await stage.ask(copier, strategy, { kind: "LOOK" });
  const [entry] = await stage.entries(copier);
  expect(entry).toMatchObject({ status: "FILLED", sends: 1, queries: 0 });
  expect(await stage.venue.orders(copier.account, "BTCUSDT")).toHaveLength(1);
});
