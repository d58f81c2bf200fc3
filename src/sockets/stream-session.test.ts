// Sessions of many clients over one market that the test speaks for.
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import type { StrategyType } from "../domain/account.ts";
import type { Connection } from "./connection.ts";
import { MARKET_STREAMS_MAX, MARKET_STREAMS_PER_ADDRESS_MAX, STREAMS_PER_CONNECTION_MAX } from "./limits.ts";
import { createMarketEndpoints } from "./market-streams.ts";
import type { Serve } from "./server.ts";
import { SharedStreams, type StreamsMarket } from "./shared-streams.ts";
import { type OwnClient, type OwnNames, StreamSession } from "./stream-session.ts";

/** Of an owner's name, twice, and of a market stream. */
const SUBSCRIBE = '{"method":"SUBSCRIBE","params":["key","btcusdt@trade","key"],"id":1}';

/** A market that lists symbols, and the client of each session. */
function fixtureOf(symbols: readonly string[], type: StrategyType = "SPOT") {
  const listeners = new Map<string, (data: unknown) => void>();
  const joined: string[] = [];
  const listed = new Map(symbols.map((symbol) => [symbol, {}]));
  const market: StreamsMarket = {
    type,
    exchangeInfo: () => ({ head: {}, symbols: listed, version: 1 }),
    clientStreams: {
      subscribe(stream, listener) {
        expect(listeners.has(stream)).toBe(false);
        listeners.set(stream, listener);
        return () => void listeners.delete(stream);
      },
      joined: (stream) => void joined.push(stream),
      isStreaming: () => true,
    },
  };
  const shared = new SharedStreams(market);
  const connect = (isCombined = false, ownNames?: OwnNames, address = "192.0.2.1") => {
    const frames: { readonly frame: Buffer; readonly key: string | null }[] = [];
    const said: string[] = [];
    const connection = {
      send: (text: string) => void said.push(text),
      sendFrame: (frame: Buffer, key: string | null = null) => void frames.push({ frame, key }),
      close() {},
      pause() {},
      resume() {},
    };
    const parts = { connection, address, isCombined, market: shared, ...(ownNames && { ownNames }) };
    return { session: new StreamSession(parts), frames, said };
  };
  return { listeners, joined, market, shared, connect };
}

const textOf = (frame: Buffer) => frame.subarray((frame[1] ?? 0) < 126 ? 2 : 4).toString();

test("a message is encoded once for each form, and clients of one form share its bytes", () => {
  const { listeners, connect } = fixtureOf(["BTCUSDT"]);
  const clients = [connect(false), connect(true), connect(false), connect(true)];
  for (const { session } of clients) expect(session.subscribe(["btcusdt@trade"])).toBeNull();
  listeners.get("btcusdt@trade")?.({ e: "trade", t: 1 });
  const frames = clients.map((client) => client.frames.map(({ frame }) => frame));
  expect(frames.map(([frame]) => textOf(frame as Buffer))).toEqual([
    '{"e":"trade","t":1}',
    '{"stream":"btcusdt@trade","data":{"e":"trade","t":1}}',
    '{"e":"trade","t":1}',
    '{"stream":"btcusdt@trade","data":{"e":"trade","t":1}}',
  ]);
  expect(frames[0]?.[0]).toBe(frames[2]?.[0]);
  expect(frames[1]?.[0]).toBe(frames[3]?.[0]);
});

test("a stream is subscribed upstream once, until its last client has left", () => {
  const { listeners, joined, shared, connect } = fixtureOf(["BTCUSDT"]);
  const [one, other] = [connect(), connect()];
  one.session.subscribe(["btcusdt@depth", "btcusdt@depth"]);
  other.session.subscribe(["btcusdt@depth"]);
  other.session.subscribe(["btcusdt@depth"]);
  expect([...listeners.keys()]).toEqual(["btcusdt@depth"]);
  expect(joined).toEqual(["btcusdt@depth"]);
  one.session.unsubscribe(["btcusdt@depth", "btcusdt@trade"]);
  expect(shared.count).toBe(1);
  other.session.onClosed();
  expect([shared.count, listeners.size]).toEqual([0, 0]);
});

