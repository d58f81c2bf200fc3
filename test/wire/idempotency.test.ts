// One client order id, one order: at once, later, and after a restart or a crash.
import { beforeEach, describe, expect, test } from "vitest";
import { percentOf } from "../clients/contract-sums.ts";
import { balancesAfter } from "../support/exact.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed, type WireAnswer } from "../support/signed-client.ts";
import { restingPriceOf } from "../support/spot-trader.ts";

/** Some tests end it and start another on the same data. */
const gateway = seededGateway(12, { futuresStrategyCount: 1 });
let strategy: Credentials;

beforeEach(() => {
  strategy = gateway.takeStrategy();
});

const symbol = "BTCUSDT";
const ONCE = { symbol, side: "BUY", type: "MARKET", quantity: "0.00123", newClientOrderId: "once" };

const ask = (method: string, path: string, parameters: Record<string, string | number> = {}) =>
  signed(gateway.url, strategy, method, `/api/v3/${path}`, parameters);
const place = (order: Record<string, string | number>) => ask("POST", "order", order);

async function restingOrder(newClientOrderId: string) {
  const price = await restingPriceOf(gateway.url);
  return {
    symbol,
    side: "BUY",
    type: "LIMIT",
    timeInForce: "GTC",
    quantity: "0.001",
    price,
    newClientOrderId,
  };
}

async function expectOneFill(): Promise<void> {
  const { body: fills } = await ask("GET", "myTrades", { symbol });
  expect(fills).toHaveLength(1);
  const { base, quote } = balancesAfter(fills);
  expect((await ask("GET", "account")).body.balances).toEqual([
    { asset: "USDT", free: quote, locked: "0.00000000" },
    { asset: "BTC", free: base, locked: "0.00000000" },
  ]);
  expect((await ask("GET", "allOrders", { symbol })).body).toHaveLength(1);
}

test("twenty requests at once with one client order id place one order and get the same answer", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => place(ONCE)));
  const [first] = answers;
  expect(first).toMatchObject({ status: 200, body: { status: "FILLED", clientOrderId: "once" } });
  for (const { status, body } of answers)
    expect({ status, body }).toEqual({ status: 200, body: first?.body });
  await expectOneFill();
});

test("twenty requests at once that differ in all but the client order id place one order", async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_none, index) => place({ ...ONCE, quantity: `0.000${index + 10}` })),
  );
  const [first] = answers;
  for (const { status, body } of answers)
    expect({ status, body }).toEqual({ status: 200, body: first?.body });
  await expectOneFill();
});

describe("the header x-lyrebird-replay", () => {
  const isReplay = ({ headers }: Pick<WireAnswer, "headers">) => headers.get("x-lyrebird-replay");
  test("distinguishes a replayed placement from one that placed an order, whatever it requests", async () => {
    expect(isReplay(await place(ONCE))).toBeNull();
    for (const changed of [{}, { quantity: "0.002" }, { symbol: "ETHUSDT" }, { side: "SELL" }]) {
      const again = await place({ ...ONCE, ...changed });
      expect([again.status, isReplay(again), again.body.side]).toEqual([200, "true", "BUY"]);
    }
    expect(isReplay(await ask("GET", "order", { symbol, origClientOrderId: "once" }))).toBeNull();
    expect(isReplay(await place({ ...ONCE, newClientOrderId: "twice" }))).toBeNull();
    const refused = await place({ ...ONCE, newClientOrderId: "thrice", quantity: "9" });
    expect([refused.status, isReplay(refused)]).toEqual([400, null]);
  });

  test("is missing from one answer alone when twenty requests ask for one order at once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => place(ONCE)));
    expect(answers.filter((answer) => isReplay(answer) === null)).toHaveLength(1);
  });

  test("is there for futures orders and legs too", async () => {
    const futures = gateway.takeFuturesStrategy();
    const post = (path: string, parameters: Record<string, string | number>) =>
      signed(gateway.url, futures, "POST", `/fapi/v1/${path}`, parameters);
    const entry = { symbol, side: "BUY", type: "MARKET", quantity: "0.002", newClientOrderId: "entry" };
    expect(isReplay(await post("order", entry))).toBeNull();
    expect(isReplay(await post("order", { ...entry, side: "SELL" }))).toBe("true");
    const stop = { symbol, side: "SELL", type: "STOP_MARKET", closePosition: "true", clientAlgoId: "stop" };
    const market = await send(gateway.url, "GET", `/fapi/v1/premiumIndex?symbol=${symbol}`);
    const leg = { ...stop, stopPrice: percentOf(market.body.markPrice, 95n) };
    const placed = await post("algoOrder", leg);
    expect([placed.body.algoStatus, isReplay(placed)]).toEqual(["NEW", null]);
    expect(isReplay(await post("algoOrder", leg))).toBe("true");
  });
});

