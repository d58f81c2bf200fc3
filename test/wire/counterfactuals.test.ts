// Orders on other terms, over the wire: the rows of the worked example W1, the states, and what is refused.
// The answers are those of both strategy types. Source: strict fills, sections 12 and 15.
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createManualTime } from "../../src/concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { contractRules } from "../../src/engine/testing/contract-rules.ts";
import { type Levels, MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { Shadows } from "../../src/triggers/shadows/shadows.ts";
import { openOwnGateway } from "../support/servers/own-gateway.ts";
import { signed } from "../support/signed-client.ts";

const symbol = "BTCUSDT";
const START = 1_000_000;
const time = createManualTime(START);
const wallNow = () => Date.UTC(2026, 0, 1) + time.now() - START;

class OwnMarket extends MarketStub {
  readonly followBook = () => () => {};
  readonly watch = () => () => {};

  show(asks: Levels, bids: Levels): void {
    this.showBook(symbol, asks, bids);
  }
}

const markets = {
  SPOT: new OwnMarket([symbolRules("BTC")], time.now),
  FUTURES: new OwnMarket([contractRules("BTC")], time.now),
};
const PATHS = { SPOT: "/api/v3", FUTURES: "/fapi/v1" } as const;
let own: Awaited<ReturnType<typeof openOwnGateway>>;
let shadows: { readonly [T in StrategyType]: Shadows };
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const feeds = markets as unknown as { readonly [T in StrategyType]: MarketFeed };
  own = await openOwnGateway(feeds, wallNow, {
    counterfactuals: {
      isRunning: (...order) => Object.values(shadows).some((each) => each.isRunning(...order)),
    },
    onSent: (account, ...sent) => shadows[account.type].sent(account, ...sent),
  });
  const { desk, store } = own.gateway;
  const log = pino({ level: "silent" });
  const shadowsOf = (type: StrategyType) =>
    new Shadows({ type, desk, store, market: feeds[type], timers: time, log });
  shadows = { SPOT: shadowsOf("SPOT"), FUTURES: shadowsOf("FUTURES") };
  const served = await own.serve();
  url = served.url;
  close = async () => {
    await served.server.close();
    for (const each of Object.values(shadows)) await each.close();
    await own.close();
  };
});

afterAll(() => close());

/** A strategy without latency: its orders are answered at once. */
async function strategyOf(type: StrategyType, profileName: "strict" | "standard" = "strict") {
  const profile = strictProfile(type, { ...STRICT_DEFAULTS, latency: 0 });
  if (profile === null) throw new Error("the first tier is always known");
  const strategy = await own.seed(type, profileName === "strict" ? profile : undefined);
  const call = (method: string, path: string, parameters: Readonly<Record<string, string | number>> = {}) => {
    time.advance(1);
    return signed(url, strategy, method, `${PATHS[type]}${path}`, { ...parameters, timestamp: wallNow() });
  };
  return {
    place: (order: Readonly<Record<string, string>>) => call("POST", "/order", { symbol, ...order }),
    cancel: (orderId: number) => call("DELETE", "/order", { symbol, orderId }),
    compare: (parameters: Readonly<Record<string, string | number>>) =>
      call("GET", "/platform/counterfactuals", parameters),
  };
}

const MARKET = { side: "BUY", type: "MARKET" };

/** Until the rows are stored, which nothing on the wire waits for. */
async function completed(compare: () => ReturnType<Awaited<ReturnType<typeof strategyOf>>["compare"]>) {
  const { body } = await expect
    .poll(compare)
    .toMatchObject({ body: { state: "COMPLETE" } })
    .then(compare);
  return body;
}

test("a spot order has its rows once the slowest alternative has arrived", async () => {
  markets.SPOT.show(
    [
      ["60000", "0.0005"],
      ["60001", "0.0005"],
      ["60010", "0.001"],
    ],
    [["59999.99", "0.001"]],
  );
  const { place, compare } = await strategyOf("SPOT");
  const placed = await place({ ...MARKET, quantity: "0.0015" });
  const { orderId, transactTime: at } = placed.body;
  expect((await compare({ symbol, orderId })).body).toEqual({ symbol, orderId, state: "RUNNING", rows: [] });
  time.advance(100);
  markets.SPOT.show([["60050", "1"]], [["59999.99", "0.001"]]);
  time.advance(150);
  const w1 = {
    status: "FILLED",
    ...{ executedQty: "0.00150000", quote: "90.00550000", avgPrice: "60003.66666667" },
    ...{ fee: "0.00000150", feeAsset: "BTC" },
  };
  const filledAt = (time: number) => ({ firstFillAt: time, lastFillAt: time });
  const body = await completed(() => compare({ symbol, orderId }));
  expect(body).toEqual({
    symbol,
    orderId,
    state: "COMPLETE",
    rows: [
      // 90 and a fee of 0.0000015 BTC worth 0.09, against 90.0055 and fees worth 0.0900055.
      {
        ...{ profile: "standard", latencyMs: 0, ...w1, quote: "90.00000000", avgPrice: "60000.00000000" },
        ...{ ...filledAt(at), difference: "-0.00550550" },
      },
      { profile: "strict", latencyMs: 0, ...w1, ...filledAt(at), difference: "0.00000000" },
      { profile: "strict", latencyMs: 50, ...w1, ...filledAt(expect.any(Number)), difference: "0.00000000" },
      // 90.075 and a fee worth 0.090075.
      {
        ...{ profile: "strict", latencyMs: 250, ...w1, quote: "90.07500000", avgPrice: "60050.00000000" },
        ...{ ...filledAt(expect.any(Number)), difference: "0.06956950" },
      },
      { profile: "own", latencyMs: 0, ...w1, ...filledAt(at), difference: "0.00000000" },
    ],
  });
});