test.each([
  ["SPOT", ["nosuch@trade", "BTCUSDT@trade", "btcusdt@", "btcusdt@depth@250ms", "btcusdt@markPrice", "0"]],
  ["SPOT", ["!bookTicker", "!markPrice@arr", "btcusdt@trade@trade", "btcusdt@kline_2m", "@trade", "!"]],
  ["FUTURES", ["btcusdt@avgPrice", "btcusdt@ticker_1h", "btcusdt@kline_1m@+08:00", "!ticker_1h@arr"]],
  [
    "FUTURES",
    ["nosuch_perpetual@continuousKline_1m", "btcusdt_perpetual@kline_1m", "btcusdt@depth20@1000ms"],
  ],
] as const)("on %s, %j are accepted and never go upstream", (type, names) => {
  const { listeners, connect } = fixtureOf(["BTCUSDT"], type);
  const { session } = connect();
  expect(session.subscribe(names)).toBeNull();
  expect(session.subscriptions()).toEqual(names);
  expect(listeners.size).toBe(0);
  session.onClosed();
});

test.each([
  [
    "SPOT",
    ["btcusdt@trade", "btcusdt@blockTrade", "btcusdt@kline_1M@+08:00", "!ticker_1d@arr", "btcusdt@depth"],
  ],
  [
    "FUTURES",
    ["tradingSession", "!contractInfo", "adausd@assetIndex", "btcusdt_next_quarter@continuousKline_1h"],
  ],
  [
    "FUTURES",
    ["btcusdt_261225@trade", "币安人生usdt@depth@500ms", "!forceOrder@arr", "btcusdt@rpiDepth@500ms"],
  ],
] as const)("on %s, %j go upstream", (type, names) => {
  const { listeners, connect } = fixtureOf(["BTCUSDT", "BTCUSDT_261225", "币安人生USDT"], type);
  connect().session.subscribe(names);
  expect([...listeners.keys()]).toEqual(names);
});

test.each([
  ["btcusdt@bookTicker", true],
  ["btcusdt@miniTicker", true],
  ["btcusdt@ticker_4h", true],
  ["btcusdt@depth20@100ms", true],
  ["btcusdt@avgPrice", true],
  ["btcusdt@depth@100ms", false],
  ["btcusdt@trade", false],
  ["btcusdt@aggTrade", false],
  ["btcusdt@kline_1m", false],
  ["!miniTicker@arr", false],
])("whether %s may be conflated: %s", (name, isConflated) => {
  const { listeners, connect } = fixtureOf(["BTCUSDT"]);
  const { session, frames } = connect();
  session.subscribe([name]);
  listeners.get(name)?.({});
  expect(frames.map(({ key }) => key)).toEqual([isConflated ? name : null]);
});

test("best prices of all symbols are conflated by symbol, marks of all as a whole", () => {
  const { listeners, connect } = fixtureOf(["BTCUSDT"], "FUTURES");
  const { session, frames } = connect();
  session.subscribe(["!bookTicker", "!markPrice@arr@1s", "btcusdt@markPrice", "btcusdt@forceOrder"]);
  for (const s of ["A", "B"]) listeners.get("!bookTicker")?.({ s });
  for (const name of ["!markPrice@arr@1s", "btcusdt@markPrice", "btcusdt@forceOrder"])
    listeners.get(name)?.([]);
  expect(frames.map(({ key }) => key)).toEqual([
    "!bookTicker A",
    "!bookTicker B",
    "!markPrice@arr@1s",
    "btcusdt@markPrice",
    null,
  ]);
});

test("a connection takes so many streams and no more, all of a message or none", () => {
  const { connect } = fixtureOf([]);
  const { session } = connect();
  const names = Array.from({ length: STREAMS_PER_CONNECTION_MAX }, (_, index) => `s${index}@trade`);
  expect(session.subscribe(names.slice(1))).toBeNull();
  expect(session.subscribe(["a@trade", "b@trade"])).toMatch(/^too many streams/);
  expect(session.subscriptions().length).toBe(STREAMS_PER_CONNECTION_MAX - 1);
  expect(session.subscribe(names)).toBeNull();
});

test("all clients together have so many streams upstream; shared and unknown ones cost nothing", () => {
  const symbols = Array.from({ length: MARKET_STREAMS_MAX + 1 }, (_, index) => `S${index}`);
  const { listeners, connect } = fixtureOf(symbols);
  const names = symbols.map((symbol) => `${symbol.toLowerCase()}@trade`);
  const clients = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map((address) =>
    connect(false, undefined, address),
  );
  for (const [index, { session }] of clients.slice(0, 2).entries()) {
    expect(session.subscribe(names.slice(index * 1_024, (index + 1) * 1_024))).toBeNull();
  }
  const { session, said } = clients[2] as (typeof clients)[2];
  session.onMessage(JSON.stringify({ method: "SUBSCRIBE", params: [names.at(-1)], id: 1 }));
  expect(JSON.parse(said[0] ?? "").error).toMatchObject({
    code: 2,
    msg: expect.stringMatching(/too many streams/),
  });
  expect(session.subscribe([names[0] ?? "", "nosuch@trade"])).toBeNull();
  expect(listeners.size).toBe(MARKET_STREAMS_MAX);
  clients[0]?.session.unsubscribe([names[5] ?? ""]);
  expect(session.subscribe([names.at(-1) ?? ""])).toBeNull();
});