test("a repeated client order id answers before filters and funds are checked", async () => {
  const { body } = await place(ONCE);
  for (const changed of [
    { quantity: "9" },
    { quantity: "0.000001" },
    { side: "SELL" },
    { symbol: "ETHUSDT" },
    { symbol: "NOSUCH" },
  ]) {
    const again = await place({ ...ONCE, ...changed });
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body });
  }
  // A request that makes no sense is refused as such.
  expect(await place({ ...ONCE, quantity: "x" })).toMatchObject({ status: 400, body: { code: -1100 } });
  await expectOneFill();
});

test("a repeated client order id answers with the order in its present state", async () => {
  const order = await restingOrder("standing");
  expect((await place(order)).body.status).toBe("NEW");
  expect((await place(order)).body.status).toBe("NEW");
  await ask("DELETE", "order", { symbol, origClientOrderId: "standing" });
  const { status, body } = await place(order);
  expect({ status, state: body.status }).toEqual({ status: 200, state: "CANCELED" });
  expect((await ask("GET", "openOrders")).body).toEqual([]);
});

test("a refused placement does not use its client order id up", async () => {
  expect(await place({ ...ONCE, quantity: "9" })).toMatchObject({ status: 400, body: { code: -2010 } });
  expect(await place(ONCE)).toMatchObject({ status: 200, body: { orderId: 1, origQty: "0.00123000" } });
  await expectOneFill();
});

test("orders without a client order id are orders of their own", async () => {
  const { newClientOrderId: _none, ...anonymous } = ONCE;
  const order = { ...anonymous, quantity: "0.0002" };
  const answers = await Promise.all(Array.from({ length: 10 }, () => place(order)));
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(new Set(answers.map(({ body }) => body.orderId)).size).toBe(10);
  expect(new Set(answers.map(({ body }) => body.clientOrderId)).size).toBe(10);
});

test.each(["stop", "kill"] as const)("after the server's %s, a retry replays", async (ending) => {
  const resting = await restingOrder("rested");
  const before = await Promise.all([place(ONCE), place(resting)]);
  await gateway.restart(ending);
  const after = await Promise.all([place(ONCE), place(resting)]);
  const bodies = (answers: readonly WireAnswer[]) => answers.map(({ status, body }) => ({ status, body }));
  expect(bodies(after)).toEqual(bodies(before));
  expect((await ask("GET", "openOrders")).body).toEqual([before[1].body]);
  expect((await ask("GET", "myTrades", { symbol })).body).toHaveLength(1);
  const { body } = await ask("DELETE", "order", { symbol, origClientOrderId: "rested" });
  expect(body.status).toBe("CANCELED");
  const { body: fills } = await ask("GET", "myTrades", { symbol });
  const { base, quote } = balancesAfter(fills);
  expect((await ask("GET", "account")).body.balances).toEqual([
    { asset: "USDT", free: quote, locked: "0.00000000" },
    { asset: "BTC", free: base, locked: "0.00000000" },
  ]);
});

test("a kill amid placements leaves each of them placed once or not at all, and acknowledged ones placed", async () => {
  const order = (index: number) => ({ ...ONCE, quantity: "0.0001", newClientOrderId: `crash-${index}` });
  const acknowledged: number[] = [];
  const sent = Array.from({ length: 20 }, async (_none, index) => {
    const answer = await place(order(index)).catch(() => null);
    if (answer?.status === 200) acknowledged.push(index);
    // Half-way through the process is gone.
    if (acknowledged.length === 5) gateway.process.kill("SIGKILL");
  });
  await Promise.all(sent);
  await gateway.restart("kill");

  const history = await ask("GET", "allOrders", { symbol });
  const placed: string[] = history.body.map((row: { clientOrderId: string }) => row.clientOrderId);
  expect(new Set(placed).size).toBe(placed.length);
  expect(placed).toEqual(expect.arrayContaining(acknowledged.map((index) => `crash-${index}`)));

  for (let index = 0; index < 20; index += 1) {
    expect(await place(order(index))).toMatchObject({ status: 200, body: { status: "FILLED" } });
  }
  const { body: fills } = await ask("GET", "myTrades", { symbol });
  expect(fills).toHaveLength(20);
  const { base, quote } = balancesAfter(fills);
  expect((await ask("GET", "account")).body.balances).toEqual([
    { asset: "USDT", free: quote, locked: "0.00000000" },
    { asset: "BTC", free: base, locked: "0.00000000" },
  ]);
});
