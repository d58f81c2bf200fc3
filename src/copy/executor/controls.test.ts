// Control of copies: pauses, kill switches, delays, rejected credentials, stop losses, closings, repairs.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EXACT_SETTINGS } from "../../domain/copying.ts";
import {
  type Amount,
  decimal,
  formatBriefly,
  magnitude,
  type Price,
  type Quantity,
  type Rate,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { StoreUnavailable } from "../../store/store.ts";
import {
  audit,
  type Copier,
  type CopiesFixture,
  openCopiesFixture,
  places,
} from "../testing/copies-fixture.ts";
import { order } from "../venue/testing/venue-fixture.ts";

let fixture: CopiesFixture;
let strategy: string;

beforeEach(async () => {
  fixture = await openCopiesFixture();
  strategy = await fixture.strategy("SPOT");
  await fixture.start();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

describe("a pause", () => {
  test("opens nothing, and still follows cancels and sales", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.0005"));
    const orderId = await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await fixture.changeCopy(copier, strategy, "PAUSED", "COPIER");
    await fixture.waitFor("the bid is taken back", async () =>
      (await fixture.venue.orders(copier.account, "BTCUSDT")).some(({ status }) => status === "CANCELED"),
    );
    await fixture.does(strategy, places("BUY", "0.0002"));
    await fixture.does(strategy, { type: "CancelOrder", orderId });
    await fixture.does(strategy, places("SELL", "0.0004"));
    const log = await fixture.log(copier);
    expect(log[1]).toBe("PLACE BUY LIMIT 0.0005 CANCELED PAUSED");
    expect(log[2]).toContain("SKIPPED PAUSED");
    expect(log[3]).toContain("SKIPPED ALREADY_OVER");
    expect(log[4]).toContain("FILLED executed");
  });
});

describe("a kill switch", () => {
  test("sends nothing at all; what was to be cancelled is cancelled once it is lifted", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    const orderId = await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await fixture.halt(strategy);
    await fixture.does(strategy, places("BUY", "0.0002"));
    await fixture.does(strategy, { type: "CancelOrder", orderId });
    expect((await fixture.log(copier)).slice(1)).toEqual([
      "PLACE BUY MARKET SKIPPED HALTED",
      "CANCEL BUY LIMIT 0.0005 SKIPPED HALTED",
    ]);
    expect((await fixture.venue.orders(copier.account, "BTCUSDT")).map(({ status }) => status)).toEqual([
      "NEW",
    ]);
    await fixture.unhalt(strategy);
    await fixture.waitFor("the order is cancelled after all", async () => {
      const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
      return order?.status === "CANCELED";
    });
    await fixture.waitFor(
      "the log says so",
      async () => (await fixture.log(copier))[0]?.includes("OVERTAKEN") === true,
    );
  });
});

describe("what opens and comes too late", () => {
  test("is skipped; a sale is not", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.0005"));
    await fixture.stop();
    await fixture.does(strategy, places("BUY", "0.0002"));
    await fixture.does(strategy, places("SELL", "0.0003"));
    fixture.time.advance(61_000);
    await fixture.start();
    await fixture.waitFor("all is dealt with", async () => (await fixture.copy(copier)).doneSeq === 3);
    expect((await fixture.log(copier)).slice(1)).toEqual([
      expect.stringContaining("PLACE BUY MARKET SKIPPED TOO_LATE"),
      expect.stringContaining("PLACE SELL MARKET 0.00021 FILLED"),
    ]);
  });
});

describe("credentials that the venue rejects", () => {
  test("pause the copy, mark the account, and notify the copier, once", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    const other = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.0005"));
    await fixture.revoke(copier);
    await fixture.does(strategy, places("BUY", "0.0002"), false);
    await fixture.waitFor("both have dealt with it", async () =>
      (await Promise.all([fixture.copy(copier), fixture.copy(other)])).every(({ doneSeq }) => doneSeq === 2),
    );
    expect(await fixture.copy(copier)).toMatchObject({ status: "PAUSED", reason: "CREDENTIALS" });
    expect((await fixture.log(copier))[1]).toContain("SKIPPED CREDENTIALS");
    expect((await fixture.log(other))[1]).toContain("FILLED");
    const { accountId } = await fixture.copy(copier);
    expect(await fixture.store.copying.findAccount(accountId)).toMatchObject({ status: "FAILED" });
    await fixture.eventually("the copiers are notified", () => fixture.notified.length >= 1);
    expect(fixture.notified).toEqual([{ copyId: copier.copyId, reason: "CREDENTIALS" }]);
  });
});

