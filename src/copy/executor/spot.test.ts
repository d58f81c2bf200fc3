// A spot strategy is mirrored: every kind of order intent, and what is not copied, with its reason and its
// figures.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { decimal, formatBriefly } from "../../money/decimal.ts";
import { type CopiesStage, openCopiesStage, places } from "../testing/copies-stage.ts";

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

describe("orders at the market", () => {
  test("are bought in proportion, and sold as the share of what was bought", async () => {
    const full = await stage.copier(strategy, "SPOT");
    const half = await stage.copier(strategy, "SPOT", { share: decimal("0.5") });
    await stage.does(strategy, places("BUY", "0.001"));
    expect(await stage.log(full)).toEqual(["PLACE BUY MARKET 0.001 FILLED executed 0.001"]);
    expect(await stage.log(half)).toEqual(["PLACE BUY MARKET 0.0005 FILLED executed 0.0005"]);
    // The fee is taken out of what was bought.
    expect(await stage.owned(full, "BTC")).toBe("0.000999");
    expect(await stage.holds(full, "BTCUSDT")).toBe("0.000999");
    await stage.does(strategy, places("SELL", "0.00099"));
    expect((await stage.log(full)).at(-1)).toBe("PLACE SELL MARKET 0.00099 FILLED executed 0.00099");
    expect(await stage.holds(full, "BTCUSDT")).toBe(await stage.owned(full, "BTC"));
    expect(await stage.holds(half, "BTCUSDT")).toBe(await stage.owned(half, "BTC"));
  });

  test("the line says what the strategy got, what the venue gave, and when", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.001"));
    const [entry] = await stage.entries(copier);
    expect(entry).toMatchObject({
      seq: 1,
      leadPrice: decimal("100000"),
      executedQuote: decimal("100"),
      fee: decimal("0.1"),
      sends: 1,
      queries: 0,
      scale: { by: "EQUITY", ours: decimal("200"), theirs: decimal("200") },
    });
    expect(entry?.sentAt).toBe(stage.time.now());
    expect(entry?.acknowledgedAt).toBe(stage.time.now());
  });

  test("the book agrees with the venue's own account after many of them", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    for (const price of ["100000", "101000", "99000"]) {
      stage.pairs.show("BTCUSDT", `${Number(price) - 10}`, price);
      await stage.does(strategy, places("BUY", "0.0004"));
      await stage.does(strategy, places("SELL", "0.0002"));
    }
    const { book } = await stage.copy(copier);
    expect(await stage.owned(copier, "BTC")).toBe(await stage.holds(copier, "BTCUSDT"));
    const cash = decimal(await stage.owned(copier, "USDT")) - decimal("200");
    const cost = book.holdings.get("BTCUSDT")?.cost ?? 0n;
    // The cost of the holding, the realized profit, and all fees, those in the base asset too.
    expect(cash).toBe(book.realized - book.fees - cost);
  });
});

describe("a skipped order has its reason", () => {
  test("below the least notional, with the figures", async () => {
    const copier = await stage.copier(strategy, "SPOT", { share: decimal("0.04") });
    await stage.does(strategy, places("BUY", "0.001"));
    const [entry] = await stage.entries(copier);
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
    await stage.does(strategy, places("BUY", "0.001"));
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("SELL", "0.0005"));
    expect(await stage.log(copier)).toEqual([expect.stringContaining("SKIPPED NOTHING_HELD")]);
  });

  test("cancels and fills of what was never mirrored", async () => {
    const before = await stage.does(strategy, places("BUY", "0.0002", { at: "90000" }));
    const filled = await stage.does(strategy, places("BUY", "0.0003", { at: "90000" }));
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, { type: "CancelOrder", orderId: before });
    await stage.does(strategy, {
      type: "FillRestingOrder",
      orderId: filled,
      seen: decimal("90000"),
      seenAt: stage.time.now(),
    });
    expect(await stage.log(copier)).toEqual(["CANCEL SKIPPED NOT_MIRRORED", "FILL BUY SKIPPED NOT_MIRRORED"]);
    const { doneSeq } = await stage.copy(copier);
    expect(doneSeq).toBe((await stage.store.copying.findLead(strategy))?.seq);
  });
});