test("an address takes so many streams that nobody else has; those of others cost it nothing", () => {
  const count = MARKET_STREAMS_PER_ADDRESS_MAX;
  const symbols = Array.from({ length: count + 2 }, (_, index) => `S${index}`);
  const { connect } = fixtureOf(symbols);
  const names = symbols.map((symbol) => `${symbol.toLowerCase()}@trade`);
  const [one, other, elsewhere] = [connect(), connect(), connect(false, undefined, "192.0.2.2")];
  expect(one.session.subscribe(names.slice(0, count - 1))).toBeNull();
  expect(other.session.subscribe(names.slice(count - 1, count + 1))).toMatch(/^too many streams: an address/);
  expect(other.session.subscribe(names.slice(count - 1, count))).toBeNull();
  expect(elsewhere.session.subscribe([names[0] ?? "", names[count] ?? ""])).toBeNull();
  // One of its streams is shared now, and one that it asks for is somebody else's.
  expect(other.session.subscribe(names.slice(count))).toBeNull();
  elsewhere.session.onClosed();
  expect(one.session.subscribe([names[0] ?? ""])).toBeNull();
  expect(connect().session.subscribe(["s99999@trade"])).toBeNull();
});

test("the addresses of an IPv6 network are one address at the endpoint of market streams", () => {
  const count = MARKET_STREAMS_PER_ADDRESS_MAX;
  const { market } = fixtureOf(Array.from({ length: count + 1 }, (_, index) => `S${index}`));
  const [spot] = createMarketEndpoints({ markets: { SPOT: market, FUTURES: market } });
  const closesOf = (address: string, names: readonly string[]) => {
    const closes: string[] = [];
    const upgrade = { path: `/ws/${names.join("/")}`, query: "", address, request: {} as IncomingMessage };
    const serve = spot?.open(upgrade) as Serve;
    serve({ close: (_code: number, reason: string) => void closes.push(reason) } as Connection);
    return closes;
  };
  const names = Array.from({ length: count }, (_, index) => `s${index}@trade`);
  expect(closesOf("2001:db8::1", names)).toEqual([]);
  expect(closesOf("2001:db8::2", [`s${count}@trade`])).toEqual([
    expect.stringMatching(/^too many streams: an address/),
  ]);
  expect(closesOf("2001:db8:0:1::1", [`s${count}@trade`])).toEqual([]);
});

/** One name of an owner, "key", which is open when the test says so. */
function ownKey() {
  const opened = Promise.withResolvers<void>();
  const clients: OwnClient[] = [];
  const state = { left: 0 };
  const ownNames: OwnNames = (name) =>
    name === "key"
      ? opened.promise.then(() => (client) => {
          clients.push(client);
          return () => {
            state.left += 1;
          };
        })
      : null;
  return { opened, clients, state, ownNames };
}

test("an owner's names are its own, in the form of the connection", async () => {
  const { listeners, connect } = fixtureOf(["BTCUSDT"]);
  const { opened, clients, state, ownNames } = ownKey();
  const { session, said } = connect(true, ownNames);
  opened.resolve();
  await session.onMessage(SUBSCRIBE);
  clients[0]?.send('{"e":"ORDER_TRADE_UPDATE"}');
  session.isCombined = false;
  clients[0]?.send('{"e":"ACCOUNT_UPDATE"}');
  expect(said).toEqual([
    '{"result":null,"id":1}',
    '{"stream":"key","data":{"e":"ORDER_TRADE_UPDATE"}}',
    '{"e":"ACCOUNT_UPDATE"}',
  ]);
  expect([clients.length, listeners.size]).toEqual([1, 1]);
  session.onClosed();
  expect([state.left, listeners.size]).toEqual([1, 0]);
});

test("a client that leaves while its own stream is opened is subscribed to nothing, also by later messages", async () => {
  const { listeners, connect } = fixtureOf(["BTCUSDT"]);
  const { opened, clients, ownNames } = ownKey();
  const { session } = connect(true, ownNames);
  const answered = session.onMessage(SUBSCRIBE);
  session.onClosed();
  opened.resolve();
  await answered;
  await session.onMessage('{"method":"SUBSCRIBE","params":["btcusdt@trade"],"id":2}');
  expect([clients.length, listeners.size, session.subscriptions()]).toEqual([0, 0, []]);
});