test("a change of one copy waits for no other account", async () => {
  const rejected = await fixture.copier(strategy, "SPOT");
  const other = await fixture.copier(strategy, "SPOT");
  await fixture.revoke(rejected);
  await fixture.does(strategy, places("BUY", "0.0005"), false);
  await fixture.waitFor("both have dealt with it", async () =>
    (await Promise.all([fixture.copy(rejected), fixture.copy(other)])).every(({ doneSeq }) => doneSeq === 1),
  );
  const asked: string[] = [];
  fixture.seams.findAccount = (accountId) => {
    asked.push(accountId);
    return new Promise(() => {});
  };
  await fixture.changeCopy(other, strategy, "PAUSED", "COPIER");
  // Only the account of a copy that held something back is polled.
  expect(asked).toEqual([(await fixture.copy(rejected)).accountId]);
  await fixture.does(strategy, places("BUY", "0.0002"));
  expect((await fixture.log(other)).at(-1)).toContain("SKIPPED PAUSED");
});

describe("a stop loss", () => {
  test("closes everything, pauses the copy, and notifies once", async () => {
    const copier = await fixture.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.does(strategy, places("BUY", "0.0001", { at: "70000" }));
    fixture.pairs.show("BTCUSDT", "79990", "80000");
    await fixture.waitFor("the copy is paused", async () => (await fixture.copy(copier)).status === "PAUSED");
    expect(await fixture.copy(copier)).toMatchObject({ reason: "STOP_LOSS" });
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY MARKET 0.001 FILLED executed 0.001",
      "PLACE BUY LIMIT 0.0001 CANCELED",
      "FLATTEN SELL MARKET 0.00099 FILLED executed 0.00099",
    ]);
    await fixture.passes(50_000);
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    expect(fixture.notified).toEqual([{ copyId: copier.copyId, reason: "STOP_LOSS" }]);
    expect(await fixture.copy(copier)).toMatchObject({ status: "PAUSED" });
  });
});

test("a stop loss that has acted counts from what was left then", async () => {
  const copier = await fixture.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
  await fixture.does(strategy, places("BUY", "0.001"));
  fixture.pairs.show("BTCUSDT", "79990", "80000");
  await fixture.waitFor("it is paused", async () => (await fixture.copy(copier)).status === "PAUSED");
  const { book } = await fixture.copy(copier);
  expect(book.stopBase).toBe(book.snapshot?.equity);
  await fixture.changeCopy(copier, strategy, "FOLLOWING", null);
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  await fixture.passes(50_000);
  expect(await fixture.copy(copier)).toMatchObject({ status: "FOLLOWING" });
  await fixture.does(strategy, places("BUY", "0.0005"));
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  expect(await fixture.copy(copier)).toMatchObject({ status: "FOLLOWING" });
  fixture.pairs.show("BTCUSDT", "39990", "40000");
  await fixture.waitFor("it acts again", async () => (await fixture.copy(copier)).reason === "STOP_LOSS");
});

test("a stop loss that has been due for long does not wait behind what the strategy does", async () => {
  const copier = await fixture.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
  await fixture.does(strategy, places("BUY", "0.001"));
  const writing = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const { recordProgress } = fixture.seams;
  fixture.seams.recordProgress = async (...given) => {
    writing.resolve();
    await written.promise;
    return await recordProgress(...given);
  };
  await fixture.does(strategy, places("BUY", "0.0001", { at: "70000" }), false);
  fixture.wake(strategy);
  await writing.promise;
  for (let index = 0; index < 10; index += 1) {
    const orderId = await fixture.does(strategy, places("BUY", "0.0001", { at: "70000" }), false);
    await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
  }
  await fixture.lead();
  fixture.pairs.show("BTCUSDT", "79990", "80000");
  await fixture.passes(35_000);
  written.resolve();
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).reason === "STOP_LOSS");
  await fixture.dealtWith(strategy);
  await fixture.waitFor("it is paused", async () => (await fixture.copy(copier)).status === "PAUSED");
  // Nothing of what the strategy did since was sent: it would have opened something.
  const sent = await fixture.venue.orders(copier.account, "BTCUSDT");
  expect(sent.map(({ side, type }) => `${side} ${type}`)).toEqual(["BUY MARKET", "SELL MARKET"]);
});

