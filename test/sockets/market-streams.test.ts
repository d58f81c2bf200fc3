// Market streams at the gateway's own port: a real client, the simulated market, the test's own time.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../src/market/client/testing/upstream.ts";
import type { HeardMessage } from "../../src/market/exchange/testing/stream-client.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { openSocketFixture, type SocketFixture } from "../support/sockets/socket-fixture.ts";

stayOnLoopback();

type Heard = HeardMessage["data"];

let fixture: SocketFixture;

beforeAll(async () => {
  fixture = await openSocketFixture();
});
afterAll(() => fixture.close());

describe("paths", () => {
  test.each([
    ["/ws/btcusdt@trade", "", "SPOT", "btcusdt@trade"],
    ["/ws/btcusdt%40trade", "", "SPOT", "btcusdt@trade"],
    ["/ws/ethusdt@trade/btcusdt@trade", "", "SPOT", "btcusdt@trade"],
    ["/stream/ws/btcusdt@trade", "", "SPOT", "btcusdt@trade"],
    ["/stream?streams=btcusdt@trade", "btcusdt@trade", "SPOT", "btcusdt@trade"],
    ["/stream?streams=0%2Fbtcusdt%40trade", "btcusdt@trade", "SPOT", "btcusdt@trade"],
    ["/stream?streams=btcusdt@kline_1m@+08:00", "btcusdt@kline_1m@+08:00", "SPOT", "btcusdt@kline_1m@+08:00"],
    ["/public/ws/btcusdt@trade", "", "FUTURES", "btcusdt@trade"],
    ["/market/ws/btcusdt@trade", "", "FUTURES", "btcusdt@trade"],
    ["/public/ws/btcusdt@aggTrade", "", "FUTURES", "btcusdt@aggTrade"],
    ["/market/stream?streams=btcusdt@bookTicker", "btcusdt@bookTicker", "FUTURES", "btcusdt@bookTicker"],
  ] as const)("%s", async (path, wrapper, type, stream) => {
    const client = await fixture.open(path);
    await fixture.confirmed(type, stream);
    await fixture.pass(2_000);
    const messages = await client.received();
    expect(messages.length).toBeGreaterThan(0);
    for (const { stream: name } of messages) expect(name).toBe(wrapper);
    client.close();
  });

  test.each([
    "/ws",
    "/ws/",
    "/ws/0",
    "/ws/49",
    "/stream",
    "/stream?streams=",
    "/stream/ws/3",
    "/public/ws/2",
  ])("%s is open and silent", async (path) => {
    const client = await fixture.open(path);
    await fixture.pass(1_000);
    expect(await client.received()).toEqual([]);
    client.close();
  });

  test("more streams than a connection takes close it", async () => {
    const names = Array.from({ length: 1_025 }, (_, index) => `${index}`).join("/");
    const client = await fixture.open(`/stream?streams=${names}`);
    const code = await new Promise((resolve) => client.socket.once("close", resolve));
    expect(code).toBe(1_008);
  });
});

describe("control messages", () => {
  test("subscribe, list and unsubscribe; ids go back with their types", async () => {
    const client = await fixture.open("/ws");
    const texts: string[] = [];
    client.socket.on("message", (data) => texts.push(String(data)));
    const tell = async (message: string) => {
      const before = texts.length;
      client.socket.send(message);
      await until(() => texts.length > before);
      return texts[before];
    };
    expect(await tell('{"method":"SUBSCRIBE","params":["nosuch@trade"],"id":9223372036854775807}')).toBe(
      '{"result":null,"id":9223372036854775807}',
    );
    expect(await tell('{"method":"SUBSCRIBE","params":["BTCUSDT@trade"],"id":-5}')).toBe(
      '{"result":null,"id":-5}',
    );
    expect(await tell('{"method":"LIST_SUBSCRIPTIONS","id":"a1"}')).toBe(
      '{"result":["nosuch@trade","BTCUSDT@trade"],"id":"a1"}',
    );
    expect(await tell('{"method":"UNSUBSCRIBE","params":["nosuch@trade"],"id":null}')).toBe(
      '{"result":null,"id":null}',
    );
    expect(await tell('{"method":"SET_PROPERTY","params":["combined",true],"id":1}')).toBe(
      '{"result":null,"id":1}',
    );
    expect(await tell('{"method":"GET_PROPERTY","params":["combined"],"id":2}')).toBe(
      '{"result":true,"id":2}',
    );
    expect(await tell('{"method":"SUBSCRIBE","params":["two words"],"id":3}')).toBe(
      '{"error":{"code":2,"msg":"Invalid request: invalid stream"},"id":3}',
    );
    client.close();
  });

  test("SET_PROPERTY changes the form of what follows", async () => {
    const client = await fixture.open("/ws/btcusdt@bookTicker");
    await fixture.confirmed("SPOT", "btcusdt@bookTicker");
    await fixture.pass(1_000);
    expect((await client.received()).at(-1)?.stream).toBe("");
    await client.ask("SET_PROPERTY", ["combined", true]);
    client.forget();
    await fixture.pass(1_000);
    expect((await client.received()).at(-1)?.stream).toBe("btcusdt@bookTicker");
    client.close();
  });
});

