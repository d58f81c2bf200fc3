// The venue closes a position while the strategy trades on: the copy's book has it at the first poll, with
// the venue's own figures, whatever else happens on the account.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

let fixture: CopiesFixture;
let strategy: string;
let copier: Copier;

beforeEach(async () => {
  fixture = await openCopiesFixture();
  strategy = await fixture.strategy("FUTURES");
  await fixture.start();
  copier = await fixture.copier(strategy, "FUTURES");
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
  await fixture.does(strategy, places("BUY", "0.05"));
  // The first poll is due at once, the next only much later.
  await fixture.passes(1_000);
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const holds = () => fixture.holds(copier, "BTCUSDT");
const position = () => fixture.position(copier, "BTCUSDT");
const lastLine = async () => (await fixture.log(copier)).at(-1);
const look = () => fixture.ask(copier, strategy, { kind: "LOOK" });
const trades = (side: "BUY" | "SELL", quantity: string) =>
  fixture.trades(copier, "FUTURES", { side, quantity: decimal(quantity) });

/**
 * The mark price has reached the copier's liquidation price, but not the strategy's, which has a different
 * one.
 */
async function liquidated(of: Copier = copier): Promise<void> {
  fixture.contracts.show("BTCUSDT", "99390", "99400");
  // Prices requested before are not used any more.
  fixture.time.advance(2_000);
  await fixture.venue.liquidate(of.account, "BTCUSDT", "99400");
  expect(await fixture.position(of, "BTCUSDT")).toBe("0");
}

/** The wallet equals what the book says was gained and paid. */
async function expectWalletAsBooked(): Promise<void> {
  const { book } = await fixture.copy(copier);
  expect(decimal(await fixture.owned(copier, "USDT"))).toBe(decimal("1000") + book.realized - book.fees);
}

describe("a position that the venue liquidates", () => {
  test("is removed from the book at the first poll, at the venue's price and fee", async () => {
    await liquidated();
    await look();
    expect(await holds()).toBe("0");
    expect(await lastLine()).toBe("WRITE_OFF SELL DONE executed 0.05");
    const entry = (await fixture.entries(copier)).at(-1);
    expect(entry?.clientOrderId).toMatch(/^liquidation#/);
    await expectWalletAsBooked();
    const { book } = await fixture.copy(copier);
    expect(book.snapshot?.equity).toBe(book.snapshot?.wallet);
    const log = await fixture.log(copier);
    await look();
    await look();
    expect(await fixture.log(copier)).toEqual(log);
    const { copyId } = copier;
    expect(fixture.notified).toEqual([{ copyId, reason: "CLOSED_BY_VENUE" }]);
  });

  test("is not masked by an order through zero that came in between", async () => {
    await liquidated();
    await fixture.does(strategy, places("SELL", "0.08"));
    // The venue had nothing to close any more: all of it opened.
    expect(await position()).toBe("-0.08");
    await look();
    expect(await holds()).toBe("-0.08");
    await fixture.does(strategy, places("BUY", "0.03"));
    expect(await holds()).toBe("0");
    expect(await position()).toBe("0");
    await look();
    await expectWalletAsBooked();
  });

  test("is not masked by a limit that has closed what was not there", async () => {
    await fixture.does(strategy, places("SELL", "0.05", { at: "101000" }));
    const exit = (await fixture.entries(copier)).at(-1);
    await liquidated();
    await look();
    expect(exit?.status).toBe("RESTING");
    // The venue cancels the symbol's open orders with the liquidation.
    expect((await fixture.entries(copier)).find(({ entryId }) => entryId === exit?.entryId)?.status).toBe(
      "CANCELED",
    );
    expect(await holds()).toBe("0");
  });

  test("leaves no position behind when the copy is closed before a poll", async () => {
    await liquidated();
    await fixture.does(strategy, places("SELL", "0.08"));
    await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
    expect(await position()).toBe("0");
    expect(await holds()).toBe("0");
  });

  test("leaves no position behind when a limit had emptied the book before the closing", async () => {
    await liquidated();
    await fixture.does(strategy, places("SELL", "0.05", { at: "99395" }));
    const exit = (await fixture.entries(copier)).at(-1);
    await fixture.venue.fill(copier.account, exit?.venueOrderId ?? "", "99395");
    await fixture.changeCopy(copier, strategy, "CLOSING", "COPIER");
    await fixture.waitFor("it is stopped", async () => (await fixture.copy(copier)).status === "STOPPED");
    expect(await position()).toBe("0");
    expect(await holds()).toBe("0");
  });

  test("is found in the account when the book had none left", async () => {
    await liquidated();
    await fixture.does(strategy, places("SELL", "0.05", { at: "99395" }));
    const exit = (await fixture.entries(copier)).at(-1);
    await fixture.venue.fill(copier.account, exit?.venueOrderId ?? "", "99395");
    expect(await position()).toBe("-0.05");
    await look();
    expect((await fixture.log(copier)).filter((line) => line.startsWith("WRITE_OFF"))).toHaveLength(1);
    // The strategy has never been short.
    await fixture.waitFor("it is on target", async () => (await holds()) === "0");
    expect(await position()).toBe("0");
  });

  test("is booked once, also by the next process", async () => {
    await liquidated();
    await fixture.does(strategy, places("SELL", "0.08"));
    await look();
    await fixture.stop();
    await fixture.start();
    await look();
    await look();
    // All of the order has opened; the strategy has 0.03 of it.
    await fixture.waitFor("it is on target", async () => (await holds()) === "-0.03");
    expect(await position()).toBe("-0.03");
    expect((await fixture.log(copier)).filter((line) => line.startsWith("WRITE_OFF"))).toHaveLength(1);
  });

  test("is found by the next process, also if an order comes before the first poll", async () => {
    await liquidated();
    await fixture.stop();
    fixture.time.advance(3 * 3_600_000);
    await fixture.does(strategy, places("SELL", "0.08"));
    await fixture.start();
    await fixture.dealtWith(strategy);
    // The size of an opening follows the wallet, which is smaller now.
    expect(await position()).toBe("-0.028");
    await look();
    expect(await holds()).toBe("-0.028");
  });

  test("is found by the next process", async () => {
    await liquidated();
    await fixture.does(strategy, places("SELL", "0.08"));
    await fixture.stop();
    await fixture.passes(30 * 60_000);
    await fixture.start();
    await look();
    await fixture.waitFor("it is on target", async () => (await holds()) === "-0.03");
    expect(await position()).toBe("-0.03");
  });
});

describe("what the copier does by hand", () => {
  test("beside the copy's position, and is liquidated with it, is not booked", async () => {
    await trades("BUY", "0.02");
    await look();
    await liquidated();
    await trades("BUY", "0.03");
    await look();
    expect(await holds()).toBe("0");
    expect(await position()).toBe("0.03");
    expect((await fixture.log(copier)).at(-1)).toBe("WRITE_OFF SELL DONE executed 0.05");
  });

  test("is written off after two polls, as before", async () => {
    await trades("SELL", "0.02");
    await look();
    expect(await holds()).toBe("0.05");
    await fixture.passes(2_000);
    await look();
    expect(await holds()).toBe("0.03");
    const entry = (await fixture.entries(copier)).at(-1);
    expect(entry).toMatchObject({ kind: "WRITE_OFF", venueOrderId: null });
  });

  test("on the other side of a masked liquidation leaves the copy what is its own", async () => {
    await liquidated();
    await trades("BUY", "0.01");
    await fixture.does(strategy, places("SELL", "0.08"));
    await look();
    expect(await position()).toBe("-0.07");
    expect(await holds()).toBe("-0.08");
  });
});