describe("open orders", () => {
  test("stay open, are canceled with the strategy's, and never before they were sent", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    const orderId = await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
    expect(await stage.log(copier)).toEqual(["PLACE BUY LIMIT 0.001 RESTING"]);
    await stage.does(strategy, { type: "CancelOrder", orderId });
    const [placed, canceled] = await stage.entries(copier);
    expect(await stage.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.001 CANCELED",
      "CANCEL BUY LIMIT 0.001 DONE",
    ]);
    expect(canceled?.sentAt).toBeGreaterThanOrEqual(placed?.acknowledgedAt ?? Number.POSITIVE_INFINITY);
    const [order] = await stage.venue.orders(copier.account, "BTCUSDT");
    expect(order?.status).toBe("CANCELED");
  });

  test("are settled when the venue has filled them, and the strategy's price is noted when its own is", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    const orderId = await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
    const [order] = await stage.venue.orders(copier.account, "BTCUSDT");
    await stage.venue.fill(copier.account, `${order?.orderId}`, "90000");
    await stage.does(strategy, {
      type: "FillRestingOrder",
      orderId,
      seen: decimal("90000"),
      seenAt: stage.time.now(),
    });
    const [placed] = await stage.entries(copier);
    expect(await stage.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.001 FILLED executed 0.001",
      "FILL BUY LIMIT DONE",
    ]);
    expect(formatBriefly(placed?.leadPrice ?? 0n)).toBe("90000");
    expect(await stage.holds(copier, "BTCUSDT")).toBe(await stage.owned(copier, "BTC"));
  });

  test("that the strategy was filled at stay open, until it holds nothing more", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    const orderId = await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
    await stage.does(strategy, {
      type: "FillRestingOrder",
      orderId,
      seen: decimal("90000"),
      seenAt: stage.time.now(),
    });
    expect(await stage.log(copier)).toEqual(["PLACE BUY LIMIT 0.001 RESTING", "FILL BUY LIMIT DONE"]);
    await stage.does(strategy, places("SELL", "0.00099"));
    expect(await stage.log(copier)).toEqual([
      "PLACE BUY LIMIT 0.001 CANCELED OVERTAKEN",
      "FILL BUY LIMIT DONE",
      expect.stringContaining("PLACE SELL MARKET SKIPPED NOTHING_HELD"),
    ]);
  });

  test("stops are open as stops, with their triggers", async () => {
    const copier = await stage.copier(strategy, "SPOT");
    await stage.does(strategy, places("BUY", "0.001"));
    await stage.does(strategy, places("SELL", "0.0005", { at: "94000", stop: "95000" }));
    const orders = await stage.venue.orders(copier.account, "BTCUSDT");
    expect(orders.at(-1)).toMatchObject({
      type: "STOP_LOSS_LIMIT",
      status: "NEW",
      stopPrice: decimal("95000"),
      price: decimal("94000"),
      quantity: decimal("0.0005"),
    });
    expect(await stage.log(copier)).toHaveLength(2);
  });
});

test("what would be cut for want of funds is sized again once the venue has reported the balances", async () => {
  const copier = await stage.copier(strategy, "SPOT");
  const orderId = await stage.does(strategy, places("BUY", "0.001", { at: "90000" }));
  // Only the venue knows what that frees.
  await stage.does(strategy, { type: "CancelOrder", orderId });
  await stage.does(strategy, places("BUY", "0.00111"));
  expect((await stage.log(copier)).at(-1)).toBe("PLACE BUY MARKET 0.00111 FILLED executed 0.00111");
});