test("with another share the copy has lost the same part of it as before, and of that its stop loss knows", async () => {
  const stopLoss = decimal<Rate>("0.1");
  const copier = await fixture.copier(strategy, "SPOT", { stopLoss });
  const choose = async (share: string) => {
    const { settings: from } = await fixture.copy(copier);
    const to = { ...EXACT_SETTINGS, share: decimal<Rate>(share), stopLoss };
    await fixture.store.copying.changeSettings(copier.copyId, { from, to }, audit(copier.copyId));
    await fixture.peopleChanged(strategy);
    return await lookTwice();
  };
  const lookTwice = async () => {
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    return await fixture.copy(copier);
  };
  await fixture.does(strategy, places("BUY", "0.0015"));
  const { startEquity } = (await fixture.copy(copier)).book;
  // A loss of twelve is six per cent of the whole account, and would be twelve of its half.
  fixture.pairs.show("BTCUSDT", "91990", "92000");
  await fixture.passes(20_000);
  const { equity } = (await lookTwice()).book.snapshot ?? {};
  const halved = await choose("0.5");
  expect(halved).toMatchObject({ status: "FOLLOWING", book: { stopBase: (startEquity ?? 0n) / 2n } });
  expect(halved.book.snapshot?.equity).toBe((equity ?? 0n) / 2n);
  const whole = await choose("1");
  expect(whole.book).toMatchObject({ startEquity, stopBase: startEquity, snapshot: { equity } });
  expect((await choose("0.5")).status).toBe("FOLLOWING");
  fixture.pairs.show("BTCUSDT", "85990", "86000");
  await fixture.passes(20_000);
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).reason === "STOP_LOSS");
});

test("with another budget the copy has lost the same part of it as before, and of that its stop loss knows", async () => {
  const copier = await fixture.copier(strategy, "SPOT", { stopLoss: decimal("0.2") });
  const budgets = async (budget: string | null) => {
    const { settings: from } = await fixture.copy(copier);
    const to = { ...from, budget: budget === null ? null : decimal<Amount>(budget) };
    await fixture.store.copying.changeSettings(copier.copyId, { from, to }, audit(copier.copyId));
    await fixture.peopleChanged(strategy);
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    await fixture.ask(copier, strategy, { kind: "LOOK" });
    return (await fixture.copy(copier)).book;
  };
  await fixture.does(strategy, places("BUY", "0.0004"));
  const { startEquity, stopBase } = (await fixture.copy(copier)).book;
  expect(stopBase).toBeNull();
  const bounded = await budgets("100");
  // By its fee and the spread the account has a little less than the 200 that it began with.
  expect(bounded.snapshot?.equity).toBe(decimal("100"));
  expect(bounded.stopBase).toBeGreaterThan(decimal<Amount>("100"));
  expect(bounded.stopBase).toBeLessThan(decimal<Amount>("100.1"));
  // One that is above what the account has bounds nothing.
  for (const budget of [null, "1000"]) {
    const { stopBase: whole } = await budgets(budget);
    expect(magnitude(subtract(whole ?? ZERO, startEquity ?? ZERO))).toBeLessThan(10n);
  }
  await budgets("100");
  fixture.pairs.show("BTCUSDT", "59990", "60000");
  await fixture.passes(20_000);
  expect(await fixture.copy(copier)).toMatchObject({ status: "FOLLOWING" });
  // A loss of 22 of 100; of the whole account it would be 11 %.
  fixture.pairs.show("BTCUSDT", "44990", "45000");
  await fixture.waitFor("it is closed", async () => (await fixture.copy(copier)).reason === "STOP_LOSS");
});

test("a share that was changed just before a restart, or while nothing ran, is followed by the next process", async () => {
  const copier = await fixture.copier(strategy, "SPOT", { stopLoss: decimal("0.1") });
  await fixture.does(strategy, places("BUY", "0.0001"));
  const { startEquity } = (await fixture.copy(copier)).book;
  const half = (startEquity ?? 0n) / 2n;
  await fixture.stop();
  const { settings: from } = await fixture.copy(copier);
  const to = { ...EXACT_SETTINGS, share: decimal<Rate>("0.5"), stopLoss: decimal<Rate>("0.1") };
  await fixture.store.copying.changeSettings(copier.copyId, { from, to }, audit(copier.copyId));
  await fixture.start();
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  const { book } = await fixture.copy(copier);
  expect(book).toMatchObject({ stopBase: half, startShare: decimal("0.5") });
});

