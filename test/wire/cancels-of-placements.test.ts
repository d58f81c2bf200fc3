// A cancel that is sent before its placement was answered, while that waits for its commit or takes the
// latency of `strict`: it finds what was sent before it. Source: specification 4.1 and 4.2; strict fills,
// section 4.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createManualTime, type ManualTime } from "../../src/concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { contractRules } from "../../src/engine/testing/contract-rules.ts";
import { bookViewOf, MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { decimal } from "../../src/money/decimal.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { openOwnGateway } from "../support/servers/own-gateway.ts";
import { signed, type WireAnswer } from "../support/signed-client.ts";
import { ApiSocket } from "../support/sockets/api-socket.ts";
import { restingPriceOf } from "../support/spot-trader.ts";

const symbol = "BTCUSDT";
const LATENCY_MS = 400;
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

const LIMIT = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", price: "59000", quantity: "0.001" };
const LEG = { symbol, side: "SELL", type: "STOP_MARKET", stopPrice: "59000", closePosition: "true" };

type Request = readonly [path: string, parameters: Readonly<Record<string, string | number>>];
type Case = readonly [what: string, type: StrategyType, placement: Request, cancel: Request, answer: object];

const CASES: readonly Case[] = [
  [
    ...(["a spot order by its client id", "SPOT"] as const),
    ["/api/v3/order", { ...LIMIT, newClientOrderId: "c1" }],
    ["/api/v3/order", { symbol, origClientOrderId: "c1" }],
    { status: "CANCELED", origClientOrderId: "c1" },
  ],
  [
    ...(["a spot order by both its ids", "SPOT"] as const),
    ["/api/v3/order", { ...LIMIT, newClientOrderId: "c1" }],
    ["/api/v3/order", { symbol, orderId: 1, origClientOrderId: "c1" }],
    { status: "CANCELED", orderId: 1 },
  ],
  [
    ...(["a futures order by its client id", "FUTURES"] as const),
    ["/fapi/v1/order", { ...LIMIT, newClientOrderId: "c1" }],
    ["/fapi/v1/order", { symbol, origClientOrderId: "c1" }],
    { status: "CANCELED", clientOrderId: "c1" },
  ],
  [
    ...(["a futures order by its id, which prevails", "FUTURES"] as const),
    ["/fapi/v1/order", { ...LIMIT, newClientOrderId: "c1" }],
    ["/fapi/v1/order", { symbol, orderId: 2, origClientOrderId: "other" }],
    { status: "CANCELED", clientOrderId: "c1" },
  ],
  [
    ...(["a leg by its client id", "FUTURES"] as const),
    ["/fapi/v1/algoOrder", { ...LEG, clientAlgoId: "c1" }],
    ["/fapi/v1/algoOrder", { clientAlgoId: "c1" }],
    { clientAlgoId: "c1", code: "200" },
  ],
  [
    ...(["a leg by its id", "FUTURES"] as const),
    ["/fapi/v1/algoOrder", { ...LEG, clientAlgoId: "c1" }],
    ["/fapi/v1/algoOrder", { algoId: 2 }],
    { clientAlgoId: "c1", code: "200" },
  ],
];

class OwnMarket extends MarketStub {
  constructor(time: ManualTime, rules: ConstructorParameters<typeof MarketStub>[0]) {
    super(rules, time.now);
    this.setQuote(symbol, { bid: decimal("59999.9"), ask: decimal("60000") });
    this.setMarkPrice(symbol, decimal("60000"));
    this.setBook(symbol, bookViewOf(time.now(), { ASK: [["60000", "5"]], BID: [["59999.9", "5"]] }));
  }
}

/** A gateway and a strategy, with a position where it is one of futures. */
async function open(type: StrategyType, fillProfile: "standard" | "strict") {
  const time = createManualTime();
  const sent: string[] = [];
  const commits = { after: Promise.resolve() };
  const markets = {
    SPOT: new OwnMarket(time, [symbolRules("BTC")]) as unknown as MarketFeed,
    FUTURES: new OwnMarket(time, [contractRules("BTC")]) as unknown as MarketFeed,
  };
  const own = await openOwnGateway(markets, () => time.now(), {
    timers: time,
    onSent(_account, command) {
      sent.push(command.type);
      return null;
    },
    between: (store) => ({
      ...store,
      async commit(group) {
        await commits.after;
        return await store.commit(group);
      },
    }),
  });
  const { server, url } = await own.serve();
  opened.push({
    async close() {
      await server.close();
      await own.close();
    },
  });
  const profile = strictProfile(type, { ...STRICT_DEFAULTS, latency: LATENCY_MS });
  const strategy = await own.seed(type, fillProfile === "strict" ? (profile ?? undefined) : undefined);
  const { desk } = own.gateway;
  const entry = type === "FUTURES" && { symbol, side: "BUY", type: "MARKET", quantity: "0.002" };
  const ask = (method: string, [path, parameters]: Request): Promise<WireAnswer> =>
    signed(url, strategy, method, path, { ...parameters, timestamp: time.now() });
  if (entry) {
    const placing = ask("POST", ["/fapi/v1/order", entry]);
    if (fillProfile === "strict") await eventually("the entry is on its way", () => sent.length === 1);
    time.advance(LATENCY_MS);
    expect((await placing).body).toMatchObject({ status: "FILLED" });
  }
  return { ask, desk, sent, time, commits };
}

describe.each(CASES)("%s", (_what, type, placement, cancel, answer) => {
  test("is canceled while its placement waits for its commit", async () => {
    const { ask, desk, commits } = await open(type, "standard");
    const disk = Promise.withResolvers<void>();
    commits.after = disk.promise;
    const placing = ask("POST", placement);
    await eventually("the placement is in the desk", () => desk.waitingCount() === 1);
    let isAnswered = false;
    const canceling = ask("DELETE", cancel).finally(() => (isAnswered = true));
    await eventually("the cancel is behind it", () => desk.waitingCount() === 2 || isAnswered);
    disk.resolve();
    expect(await placing).toMatchObject({ status: 200 });
    expect(await canceling).toMatchObject({ status: 200, body: answer });
  });

  test("is canceled while its placement takes the latency of strict", async () => {
    const { ask, sent, time } = await open(type, "strict");
    const before = sent.length;
    const placing = ask("POST", placement);
    await eventually("the placement is on its way", () => sent.length === before + 1);
    time.advance(LATENCY_MS / 2);
    let isAnswered = false;
    const canceling = ask("DELETE", cancel).finally(() => (isAnswered = true));
    await eventually("the cancel is behind it", () => sent.length === before + 2 || isAnswered);
    time.advance(LATENCY_MS / 2);
    expect(await placing).toMatchObject({ status: 200 });
    expect(isAnswered).toBe(false);
    time.advance(LATENCY_MS / 2);
    expect(await canceling).toMatchObject({ status: 200, body: answer });
  });
});

describe("over the WebSocket API", () => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  test("an order is canceled before its placement is answered", async () => {
    const strategy = gateway.seed("SPOT", ["--profile", "strict", "--latency", String(LATENCY_MS)]);
    const price = await restingPriceOf(gateway.url);
    const client = await ApiSocket.open(gateway.url);
    opened.push({ close: async () => client.close() });
    const placing = client.signed("order.place", strategy, { ...LIMIT, price, newClientOrderId: "c1" });
    // Requests of one connection may overtake each other, but not while the client waits for an answer.
    await client.request("ping");
    const canceling = client.signed("order.cancel", strategy, { symbol, origClientOrderId: "c1" });
    expect(await placing).toMatchObject({ status: 200, result: { status: "NEW" } });
    expect(await canceling).toMatchObject({ status: 200, result: { status: "CANCELED" } });
  });
});