test("a futures order pays its fees in the margin asset", async () => {
  markets.FUTURES.show(
    [
      ["60000.1", "0.004"],
      ["60001", "0.004"],
      ["60010", "1"],
    ],
    [["60000", "1"]],
  );
  const { place, compare } = await strategyOf("FUTURES");
  const { body: placed } = await place({ ...MARKET, quantity: "0.010" });
  time.advance(250);
  const { rows } = await completed(() => compare({ symbol, orderId: placed.orderId }));
  // 240.0004 + 240.004 + 120.02 and fees of 0.1200002, 0.120002 and 0.06001, against 600.001 and 0.3000005.
  expect(rows[4]).toMatchObject({
    profile: "own",
    quote: "600.02440000",
    fee: "0.30001220",
    feeAsset: "USDT",
  });
  expect(rows[0]).toMatchObject({ quote: "600.00100000", fee: "0.30000050", difference: "-0.02341170" });
});

describe("the state", () => {
  test("is NONE where an order is not compared: under standard, and of stops", async () => {
    markets.SPOT.show([["60000", "1"]], [["59990", "1"]]);
    const standard = await strategyOf("SPOT", "standard");
    const { body: placed } = await standard.place({ ...MARKET, quantity: "0.0005" });
    const none = { symbol, state: "NONE", rows: [] };
    expect((await standard.compare({ symbol, orderId: placed.orderId })).body).toMatchObject(none);
    const strict = await strategyOf("SPOT");
    await strict.place({ ...MARKET, quantity: "0.001" });
    const stop = { side: "SELL", type: "STOP_LOSS", stopPrice: "59000", quantity: "0.0005" };
    const { body: waiting } = await strict.place(stop);
    expect((await strict.compare({ symbol, orderId: waiting.orderId })).body).toMatchObject(none);
  });

  test("is WINDOW_GONE where the shadow ended before its order", async () => {
    markets.SPOT.show([["60000", "1"]], [["59990", "1"]]);
    const { place, compare } = await strategyOf("SPOT");
    const { body: first } = await place({
      side: "BUY",
      type: "LIMIT",
      timeInForce: "GTC",
      price: "50000",
      quantity: "0.0001",
    });
    expect((await compare({ symbol, orderId: first.orderId })).body.state).toBe("RUNNING");
    for (let count = 0; count < 20; count += 1) {
      await place({ side: "BUY", type: "LIMIT", timeInForce: "GTC", price: "50000", quantity: "0.0001" });
    }
    expect((await compare({ symbol, orderId: first.orderId })).body).toEqual({
      ...{ symbol, orderId: first.orderId, state: "WINDOW_GONE", rows: [] },
    });
  });
});

describe("what is refused", () => {
  test.each([
    ["without a symbol", { orderId: 1 }, 400, -1102, "'symbol'"],
    ["without an order", { symbol }, 400, -1102, "'orderId'"],
    ["an empty order", { symbol, orderId: "" }, 400, -1102, "'orderId'"],
    ["an order that is no number", { symbol, orderId: "x" }, 400, -1100, "'orderId'"],
    ["a negative order", { symbol, orderId: "-1" }, 400, -1100, "'orderId'"],
    ["a symbol that is not listed", { symbol: "NONE", orderId: 1 }, 400, -1121, "Invalid symbol."],
    ["an order that there is not", { symbol, orderId: 1 }, 400, -2013, "Order does not exist."],
  ] as const)("%s", async (_case, parameters, status, code, words) => {
    const { compare } = await strategyOf("SPOT");
    const answer = await compare(parameters);
    expect(answer).toMatchObject({ status, body: { code, msg: expect.stringContaining(words) } });
  });

  test("an order of another strategy", async () => {
    markets.SPOT.show([["60000", "1"]], [["59990", "1"]]);
    const one = await strategyOf("SPOT");
    const { body } = await one.place({ ...MARKET, quantity: "0.0005" });
    const other = await strategyOf("SPOT");
    expect((await other.compare({ symbol, orderId: body.orderId })).body.code).toBe(-2013);
  });
});