test("many clients of a stream have the same messages, and one that leaves takes them from no other", async () => {
  const name = "solusdt@aggTrade";
  const paths = [`/ws/${name}`, `/stream?streams=${name}`, `/stream/ws/${name}`];
  const clients = await Promise.all(paths.map((path) => fixture.open(path)));
  await fixture.confirmed("SPOT", name);
  await fixture.pass(3_000);
  const heard = await Promise.all(clients.map((client) => client.received()));
  const [first = []] = heard.map((messages) => messages.map(({ data }) => data));
  expect(first.length).toBeGreaterThan(0);
  for (const messages of heard) expect(messages.map(({ data }) => data)).toEqual(first);
  clients[0]?.close();
  clients[1]?.close();
  clients[2]?.forget();
  await fixture.pass(1_000);
  expect((await clients[2]?.received())?.length).toBeGreaterThan(0);
  clients[2]?.close();
});

describe("payloads", () => {
  const KEYS = {
    SPOT: {
      "btcusdt@aggTrade": "e E s a p q f l T m M",
      "btcusdt@trade": "e E s t p q T m M",
      "btcusdt@kline_1m": "e E s k",
      "btcusdt@kline_1d@+08:00": "e E s k",
      "btcusdt@miniTicker": "e E s c o h l v q",
      "!miniTicker@arr": "e E s c o h l v q",
      "btcusdt@ticker": "e E s p P w x c Q b B a A o h l v q O C F L n",
      "!ticker@arr": "e E s p P w x c Q b B a A o h l v q O C F L n",
      "btcusdt@ticker_1h": "e E s p P w c o h l v q O C F L n",
      "!ticker_4h@arr": "e E s p P w c o h l v q O C F L n",
      "btcusdt@bookTicker": "u s b B a A",
      "btcusdt@avgPrice": "e E s i w T",
      "btcusdt@depth5": "lastUpdateId bids asks",
      "btcusdt@depth20@100ms": "lastUpdateId bids asks",
      "btcusdt@depth": "e E s U u b a",
      "btcusdt@depth@100ms": "e E s U u b a",
    },
    FUTURES: {
      "btcusdt@bookTicker": "e u E T s ps b B a A st",
      "!bookTicker": "e u E T s ps b B a A st",
      "btcusdt@depth5@100ms": "e E T s U u pu b a ps st",
      "btcusdt@depth": "e E T s U u pu b a ps st",
      "btcusdt@depth@500ms": "e E T s U u pu b a ps st",
      "btcusdt@trade": "e E T s t p q X m",
      "btcusdt@aggTrade": "e E s a p q nq f l T m st",
      "btcusdt@kline_1m": "e E s k",
      "btcusdt_perpetual@continuousKline_1m": "e E ps ct k",
      "btcusdt@markPrice": "e E s p ap i P r T st",
      "!markPrice@arr@1s": "e E s p ap i P r T st",
      "btcusdt@miniTicker": "e E s c o h l v q ps st",
      "!miniTicker@arr": "e E s c o h l v q ps st",
      "btcusdt@ticker": "e E s p P w c Q o h l v q O C F L n ps st",
      "!ticker@arr": "e E s p P w c Q o h l v q O C F L n ps st",
    },
  } as const;

  test.each(["SPOT", "FUTURES"] as const)("of %s have the documented keys", async (type) => {
    const names = Object.keys(KEYS[type]);
    const path = type === "SPOT" ? "/stream" : "/market/stream";
    const client = await fixture.open(`${path}?streams=${names.join("/")}`);
    for (const name of names) await fixture.confirmed(type, name);
    await fixture.pass(6_000);
    const messages = await client.received();
    const keys = Object.fromEntries(
      names.map((name) => {
        const data = messages.find(({ stream }) => stream === name)?.data ?? {};
        return [name, Object.keys((Array.isArray(data) ? data[0] : data) as object).join(" ")];
      }),
    );
    expect(keys).toEqual(KEYS[type]);
    client.close();
  });

  test("tickers are those of REST at the same instant", async () => {
    const client = await fixture.open("/ws/btcusdt@ticker");
    await fixture.confirmed("SPOT", "btcusdt@ticker");
    await fixture.pass(1_000 - (fixture.time.now() % 1_000));
    client.forget();
    await fixture.pass(1_000);
    const [message] = await client.received();
    const answer = await fetch(`${fixture.exchange.spotRestUrl}/api/v3/ticker/24hr?symbol=BTCUSDT`);
    const rest = (await answer.json()) as Record<string, unknown>;
    const { c, p, v, O, n } = (message?.data ?? {}) as Record<string, unknown>;
    expect({ c, p, v, O, n }).toEqual({
      c: rest.lastPrice,
      p: rest.priceChange,
      v: rest.volume,
      O: rest.openTime,
      n: rest.count,
    });
    client.close();
  });
});

