// Orders under `strict` on other terms, from the sending of the order to the stored rows, under manual time.
// Figures are worked out by hand from the books in the tests; W18 is that of the model. Source: strict fills,
// sections 12 and 15.
import { describe, expect, test } from "vitest";
import type { Command, PlaceOrder } from "../../domain/command.ts";
import type { Counterfactual } from "../../domain/counterfactual.ts";
import type { TimeInForce } from "../../domain/order.ts";
import { type Decimal, decimal, formatBriefly, type Price } from "../../money/decimal.ts";
import { cleanFixtures, createFixture, START, startOn } from "../testing/fixture.ts";

const SYMBOL = "BTCUSDT";
/** The worked examples' book S. */
const BOOK_S = {
  asks: "60000x0.0005 60001x0.0005 60010x0.001 60100x5",
  bids: "59999.99x0.001 59999x0.002 59990x1",
};
const LATENCY_50 = { strict: { latency: 50 }, hasShadows: true };

cleanFixtures();

type Fixture = Awaited<ReturnType<typeof createFixture>>;
type Terms = { readonly price?: string; readonly timeInForce?: TimeInForce };

let lastClientId = 0;

function order(side: "BUY" | "SELL", quantity: string, terms: Terms = {}): PlaceOrder {
  const { price, timeInForce } = terms;
  lastClientId += 1;
  return {
    type: "PlaceOrder",
    symbol: SYMBOL,
    side,
    orderType: price === undefined ? "MARKET" : "LIMIT",
    size: { quantity: decimal(quantity) },
    price: price === undefined ? null : decimal(price),
    stopPrice: null,
    clientOrderId: `order-${lastClientId}`,
    ...(timeInForce !== undefined && { timeInForce }),
  };
}

/**
 * A fixture with a known book; `send` does not wait, `pass` lets time go by in steps that change the market.
 */
async function shadowFixture(options: Parameters<typeof createFixture>[0] = LATENCY_50) {
  const all = await createFixture(options);
  all.market.openBook(SYMBOL, BOOK_S);
  all.market.show(SYMBOL, "59999.99", "60000");
  await all.triggers.open();
  await all.shadows.open();
  return {
    ...all,
    send: (command: Command) => void all.desk.execute("one", command),
    async pass(ms: number, change: () => void = () => {}): Promise<void> {
      await all.settled();
      all.time.advance(ms);
      await all.settled();
      change();
      await all.settled();
    },
  };
}

const plain = (value: Decimal | null) => (value === null ? null : formatBriefly(value));

/** The rows in words: terms, status, quantity, quote, fee, times since the start, difference. */
function wordsOf(found: Counterfactual | null) {
  return found?.rows.map((row) => [
    `${row.profile} ${row.latencyMs}`,
    row.status,
    plain(row.executedQuantity),
    plain(row.executedQuote),
    `${plain(row.fee)} ${row.feeAsset}`,
    row.firstFillAt === null ? null : row.firstFillAt - START,
    row.lastFillAt === null ? null : row.lastFillAt - START,
    plain(row.difference),
  ]);
}

async function rowsOf({ store }: Pick<Fixture, "store">, orderId = 1) {
  return wordsOf(await store.findCounterfactual("one", orderId));
}