describe("the close of a strategy", () => {
  test("sells and cancels for all of its copies, and a second one changes nothing", async () => {
    const copiers: Copier[] = [];
    for (let index = 0; index < 3; index += 1) copiers.push(await fixture.copier(strategy, "SPOT"));
    await fixture.does(strategy, places("BUY", "0.0005"));
    await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await fixture.does(strategy, { type: "CloseStrategy" }, false);
    await fixture.waitFor("all copies are stopped", async () => {
      await fixture.lead();
      const all = await Promise.all(copiers.map((each) => fixture.copy(each)));
      return all.every(({ status }) => status === "STOPPED");
    });
    for (const copier of copiers) {
      expect(await fixture.copy(copier)).toMatchObject({ reason: "STRATEGY_CLOSED" });
      expect((await fixture.log(copier)).slice(1)).toEqual([
        "PLACE BUY LIMIT 0.0005 CANCELED",
        "CLOSE DONE",
        expect.stringContaining("CLOSE SELL MARKET 0.00049 FILLED"),
      ]);
      expect(await fixture.owned(copier, "BTC")).toBe(await fixture.holds(copier, "BTCUSDT"));
    }
    const toldAll = copiers.map(({ copyId }) => ({ copyId, reason: "STRATEGY_CLOSED" }));
    await fixture.eventually("the copiers are notified", () => fixture.notified.length >= 3);
    expect(fixture.notified).toHaveLength(3);
    expect(fixture.notified).toEqual(expect.arrayContaining(toldAll));
    const before = await Promise.all(copiers.map((each) => fixture.log(each)));
    await fixture.stop();
    await fixture.start();
    await fixture.passes(10_000);
    expect(await Promise.all(copiers.map((each) => fixture.log(each)))).toEqual(before);
    expect(fixture.notified).toHaveLength(3);
  });
});

describe("a repair", () => {
  test("reduces only, unless the copier says otherwise, and a second one finds nothing to do", async () => {
    await fixture.does(strategy, places("BUY", "0.001"));
    const copier = await fixture.copier(strategy, "SPOT");
    expect((await fixture.ask(copier, strategy, { kind: "REPAIR" })).failure).toBeNull();
    expect(await fixture.log(copier)).toEqual([]);
    await fixture.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    const log = await fixture.log(copier);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain("REPAIR BUY MARKET");
    await fixture.ask(copier, strategy, { kind: "REPAIR", mayIncrease: true });
    expect(await fixture.log(copier)).toEqual(log);
  });

  test("sells what a strategy without anything has left behind", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.halt(strategy);
    await fixture.does(strategy, places("SELL", "0.00099"));
    await fixture.unhalt(strategy);
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.000999");
    await fixture.ask(copier, strategy, { kind: "REPAIR" });
    expect((await fixture.log(copier)).at(-1)).toContain("REPAIR SELL MARKET 0.00099 FILLED");
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.000009");
  });
});

test("a copier closes: what a copy holds is sold, and it is stopped", async () => {
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect((await fixture.log(copier)).at(-1)).toContain("FLATTEN SELL MARKET 0.00099 FILLED");
});

test("a copy that is closed while it is behind, with a remainder too small to sell, ends", async () => {
  const copier = await fixture.copier(strategy, "SPOT", { share: decimal<Rate>("0.1") });
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.does(strategy, places("SELL", "0.0001"));
  expect((await fixture.log(copier)).at(-1)).toContain("SKIPPED BELOW_MIN_NOTIONAL");
  await fixture.stop();
  await fixture.does(strategy, places("BUY", "0.0005"), false);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.start();
  await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
  const log = await fixture.log(copier);
  // Which of the two is first depends on when the next process takes the purchase.
  expect(log.slice(2).toSorted()).toEqual([
    "FLATTEN SELL MARKET 0.00009 FILLED executed 0.00009",
    "PLACE BUY MARKET SKIPPED PAUSED",
  ]);
});

