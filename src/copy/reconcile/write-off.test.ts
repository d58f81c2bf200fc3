// The owner takes holdings out of an account: two consecutive polls find them missing, and the book is
// reduced to what is there. `liquidations.test.ts` covers positions that the venue closed.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal, type Price, type Quantity } from "../../money/decimal.ts";
import { type Copier, type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";
import { Missing } from "./write-off.ts";

let stage: CopiesStage;
beforeEach(async () => {
  stage = await openCopiesStage();
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a position that others have closed", () => {
  let strategy: string;
  let copier: Copier;
  beforeEach(async () => {
    strategy = await stage.strategy("FUTURES");
    await stage.start();
    copier = await stage.copier(strategy, "FUTURES");
    await stage.does(strategy, { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 100 });
    await stage.does(strategy, places("BUY", "0.1"));
    // The first poll is due at once, the next only much later.
    await stage.passes(1_000);
  });
  async function look(): Promise<void> {
    await stage.passes(2_000);
    await stage.ask(copier, strategy, { kind: "LOOK" });
  }
  const trades = (side: "BUY" | "SELL", quantity: string) =>
    stage.trades(copier, "FUTURES", { side, quantity: decimal(quantity) });
  async function closed(): Promise<void> {
    stage.contracts.show("BTCUSDT", "98900", "98910", "98900");
    // Prices requested before are not used any more.
    stage.time.advance(2_000);
    await trades("SELL", "0.1");
    expect(await stage.position(copier, "BTCUSDT")).toBe("0");
  }

  test("is written off after the second poll, at the venue's price", async () => {
    const { book: before } = await stage.copy(copier);
    await closed();
    await look();
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.1");
    await look();
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0");
    expect((await stage.log(copier)).at(-1)).toBe("WRITE_OFF SELL DONE executed 0.1");
    const { book } = await stage.copy(copier);
    // Bought at 100,000, written off at 98,900.
    expect(book.realized - before.realized).toBe(decimal("-110"));
    const log = await stage.log(copier);
    await look();
    await look();
    expect(await stage.log(copier)).toEqual(log);
  });

  test("that comes back between two polls is left alone", async () => {
    await trades("SELL", "0.05");
    await look();
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.1");
    await trades("BUY", "0.05");
    await look();
    await trades("SELL", "0.05");
    await look();
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.1");
    await look();
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0.05");
  });

  test("that the venue rejects as nothing to close is polled at once", async () => {
    await closed();
    const { book } = await stage.copy(copier);
    const lookedAt = book.snapshot?.at ?? 0;
    stage.time.advance(1_000);
    const seen = { seen: decimal<Price>("98900"), seenAt: stage.time.now() };
    await stage.does(strategy, { type: "LiquidatePosition", symbol: "BTCUSDT", ...seen });
    const [last] = (await stage.entries(copier)).slice(-1);
    expect(last).toMatchObject({
      kind: "LIQUIDATE",
      skip: { reason: "NOTHING_HELD", venue: { code: -2022 } },
    });
    // The clock does not move: no poll would be due.
    await stage.eventually("it is looked at", async () => {
      return ((await stage.copy(copier)).book.snapshot?.at ?? 0) > lookedAt;
    });
    await stage.waitFor("it is written off", async () => (await stage.holds(copier, "BTCUSDT")) === "0");
    expect((await stage.log(copier)).at(-1)).toBe("WRITE_OFF SELL DONE executed 0.1");
  });

  test("on the other side in the meantime is written off in full", async () => {
    await trades("SELL", "0.15");
    await look();
    await look();
    expect(await stage.holds(copier, "BTCUSDT")).toBe("0");
    expect(await stage.position(copier, "BTCUSDT")).toBe("-0.05");
  });
});

test("coins that the owner sold are written off, and an exit's own fills are not", async () => {
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.001"));
  await stage.does(strategy, places("SELL", "0.0004", { at: "101000" }));
  const exit = (await stage.entries(copier)).at(-1);
  await stage.venue.fill(copier.account, exit?.venueOrderId ?? "", "101000");
  for (let looks = 0; looks < 3; looks += 1) {
    await stage.passes(2_000);
    await stage.ask(copier, strategy, { kind: "LOOK" });
  }
  expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
  expect((await stage.log(copier)).join()).not.toContain("WRITE_OFF");
  await stage.trades(copier, "SPOT", { side: "SELL", quantity: decimal("0.0003") });
  await stage.waitFor("it is written off", async () =>
    (await stage.log(copier)).includes("WRITE_OFF SELL DONE executed 0.0003"),
  );
  expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
  // A sale is a share of what is left: of the strategy's 0.000999 0.0004 are promised to its exit, 0.0005 ×
  // 0.000299 / 0.000599.
  await stage.does(strategy, places("SELL", "0.0005"));
  expect((await stage.log(copier)).at(-1)).toContain("PLACE SELL MARKET 0.00024 FILLED");
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