describe("an order that takes", () => {
  test("W1 and W18: walks the book that is displayed when it would have arrived", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.0015"));
    await all.pass(50);
    // Between 50 and 250 ms the asks rise: 0.001 at 60040, the rest at 60100.
    await all.pass(100, () => {
      all.market.diff(SYMBOL, { asks: "60000x0 60001x0 60010x0 60040x0.001" });
      all.market.show(SYMBOL, "59999.99", "60040");
    });
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    expect(await rowsOf(all)).toBe(undefined);
    await all.pass(99);
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    await all.pass(1);
    expect(all.shadows.isRunning("one", 1)).toBe(false);
    // The order: 30 + 30.0005 + 30.005, fees 0.0000005 BTC each, worth 0.03, 0.0300005 and 0.030005:
    // 90.0955055. Standard: 90, fee 0.0000015 BTC worth 0.09: 90.09. After 250 ms: 60.04 + 30.05, fees
    // 0.06004 and 0.03005.
    expect(await rowsOf(all)).toEqual([
      ["standard 0", "FILLED", "0.0015", "90", "0.0000015 BTC", 0, 0, "-0.0055055"],
      ["strict 0", "FILLED", "0.0015", "90.0055", "0.0000015 BTC", 0, 0, "0"],
      ["strict 50", "FILLED", "0.0015", "90.0055", "0.0000015 BTC", 50, 50, "0"],
      ["strict 250", "FILLED", "0.0015", "90.09", "0.0000015 BTC", 250, 250, "0.0845845"],
      ["own 50", "FILLED", "0.0015", "90.0055", "0.0000015 BTC", 50, 50, "0"],
    ]);
  });

  test("a seller's difference is what it received less, and only for what both executed", async () => {
    const all = await shadowFixture({ ...LATENCY_50, strict: { latency: 0 } });
    all.send(order("BUY", "0.003"));
    await all.pass(10_000, () => all.market.openBook(SYMBOL, { asks: "60100x5", bids: "59999x0.002" }));
    all.market.show(SYMBOL, "59999", "60100");
    all.send(order("SELL", "0.0025"));
    await all.pass(100, () => all.market.diff(SYMBOL, { bids: "59999x0 59000x0.001" }));
    await all.pass(150);
    // The order: 0.002 @ 59999, 119.998 less the fee of 0.119998: 119.878002.
    // Standard: 0.0025 @ 59999 = 149.9975, fee 0.1499975; of the 0.002 that both sold it received as much.
    // After 250 ms: 0.001 @ 59000, 59 less 0.059: 58.941, against 59.939001 for 0.001.
    expect(await rowsOf(all, 2)).toEqual([
      ["standard 0", "FILLED", "0.0025", "149.9975", "0.1499975 USDT", 10_000, 10_000, "0"],
      ["strict 0", "EXPIRED", "0.002", "119.998", "0.119998 USDT", 10_000, 10_000, "0"],
      ["strict 50", "EXPIRED", "0.002", "119.998", "0.119998 USDT", 10_050, 10_050, "0"],
      ["strict 250", "EXPIRED", "0.001", "59", "0.059 USDT", 10_250, 10_250, "0.998001"],
      ["own 0", "EXPIRED", "0.002", "119.998", "0.119998 USDT", 10_000, 10_000, "0"],
    ]);
  });

  test("IOC and FOK end as they would have ended, and standard refuses them", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "60001", timeInForce: "FOK" }));
    all.send(order("BUY", "0.002", { price: "60001", timeInForce: "IOC" }));
    await all.pass(50);
    await all.pass(100, () => all.market.diff(SYMBOL, { asks: "60000x0" }));
    await all.pass(100);
    expect(await rowsOf(all, 1)).toEqual([
      ["standard 0", "REJECTED", "0", "0", "0 BTC", null, null, null],
      ["strict 0", "FILLED", "0.001", "60.0005", "0.000001 BTC", 0, 0, "0"],
      ["strict 50", "FILLED", "0.001", "60.0005", "0.000001 BTC", 50, 50, "0"],
      ["strict 250", "EXPIRED", "0", "0", "0 BTC", null, null, null],
      ["own 50", "FILLED", "0.001", "60.0005", "0.000001 BTC", 50, 50, "0"],
    ]);
    // What the first order took is not there for the second, on any terms: at 250 ms it took nothing, so
    // 0.0005 are.
    expect(await rowsOf(all, 2)).toEqual([
      ["standard 0", "REJECTED", "0", "0", "0 BTC", null, null, null],
      ["strict 0", "EXPIRED", "0", "0", "0 BTC", null, null, null],
      ["strict 50", "EXPIRED", "0", "0", "0 BTC", null, null, null],
      ["strict 250", "EXPIRED", "0.0005", "30.0005", "0.0000005 BTC", 250, 250, null],
      ["own 50", "EXPIRED", "0", "0", "0 BTC", null, null, null],
    ]);
  });

  test("what the strategy took before is not there, whichever orders it is from", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.0005"));
    await all.pass(50);
    await all.pass(950);
    all.send(order("BUY", "0.0005"));
    await all.pass(50);
    await all.pass(200);
    // The first one took 0.0005 at 50 ms. Of that is away at 1,000 ms 0.0005 x 4050/5000 = 0.000405, so
    // 0.000095 are there @ 60000 and 0.000405 @ 60001; at 1,050 ms 0.0004, so 0.0001; at 1,250 ms 0.00038, so
    // 0.00012.
    const found = await all.store.findCounterfactual("one", 2);
    expect(found?.rows.map((row) => plain(row.executedQuote))).toEqual([
      "30",
      "30.000405",
      "30.0004",
      "30.00038",
      "30.0004",
    ]);
  });

  test("a shadowAccount whose book is not known waits for it, as the order does", async () => {
    const all = await shadowFixture();
    all.market.loseBook(SYMBOL);
    const known = Promise.withResolvers<void>();
    Object.assign(all.market, {
      prepareBook: () => (all.market.book(SYMBOL) === null ? known.promise : undefined),
    });
    all.send(order("BUY", "0.0005"));
    await all.pass(30, () => {
      all.market.openBook(SYMBOL, BOOK_S);
      known.resolve();
    });
    await all.pass(20);
    await all.pass(200);
    const found = await all.store.findCounterfactual("one", 1);
    expect(found?.rows.map(({ firstFillAt }) => (firstFillAt ?? 0) - START)).toEqual([0, 30, 50, 250, 50]);
  });

  test("the order of a signal is compared, and a stop is not", async () => {
    const all = await shadowFixture();
    const command = order("BUY", "0.0005");
    all.send({ type: "ExecuteSignal", signalId: command.clientOrderId, processedAt: START, order: command });
    await all.pass(50);
    await all.pass(200);
    expect(await rowsOf(all, 1)).toHaveLength(5);
    all.market.trade(SYMBOL, "60000");
    all.send({ ...order("SELL", "0.0004"), orderType: "STOP_LOSS", stopPrice: decimal("50000") });
    await all.pass(50);
    expect(await all.statusOf("one", 2)).toBe("NEW");
    expect(all.shadows.isRunning("one", 2)).toBe(false);
  });

  test("an order that never takes is refused where it would have taken", async () => {
    const all = await shadowFixture({ ...LATENCY_50, type: "FUTURES" });
    all.market.openBook(SYMBOL, { asks: "101x1", bids: "100x1" });
    all.market.show(SYMBOL, "100", "101");
    all.send({ ...order("BUY", "0.1", { price: "100.5", timeInForce: "GTX" }) });
    await all.pass(50);
    // At 250 ms an ask is within the limit, which fills those that wait: 0.05.
    await all.pass(100, () => all.market.diff(SYMBOL, { asks: "100.5x0.05" }));
    await all.pass(100);
    all.send({ type: "CancelOrder", orderId: 1 });
    await all.pass(50);
    await all.pass(200);
    expect(await rowsOf(all)).toEqual([
      ["standard 0", "REJECTED", "0", "0", "0 USDT", null, null, null],
      ["strict 0", "CANCELED", "0.05", "5.025", "0.001005 USDT", 150, 150, "0"],
      ["strict 50", "CANCELED", "0.05", "5.025", "0.001005 USDT", 150, 150, "0"],
      ["strict 250", "REJECTED", "0", "0", "0 USDT", null, null, null],
      ["own 50", "CANCELED", "0.05", "5.025", "0.001005 USDT", 150, 150, "0"],
    ]);
  });

  test("a futures order with legs is compared without them, and what it reduces is the strategy's position", async () => {
    const all = await shadowFixture({ ...LATENCY_50, type: "FUTURES" });
    all.market.openBook(SYMBOL, { asks: "101x1", bids: "100x0.3 99x1" });
    all.market.show(SYMBOL, "100", "101");
    const attached = { takeProfitPrice: decimal<Price>("150"), stopLossPrice: decimal<Price>("50") };
    all.send({ ...order("BUY", "0.5"), entry: { reduceOnly: false, leverage: null, attached } });
    await all.pass(50);
    await all.pass(200);
    // 50.5, and a fee of 0.02525.
    const filled = ["FILLED", "0.5", "50.5", "0.02525 USDT"] as const;
    expect((await rowsOf(all, 1))?.map(([, ...rest]) => rest.slice(0, 4))).toEqual(
      Array(5).fill([...filled]),
    );
    // Placed for more than is held: 0.5 are sold, 0.3 @ 100 and 0.2 @ 99, or all @ 100 under standard. The
    // order's legs have the ids 2 and 3.
    all.send({ ...order("SELL", "0.9"), entry: { reduceOnly: true, leverage: null, attached: null } });
    await all.pass(50);
    await all.pass(200);
    expect((await rowsOf(all, 4))?.map((row) => [row[0], row[2], row[3], row[7]])).toEqual([
      ["standard 0", "0.5", "50", "-0.1999"],
      ["strict 0", "0.5", "49.8", "0"],
      ["strict 50", "0.5", "49.8", "0"],
      ["strict 250", "0.5", "49.8", "0"],
      ["own 50", "0.5", "49.8", "0"],
    ]);
  });

  test("an order that is refused has no rows, and one without the strategy's funds none that differ", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "1"));
    await all.pass(300);
    expect(all.shadows.isRunning("one", 1)).toBe(false);
    all.send(order("BUY", "0.0001"));
    await all.pass(300);
    expect(await rowsOf(all, 1)).toHaveLength(5);
  });

  test("nobody waits for a shadow: the answer is there when the order is committed", async () => {
    const all = await shadowFixture({ ...LATENCY_50, strict: { latency: 0 } });
    const outcome = await all.desk.execute("one", order("BUY", "0.0005"));
    expect(outcome).toMatchObject({ orders: [{ status: "FILLED" }] });
    expect(all.time.now()).toBe(START);
    expect(all.shadows.isRunning("one", 1)).toBe(true);
  });

  test("rows that cannot be stored are stored later", async () => {
    const all = await shadowFixture();
    all.storage.failsToNote = true;
    all.send(order("BUY", "0.0005"));
    await all.pass(250);
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    all.storage.failsToNote = false;
    await all.pass(1_000);
    expect(all.shadows.isRunning("one", 1)).toBe(false);
    expect(await rowsOf(all)).toHaveLength(5);
  });

  test("of more than 20 orders on their way the last have no shadows", async () => {
    const all = await shadowFixture();
    for (let count = 0; count < 22; count += 1) all.send(order("BUY", "0.00001"));
    await all.pass(50);
    await all.pass(200);
    const found = await Promise.all(
      Array.from({ length: 22 }, (_each, index) => all.store.findCounterfactual("one", index + 1)),
    );
    expect(found.map((each) => each !== null)).toEqual([...Array(20).fill(true), false, false]);
    // Nothing is left of them.
    all.send(order("BUY", "0.00001"));
    await all.pass(50);
    await all.pass(200);
    expect(await rowsOf(all, 23)).toHaveLength(5);
  });
});