describe("a client that does not read", () => {
  const padding = "x".repeat(100_000);

  /** Sends so many messages of a stream, each of 100 kB, while the client does not read. */
  async function flood(stream: string, count: number) {
    const client = await fixture.open(`/ws/${stream}`);
    await fixture.confirmed("SPOT", stream);
    await client.received();
    client.forget();
    client.socket.pause();
    for (let number = 1; number <= count; number += 1) {
      fixture.exchange.sendRaw(stream, { u: number, t: number, padding }, "SPOT");
      if (number % 20 === 0) await fixture.settle();
    }
    await fixture.settle();
    return client;
  }

  test("gets the newest best prices when it reads again, and not all that it missed", async () => {
    const client = await flood("bnbusdt@bookTicker", 200);
    client.socket.resume();
    const heard = await client.received();
    await until(() => heard.at(-1)?.data.u === 200);
    const numbers = heard.map(({ data }) => data.u);
    expect(numbers.length).toBeLessThan(200);
    expect(numbers).toEqual([...numbers].sort((one, other) => Number(one) - Number(other)));
    client.close();
  });

  test("is cut rather than left without a trade", async () => {
    const client = await flood("bnbusdt@trade", 200);
    client.socket.resume();
    await client.closed();
  });
});

test.each([
  ["SPOT", "/ws"],
  ["FUTURES", "/public/ws"],
] as const)("trades and candles of %s show what a break upstream has left out", async (type, path) => {
  const names = ["btcusdt@trade", "btcusdt@aggTrade", "btcusdt@kline_1m"];
  const client = await fixture.open(`${path}/${names.join("/")}`);
  for (const name of names) await fixture.confirmed(type, name);
  const heardFrom = async (ms: number) => {
    client.forget();
    await fixture.pass(ms);
    return (await client.received()).map(({ data }) => data);
  };
  const stepsOf = (ids: readonly unknown[]) =>
    ids.slice(1).map((id, index) => Number(id) - Number(ids[index]));
  const idsOf = (heard: readonly Heard[]) => [
    heard.flatMap(({ e, t }) => (e === "trade" ? [t] : [])),
    heard.flatMap(({ e, a }) => (e === "aggTrade" ? [a] : [])),
  ];
  // Over the end of a candle, to the middle of the next one.
  const before = await heardFrom(90_000 - (fixture.time.now() % 60_000));
  for (const ids of idsOf(before)) expect(new Set(stepsOf(ids))).toEqual(new Set([1]));
  const candles = (heard: readonly Heard[]) => heard.flatMap(({ k }) => (k === undefined ? [] : [k]));
  expect(candles(before).some(({ x }) => x)).toBe(true);

  await fixture.interrupt(61_000);
  for (const name of names) await fixture.confirmed(type, name);
  const after = await heardFrom(10_000);
  for (const [index, ids] of idsOf(after).entries()) {
    const last = idsOf(before)[index]?.at(-1);
    expect(stepsOf([last, ids[0]])[0]).toBeGreaterThan(1);
    expect(new Set(stepsOf(ids))).toEqual(new Set([1]));
  }
  const [last, next] = [candles(before).at(-1), candles(after)[0]];
  expect(last?.x).toBe(false);
  expect(next?.t).toBeGreaterThan(last?.t ?? Number.NaN);
  client.close();
});

test("the end is announced in the form of the connection", async () => {
  const own = await openSocketFixture();
  const raw = await own.open("/ws");
  const combined = await own.open("/stream");
  const texts = [raw, combined].map(
    ({ socket }) => new Promise<string>((resolve) => socket.once("message", (data) => resolve(String(data)))),
  );
  const at = own.time.now();
  await own.sockets.close();
  expect(await Promise.all(texts)).toEqual([
    `{"e":"serverShutdown","E":${at}}`,
    `{"stream":"!serverShutdown","data":{"e":"serverShutdown","E":${at}}}`,
  ]);
  await raw.closed();
  await own.close();
});
