// The owner takes holdings out of an account: two consecutive polls find them missing, and the book is
// reduced to what is there. `liquidations.test.ts` covers positions that the venue closed.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal, type Price, type Quantity } from "../../money/decimal.ts";
import { type Copier, type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";
import { Missing } from "./write-off.ts";

let fixture: CopiesFixture;
beforeEach(async () => {
  fixture = await openCopiesFixture();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

describe("a position that others have closed", () => {
  let strategy: string;
  let copier: Copier;
  beforeEach(async () => {
    strategy = await fixture.strategy("FUTURES");
    await fixture.start();
    copier = await fixture.copier(strategy, "FUTURES");
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
    await fixture.does(strategy, places("BUY", "0.1"));
    // The first poll is due at once, the next only much later.
    await fixture.passes(1_000);
  });
  async function look(): Promise<void> {
    await fixture.passes(2_000);
    await fixture.ask(copier, strategy, { kind: "LOOK" });
  }
  const trades = (side: "BUY" | "SELL", quantity: string) =>
    fixture.trades(copier, "FUTURES", { side, quantity: decimal(quantity) });
  async function closed(): Promise<void> {
    fixture.contracts.show("BTCUSDT", "98900", "98910", "98900");
    // Prices requested before are not used any more.
    fixture.time.advance(2_000);
    await trades("SELL", "0.1");
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
  }

  test("is written off after the second poll, at the venue's price", async () => {
    const { book: before } = await fixture.copy(copier);
    await closed();
    await look();
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.1");
    await look();
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
    expect((await fixture.log(copier)).at(-1)).toBe("WRITE_OFF SELL DONE executed 0.1");
    const { book } = await fixture.copy(copier);
    // Bought at 100,000, written off at 98,900.
    expect(book.realized - before.realized).toBe(decimal("-110"));
    const log = await fixture.log(copier);
    await look();
    await look();
    expect(await fixture.log(copier)).toEqual(log);
  });

  test("that comes back between two polls is left alone", async () => {
    await trades("SELL", "0.05");
    await look();
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.1");
    await trades("BUY", "0.05");
    await look();
    await trades("SELL", "0.05");
    await look();
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.1");
    await look();
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0.05");
  });

  test("that the venue rejects as nothing to close is polled at once", async () => {
    await closed();
    const { book } = await fixture.copy(copier);
    const lookedAt = book.snapshot?.at ?? 0;
    fixture.time.advance(1_000);
    const seen = { seen: decimal<Price>("98900"), seenAt: fixture.time.now() };
    await fixture.does(strategy, { type: "LiquidatePosition", symbol: "BTCUSDT", ...seen });
    const [last] = (await fixture.entries(copier)).slice(-1);
    expect(last).toMatchObject({
      kind: "LIQUIDATE",
      skip: { reason: "NOTHING_HELD", venue: { code: -2022 } },
    });
    // The clock does not move: no poll would be due.
    await fixture.eventually("it is polled", async () => {
      return ((await fixture.copy(copier)).book.snapshot?.at ?? 0) > lookedAt;
    });
    await fixture.waitFor("it is written off", async () => (await fixture.holds(copier, "BTCUSDT")) === "0");
    expect((await fixture.log(copier)).at(-1)).toBe("WRITE_OFF SELL DONE executed 0.1");
  });

  test("on the other side in the meantime is written off in full", async () => {
    await trades("SELL", "0.15");
    await look();
    await look();
    expect(await fixture.holds(copier, "BTCUSDT")).toBe("0");
    expect(await fixture.position(copier, "BTCUSDT")).toBe("-0.05");
  });
});

test("coins that the owner sold are written off, and an exit's own fills are not", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.001"));
  await fixture.does(strategy, places("SELL", "0.0004", { at: "101000" }));
  const exit = (await fixture.entries(copier)).at(-1);
  await fixture.venue.fill(copier.account, exit?.venueOrderId ?? "", "101000");
  for (let looks = 0; looks < 3; looks += 1) {
    await fixture.passes(2_000);
    await fixture.ask(copier, strategy, { kind: "LOOK" });
  }
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
  expect((await fixture.log(copier)).join()).not.toContain("WRITE_OFF");
  await fixture.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.0003") });
  await fixture.waitFor("it is written off", async () =>
    (await fixture.log(copier)).includes("WRITE_OFF SELL DONE executed 0.0003"),
  );
  expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
  // A sale is a share of what is left: of the strategy's 0.000999 0.0004 are promised to its exit, 0.0005 ×
  // 0.000299 / 0.000599.
  await fixture.does(strategy, places("SELL", "0.0005"));
  expect((await fixture.log(copier)).at(-1)).toContain("PLACE SELL MARKET 0.00024 FILLED");
});

test("an exit that was missed is made up for, although the owner has sold a part of the holding since", async () => {
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0018"));
  await fixture.halt(strategy);
  await fixture.does(strategy, places("SELL", "0.0008"));
  await fixture.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.0002") });
  await fixture.waitFor("it is written off", async () =>
    (await fixture.log(copier)).includes("WRITE_OFF SELL DONE executed 0.0002"),
  );
  await fixture.unhalt(strategy);
  const sold = "RECONCILE SELL MARKET 0.00059 FILLED executed 0.00059";
  await fixture.waitFor("the rest is sold", async () => (await fixture.log(copier)).at(-1) === sold);
});

test("only what two consecutive polls agree on is missing, and not at once", () => {
  const missing = new Missing(0);
  let now = 0;
  const note = (quantity: string, laterMs = 2_000) => {
    now += laterMs;
    return missing.note(new Map([["BTCUSDT", decimal<Quantity>(quantity)]]), now).get("BTCUSDT") ?? null;
  };
  expect(note("5")).toBeNull();
  expect(note("3")).toBe(decimal("3"));
  expect(note("2")).toBeNull();
  expect(note("7")).toBe(decimal("2"));
  expect(note("-4")).toBeNull();
  expect(note("-5")).toBe(decimal("4"));
  expect(missing.note(new Map(), now).size).toBe(0);
  expect(note("-3")).toBeNull();
  expect(note("-2", 1_999)).toBeNull();
  expect(note("-3", 1)).toBe(decimal("2"));
});
