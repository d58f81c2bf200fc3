// A spot strategy is mirrored: every kind of order intent, and what is not copied, with its reason and its
// figures.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal, formatBriefly } from "../../money/decimal.ts";
import { type CopiesFixture, openCopiesFixture, places } from "../testing/copies-fixture.ts";

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

describe("orders at the market", () => {
  test("are bought in proportion, and sold as the share of what was bought", async () => {
    const full = await fixture.copier(strategy, "SPOT");
    const half = await fixture.copier(strategy, "SPOT", { share: decimal("0.5") });
    await fixture.does(strategy, places("BUY", "0.001"));
    expect(await fixture.log(full)).toEqual(["PLACE BUY MARKET 0.001 FILLED executed 0.001"]);
    expect(await fixture.log(half)).toEqual(["PLACE BUY MARKET 0.0005 FILLED executed 0.0005"]);
    // The fee is taken out of what was bought.
    expect(await fixture.owned(full, "BTC")).toBe("0.000999");
    expect(await fixture.holds(full, "BTCUSDT")).toBe("0.000999");
    await fixture.does(strategy, places("SELL", "0.00099"));
    expect((await fixture.log(full)).at(-1)).toBe("PLACE SELL MARKET 0.00099 FILLED executed 0.00099");
    expect(await fixture.holds(full, "BTCUSDT")).toBe(await fixture.owned(full, "BTC"));
    expect(await fixture.holds(half, "BTCUSDT")).toBe(await fixture.owned(half, "BTC"));
  });

  test("the line says what the strategy got, what the venue gave, and when", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.001"));
    const [entry] = await fixture.entries(copier);
    expect(entry).toMatchObject({
      seq: 1,
      leadPrice: decimal("100000"),
      executedQuote: decimal("100"),
      fee: decimal("0.1"),
      sends: 1,
      queries: 0,
      scale: { by: "EQUITY", ours: decimal("200"), theirs: decimal("200") },
    });
    expect(entry?.sentAt).toBe(fixture.time.now());
    expect(entry?.acknowledgedAt).toBe(fixture.time.now());
  });

  test("the book agrees with the venue's own account after many of them", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    for (const price of ["100000", "101000", "99000"]) {
      fixture.pairs.show("BTCUSDT", `${Number(price) - 10}`, price);
      await fixture.does(strategy, places("BUY", "0.0004"));
      await fixture.does(strategy, places("SELL", "0.0002"));
    }
    const { book } = await fixture.copy(copier);
    expect(await fixture.owned(copier, "BTC")).toBe(await fixture.holds(copier, "BTCUSDT"));
    const cash = decimal(await fixture.owned(copier, "USDT")) - decimal("200");
    const cost = book.holdings.get("BTCUSDT")?.cost ?? 0n;
    // The cost of the holding, the realized profit, and all fees, those in the base asset too.
    expect(cash).toBe(book.realized - book.fees - cost);
  });
});

describe("a skipped order has its reason", () => {
  test("below the least notional, with the figures", async () => {
    const copier = await fixture.copier(strategy, "SPOT", { share: decimal("0.04") });
    await fixture.does(strategy, places("BUY", "0.001"));
    const [entry] = await fixture.entries(copier);
    expect(entry?.status).toBe("SKIPPED");
    expect(entry?.skip).toMatchObject({
      reason: "BELOW_MIN_NOTIONAL",
      filter: "NOTIONAL",
      wanted: decimal("5"),
      had: decimal("4"),
      unit: "QUOTE",
    });
    expect(entry?.clientOrderId).toBeNull();
  });

  test("nothing held to be sold, because the copy began later", async () => {
    await fixture.does(strategy, places("BUY", "0.001"));
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("SELL", "0.0005"));
    expect(await fixture.log(copier)).toEqual([expect.stringContaining("SKIPPED NOTHING_HELD")]);
  });

  test("cancels and fills of what was never mirrored", async () => {
    const before = await fixture.does(strategy, places("BUY", "0.0002", { at: "90000" }));
    const filled = await fixture.does(strategy, places("BUY", "0.0003", { at: "90000" }));
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, { type: "CancelOrder", orderId: before });
    await fixture.does(strategy, {
      type: "FillRestingOrder",
      orderId: filled,
      seen: decimal("90000"),
      seenAt: fixture.time.now(),
    });
    expect(await fixture.log(copier)).toEqual([
      "CANCEL SKIPPED NOT_MIRRORED",
      "FILL BUY SKIPPED NOT_MIRRORED",
    ]);
    const { doneSeq } = await fixture.copy(copier);
    expect(doneSeq).toBe((await fixture.store.copying.findLead(strategy))?.seq);
  });
});

describe("open orders", () => {
  test("stay open, are canceled with the strategy's, and never before they were sent", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
    expect(await fixture.log(copier)).toEqual(["PLACE BUY LIMIT 0.001 RESTING"]);
    await fixture.does(strategy, { type: "CancelOrder", orderId });
    const [placed, canceled] = await fixture.entries(copier);
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.001 CANCELED",
      "CANCEL BUY LIMIT 0.001 DONE",
    ]);
    expect(canceled?.sentAt).toBeGreaterThanOrEqual(placed?.acknowledgedAt ?? Number.POSITIVE_INFINITY);
    const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
    expect(order?.status).toBe("CANCELED");
  });

  test("are settled when the venue has filled them, and the strategy's price is noted when its own is", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
    const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
    await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
    await fixture.does(strategy, {
      type: "FillRestingOrder",
      orderId,
      seen: decimal("90000"),
      seenAt: fixture.time.now(),
    });
    const [placed] = await fixture.entries(copier);
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.001 FILLED executed 0.001",
      "FILL BUY LIMIT DONE",
    ]);
    expect(formatBriefly(placed?.leadPrice ?? 0n)).toBe("90000");
    expect(await fixture.holds(copier, "BTCUSDT")).toBe(await fixture.owned(copier, "BTC"));
  });

  test("that the strategy was filled at stay open, until it holds nothing more", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
    await fixture.does(strategy, {
      type: "FillRestingOrder",
      orderId,
      seen: decimal("90000"),
      seenAt: fixture.time.now(),
    });
    expect(await fixture.log(copier)).toEqual(["PLACE BUY LIMIT 0.001 RESTING", "FILL BUY LIMIT DONE"]);
    await fixture.does(strategy, places("SELL", "0.00099"));
    expect(await fixture.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.001 CANCELED OVERTAKEN",
      "FILL BUY LIMIT DONE",
      expect.stringContaining("PLACE SELL MARKET SKIPPED NOTHING_HELD"),
    ]);
  });

  test("stops are open as stops, with their triggers", async () => {
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.does(strategy, places("SELL", "0.0005", { at: "94000", stop: "95000" }));
    const orders = await fixture.venue.orders(copier.account, "BTCUSDT");
    expect(orders.at(-1)).toMatchObject({
      type: "STOP_LOSS_LIMIT",
      status: "NEW",
      stopPrice: decimal("95000"),
      price: decimal("94000"),
      quantity: decimal("0.0005"),
    });
    expect(await fixture.log(copier)).toHaveLength(2);
  });
});

test("what would be cut for want of funds is sized again once the venue has reported the balances", async () => {
  const copier = await fixture.copier(strategy, "SPOT");
  const orderId = await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }));
  // Only the venue knows what that frees.
  await fixture.does(strategy, { type: "CancelOrder", orderId });
  await fixture.does(strategy, places("BUY", "0.00111"));
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY MARKET 0.00111 FILLED executed 0.00111");
});