describe("an order that rests", () => {
  /** One trade of a seller at the present time. */
  const sells = ({ market }: Pick<Fixture, "market">, quantity: string, price: string) =>
    market.aggregate(SYMBOL, "seller", quantity, price);

  test("waits in a queue of its own, from its arrival on", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59999.99" }));
    // In front are 0.001; at 30 ms others join behind, who are in front of what arrives later.
    await all.pass(20, () => sells(all, "0.0006", "59999.99"));
    await all.pass(10, () => all.market.diff(SYMBOL, { bids: "59999.99x0.003" }));
    await all.pass(20);
    await all.pass(200);
    await all.pass(50, () => sells(all, "0.0015", "59999.99"));
    await all.pass(100, () => sells(all, "0.002", "59999.99"));
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    await all.pass(100, () => sells(all, "0.01", "59999.99"));
    expect(all.shadows.isRunning("one", 1)).toBe(false);
    const all4 = ["0.001", "59.99999", "0.000001 BTC"] as const;
    expect(await rowsOf(all)).toEqual([
      ["standard 0", "NEW", "0", "0", "0 BTC", null, null, null],
      ["strict 0", "FILLED", ...all4, 300, 300, "0"],
      ["strict 50", "FILLED", ...all4, 400, 500, "0"],
      ["strict 250", "FILLED", ...all4, 400, 500, "0"],
      ["own 50", "FILLED", ...all4, 400, 500, "0"],
    ]);
    expect(all.market.followedBooks()).toEqual([]);
  });

  test("a cancel arrives with the latency of each alternative", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59999" }));
    await all.pass(50);
    await all.pass(350);
    all.send({ type: "CancelOrder", orderId: 1 });
    await all.pass(30, () => sells(all, "0.0004", "59998"));
    await all.pass(20);
    expect(await all.statusOf("one", 1)).toBe("CANCELED");
    await all.pass(50, () => sells(all, "0.0005", "59998"));
    await all.pass(149);
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    await all.pass(1);
    // At the limit: 0.0004 for 23.9996, 0.0005 for 29.9995.
    expect(await rowsOf(all)).toEqual([
      ["standard 0", "CANCELED", "0", "0", "0 BTC", null, null, null],
      ["strict 0", "CANCELED", "0", "0", "0 BTC", null, null, null],
      ["strict 50", "CANCELED", "0.0004", "23.9996", "0.0000004 BTC", 430, 430, "0"],
      ["strict 250", "CANCELED", "0.0009", "53.9991", "0.0000009 BTC", 430, 500, "0"],
      ["own 50", "CANCELED", "0.0004", "23.9996", "0.0000004 BTC", 430, 430, "0"],
    ]);
  });

  test("takes what it can and waits with the rest, on each of the terms", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.002", { price: "60001" }));
    await all.pass(50);
    // At 250 ms the ask at 60000 is gone.
    await all.pass(100, () => all.market.diff(SYMBOL, { asks: "60000x0" }));
    await all.pass(100);
    await all.pass(50, () => sells(all, "0.0012", "60001"));
    await all.pass(50);
    expect(await all.statusOf("one", 1)).toBe("FILLED");
    // The order: 30 + 30.0005 + 60.001, fees worth 0.03, 0.0300005 and 0.060001: 120.1215015 for 0.002.
    // Standard: 120, fee worth 0.12. After 250 ms: 30.0005 and 72.0012, fees 0.0300005 and 0.0720012,
    // 102.1037017 for 0.0017, of which the order's average is 102.103276275.
    expect(await rowsOf(all)).toEqual([
      ["standard 0", "FILLED", "0.002", "120", "0.000002 BTC", 0, 0, "-0.0015015"],
      ["strict 0", "FILLED", "0.002", "120.0015", "0.000002 BTC", 0, 300, "0"],
      ["strict 50", "FILLED", "0.002", "120.0015", "0.000002 BTC", 50, 300, "0"],
      ["strict 250", "PARTIALLY_FILLED", "0.0017", "102.0017", "0.0000017 BTC", 250, 300, "0.00042543"],
      ["own 50", "FILLED", "0.002", "120.0015", "0.000002 BTC", 50, 300, "0"],
    ]);
  });

  test("is filled by the book that crosses it, and under standard by the quote that reaches its limit", async () => {
    const all = await shadowFixture({ ...LATENCY_50, strict: { latency: 250 } });
    all.send(order("BUY", "0.002", { price: "59995" }));
    await all.pass(100, () =>
      all.market.diff(SYMBOL, { bids: "59999.99x0 59999x0 59990x1", asks: "59994x0.0005" }),
    );
    await all.pass(50, () => all.market.show(SYMBOL, "59990", "59994"));
    await all.pass(50, () => all.market.diff(SYMBOL, { asks: "59994x0" }));
    await all.pass(50);
    await all.pass(50);
    all.send({ type: "CancelOrder", orderId: 1 });
    await all.pass(250);
    expect(await rowsOf(all)).toEqual([
      ["standard 0", "FILLED", "0.002", "119.99", "0.000002 BTC", 150, 150, null],
      ["strict 0", "CANCELED", "0.0005", "29.9975", "0.0000005 BTC", 100, 100, null],
      ["strict 50", "CANCELED", "0.0005", "29.9975", "0.0000005 BTC", 100, 100, null],
      ["strict 250", "CANCELED", "0", "0", "0 BTC", null, null, null],
      ["own 250", "CANCELED", "0", "0", "0 BTC", null, null, null],
    ]);
  });

  test("gets nothing of a trade that a ticker shows before it arrives, when the book is known again", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.003", { price: "59999.99" }));
    await all.pass(50);
    await all.pass(250);
    const since = all.time.now();
    await all.pass(1_000, () => {
      all.market.silence(SYMBOL);
      all.market.diff(SYMBOL, { bids: "59980x1" }, since + 900);
    });
    // A seller of 0.001 has met those in front.
    all.market.show(SYMBOL, "59999", "60000");
    all.market.ticker(SYMBOL, { bids: "59999x0.002", asks: "60000x0.0005" }, { ahead: 1 });
    await all.pass(30, () => all.market.aggregate(SYMBOL, "seller", "0.001", "59999.99", since + 980));
    all.send({ type: "CancelOrder", orderId: 1 });
    await all.pass(50);
    await all.pass(250);
    const rows = await rowsOf(all);
    expect(rows?.map(([terms, status, quantity]) => [terms, status, quantity])).toEqual([
      ["standard 0", "CANCELED", "0"],
      ["strict 0", "CANCELED", "0"],
      ["strict 50", "CANCELED", "0"],
      ["strict 250", "CANCELED", "0"],
      ["own 50", "CANCELED", "0"],
    ]);
  });

  test.each([
    ["has rows after a gap that only the trades of its book had, before that was followed", true],
    ["has no rows after another gap", false],
  ])("%s", async (_what, isOfNewStream) => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(300);
    all.market.miss(SYMBOL, all.time.now() - 300, all.time.now(), isOfNewStream);
    all.send({ type: "CancelOrder", orderId: 1 });
    await all.pass(300);
    expect((await rowsOf(all))?.length).toBe(isOfNewStream ? 5 : undefined);
  });

  test("has no rows after a gap of its book's trades if it was placed while the book was not known", async () => {
    const all = await shadowFixture();
    all.market.loseBook(SYMBOL);
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(300);
    all.market.miss(SYMBOL, all.time.now() - 300, all.time.now(), true);
    all.send({ type: "CancelOrder", orderId: 1 });
    await all.pass(300);
    expect(await rowsOf(all)).toBe(undefined);
  });

  test("has no rows once a trade was missed, though the order itself goes on", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(50);
    await all.pass(300, () => sells(all, "0.0001", "59999"));
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    await all.pass(10, () => all.market.unheard(SYMBOL, "seller", "0.0001", "59999"));
    await all.pass(10, () => sells(all, "0.0001", "59999"));
    expect(all.shadows.isRunning("one", 1)).toBe(false);
    await all.pass(10, () => sells(all, "5", "59980"));
    expect(await all.statusOf("one", 1)).toBe("FILLED");
    expect(await rowsOf(all)).toBe(undefined);
  });

  test("has no rows after a restart", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(50);
    await all.pass(300);
    await all.shadows.close();
    const { shadows, market, triggers, ...later } = startOn(all.store, all.time, "SPOT", true);
    market.openBook(SYMBOL, BOOK_S);
    await triggers.open();
    await shadows.open();
    expect(shadows.isRunning("one", 1)).toBe(false);
    void later.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    await later.settled();
    all.time.advance(50);
    await later.settled();
    expect(await later.statusOf("one", 1)).toBe("CANCELED");
    expect(await rowsOf(all)).toBe(undefined);
  });

  test("ends when another server has ended the order", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(50);
    await all.pass(300);
    const other = startOn(all.store, all.time);
    void other.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    await other.settled();
    await all.pass(50);
    await other.settled();
    expect(await all.statusOf("one", 1)).toBe("CANCELED");
    expect(all.shadows.isRunning("one", 1)).toBe(true);
    all.storage.elsewhere.committed([{ strategyId: "one", type: "SPOT" }]);
    await all.pass(200);
    expect((await rowsOf(all))?.map(([, status]) => status)).toEqual(Array(5).fill("CANCELED"));
  });

  test("ends when another server has ended the order before it knew that this one watches", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(350);
    const other = startOn(all.store, all.time);
    void other.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    await other.settled();
    await all.pass(50);
    await other.settled();
    expect(await rowsOf(all)).toBe(undefined);
    await all.pass(1_000);
    await all.pass(200);
    expect((await rowsOf(all))?.map(([, status]) => status)).toEqual(Array(5).fill("CANCELED"));
  });

  test("ends within a minute when another server has ended the order and was killed before it said so", async () => {
    const all = await shadowFixture();
    all.send(order("BUY", "0.001", { price: "59990" }));
    await all.pass(350);
    await all.pass(1_000);
    const other = startOn(all.store, all.time);
    void other.desk.execute("one", { type: "CancelOrder", orderId: 1 });
    await other.settled();
    await all.pass(50);
    await other.settled();
    await all.pass(60_000);
    await all.pass(200);
    expect((await rowsOf(all))?.map(([, status]) => status)).toEqual(Array(5).fill("CANCELED"));
  });

  test("of more than 20 the oldest give way", async () => {
    const all = await shadowFixture({ ...LATENCY_50, strict: { latency: 0 } });
    for (let count = 0; count < 21; count += 1) {
      await all.desk.execute("one", order("BUY", "0.00001", { price: "59000" }));
    }
    const running = Array.from({ length: 21 }, (_each, index) => all.shadows.isRunning("one", index + 1));
    expect(running).toEqual([false, ...Array(20).fill(true)]);
  });
});