test("a copy that ends with a gain settles its profit share, which is charged to nobody", async () => {
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  const wallet = await fixture.owned(copier, "USDT");
  fixture.pairs.show("BTCUSDT", "110000", "110010");
  await fixture.passes(2_000);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
  const { profitShare, kind } = (await fixture.entries(copier)).at(-1) ?? {};
  const { realized, fees } = (await fixture.copy(copier)).book;
  expect([kind, profitShare?.mark]).toEqual(["PROFIT_SHARE", 0n]);
  // The remainder of a step has some value, too.
  expect(profitShare?.profit).toBeGreaterThan(realized - fees);
  expect(profitShare?.share).toBe((profitShare?.profit ?? 0n) / 10n);
  const sold = "108.7911"; // 0.00099 × 110,000, less a thousandth
  expect(await fixture.owned(copier, "USDT")).toBe(
    formatBriefly(decimal<Amount>(wallet) + decimal<Amount>(sold)),
  );
});

test("a closing that the venue refuses is reported once, and retried at growing intervals", async () => {
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  // Its owner offers the coins elsewhere, so that they are locked.
  const own = { side: "SELL", type: "LIMIT", quantity: decimal<Quantity>("0.00099") } as const;
  const offered = order({ ...own, price: decimal<Price>("120000"), clientOrderId: "own" });
  expect((await fixture.venue.client("SPOT", copier.account).place(offered)).kind).toBe("OK");
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  const refused = "FLATTEN SELL MARKET 0.00099 SKIPPED INSUFFICIENT_BALANCE";
  await fixture.waitFor("it is refused", async () => (await fixture.log(copier)).at(-1) === refused);
  const sends = async () => (await fixture.entries(copier)).at(-1)?.sends ?? 0;
  await fixture.waitFor("it was tried several times", async () => (await sends()) === 4);
  await fixture.waitFor("it is refused again", async () => (await fixture.log(copier)).at(-1) === refused);
  expect((await fixture.log(copier)).slice(1)).toEqual([refused]);
  await fixture.venue.client("SPOT", copier.account).cancel("BTCUSDT", "own");
  await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
  expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.000009");
});

test("a closing that a kill switch has blocked continues at once when it is cleared", async () => {
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.halt(strategy);
  await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
  await fixture.passes(1_000);
  await fixture.unhalt(strategy);
  await fixture.passes(1_000);
  // The clock does not move from here.
  await fixture.eventually("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
});

test("a copy that begins gets one executor, however many notifications of it arrive", async () => {
  const copier = await fixture.copier(strategy, "SPOT", {}, async () => {
    await Promise.all([1, 2, 3].map(() => fixture.peopleChanged(strategy)));
  });
  await fixture.does(strategy, places("BUY", "0.0005"));
  await fixture.passes(40_000);
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  const [entry] = await fixture.entries(copier);
  expect(entry).toMatchObject({ status: "FILLED", sends: 1, queries: 0 });
  expect(await fixture.venue.orders(copier.account, "BTCUSDT")).toHaveLength(1);
});

test("a copy that is loaded again after failed reads of the store has one executor, and its book stays right", async () => {
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  const orderId = await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
  const { listEntriesOf, listPendingRequests } = fixture.seams;
  let isFirst = true;
  fixture.seams.listEntriesOf = async (...given) => {
    fixture.seams.listEntriesOf = listEntriesOf;
    throw new StoreUnavailable(`away: ${given}`);
  };
  fixture.seams.listPendingRequests = async (...given) => {
    if (!isFirst) return await listPendingRequests(...given);
    isFirst = false;
    throw new StoreUnavailable(`away: ${given}`);
  };
  await fixture.does(strategy, { type: "CancelOrder", orderId }, false);
  fixture.wake(strategy);
  await fixture.waitFor("requests are read again", () => !isFirst);
  await fixture.passesAtRest(5_000);
  await fixture.does(strategy, places("SELL", "0.00099"));
  await fixture.passesAtRest(25_000);
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.passesAtRest(40_000);
  expect(await fixture.log(copier)).toEqual([
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "PLACE BUY LIMIT 0.0005 CANCELED",
    "CANCEL BUY LIMIT 0.0005 DONE",
    expect.stringContaining("PLACE SELL MARKET 0.00099 FILLED"),
    expect.stringContaining("PLACE BUY MARKET"),
  ]);
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
});
