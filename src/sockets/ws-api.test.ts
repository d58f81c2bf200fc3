// The WebSocket API at a port of its own. Accounts load when the test lets them, and time is the test's.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { newDirectory } from "../../test/support/servers/gateway.ts";
import { ApiSocket, signedParams } from "../../test/support/sockets/api-socket.ts";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { openDataDirectory } from "../config/data-directory.ts";
import type { StrategyType } from "../domain/account.ts";
import type { Gateway } from "../http/pipeline.ts";
import { type Answer, ReadyJson, type Route } from "../http/route.ts";
import { ROUTES } from "../http/server.ts";
import { secretOf } from "../keys/api-keys.ts";
import { KeyChecks } from "../keys/key-checks.ts";
import { seedStrategies } from "../keys/seed.ts";
import { diagnose } from "../observability/diagnosis.ts";
import { type SeenRequest, UNOBSERVED } from "../observability/request-context.ts";
import { Budgets, FAILED_AUTHENTICATIONS_PER_MINUTE, WEIGHT_PER_MINUTE } from "../rate-limits/budgets.ts";
import { ConnectionBound } from "../rate-limits/connections.ts";
import { addressHolder, keyHolder } from "../rate-limits/holder.ts";
import {
  ANSWERS_WAITING_BYTES_MAX,
  BUFFERED_BYTES_MAX,
  REQUESTS_IN_FLIGHT_MAX,
  SUBSCRIPTIONS_PER_CONNECTION_MAX,
  USER_STREAMS_PER_KEY_MAX,
} from "./limits.ts";
import { isWebSocketUpgrade, Sockets } from "./server.ts";
import type { UserEvent } from "./user-events/event.ts";
import { createWsApi } from "./ws-api.ts";

const PATHS = { SPOT: "/ws-api/v3", FUTURES: "/ws-fapi/v1" } as const;
const CONNECT_WEIGHT = { SPOT: 2, FUTURES: 5 } as const;
const ADDRESS = "192.0.2.1";
const SUBSCRIBE = "userDataStream.subscribe.signature";

/** Larger than what the system buffers and what may wait of events, both together. */
const LARGE = 2 * BUFFERED_BYTES_MAX;
const LARGE_JSON = JSON.stringify("x".repeat(LARGE));
type Hook = () => void | Promise<void>;
/**
 * The rows, with a large answer to `exchangeInfo` and to placements, which call `onPlaced` before, and a
 * small one to `order.status`, which calls `onOrder`.
 */
const withOwnAnswers = (hooks: { readonly onPlaced: Hook; readonly onOrder: Hook }): readonly Route[] => {
  const answers: readonly [path: string, json: string, hook?: Hook][] = [
    ["GET /api/v3/exchangeInfo", LARGE_JSON],
    ["POST /api/v3/order", LARGE_JSON, () => hooks.onPlaced()],
    ["GET /api/v3/order", "{}", () => hooks.onOrder()],
  ];
  return ROUTES.map((route) => {
    const [, json, hook] = answers.find(([path]) => path === `${route.method} ${route.paths[0]}`) ?? [];
    if (json === undefined) return route;
    return {
      ...route,
      parse: () => ({}),
      async answer() {
        if (hook !== undefined) await hook();
        return new ReadyJson(json);
      },
      present: (json: unknown) => json as Answer,
    };
  });
};

async function openFixture() {
  const { store, master } = await openDataDirectory(newDirectory(), null);
  const time = createManualTime();
  const [spot] = await seedStrategies(store, master, ["SPOT"], time.now());
  const [futures] = await seedStrategies(store, master, ["FUTURES"], time.now());
  if (spot === undefined || futures === undefined) throw new Error("two strategies were asked for");
  const loaded = Promise.withResolvers<void>();
  const opened: string[] = [];
  const listeners = new Set<(event: UserEvent) => void>();
  const hooks = {
    onPlaced: (): void | Promise<void> => {},
    onOrder: (): void | Promise<void> => {},
    loseFeed: () => {},
  };
  const seen: SeenRequest[] = [];
  const log = { warn() {}, error() {} };
  const observer = {
    ...UNOBSERVED,
    answered: (_context: unknown, request: SeenRequest) => void seen.push(request),
  };
  const budgets = new Budgets();
  const desk = { isBehind: () => false };
  const gateway = { store, master, budgets, observer, desk, wallNow: time.now } as unknown as Gateway;
  const server = createServer({ shouldUpgradeCallback: isWebSocketUpgrade });
  const sockets = new Sockets({
    server,
    endpoints: createWsApi({
      gateway,
      routes: withOwnAnswers(hooks),
      userStreams: {
        async open(strategyId) {
          opened.push(strategyId);
          await loaded.promise;
          const listen = (onEvent: (event: UserEvent) => void, onLost: () => void) => {
            listeners.add(onEvent);
            hooks.loseFeed = onLost;
            return () => listeners.delete(onEvent);
          };
          return { strategyId, type: "SPOT", listen };
        },
      },
      keyChecks: new KeyChecks({ store, every: () => () => {}, log }),
      log,
    }),
    perAddress: new ConnectionBound(1_000),
    addressOf: () => ADDRESS,
    budgets,
    timers: time,
    wallNow: time.now,
    log,
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: ApiSocket[] = [];
  onTestFinished(async () => {
    for (const client of clients) client.close();
    await sockets.close();
    server.close();
    await store.close();
  });
  return {
    ...{ spot, futures, time, budgets, loaded, opened, listeners, hooks, seen, store, master, sockets },
    weightOf: (holder: string) => budgets.usage(holder, time.now()).weight,
    signed: (key = spot, params = {}) => signedParams(key, { timestamp: time.now(), ...params }),
    async open(type: StrategyType = "SPOT") {
      const client = await ApiSocket.open(url, PATHS[type]);
      clients.push(client);
      return client;
    },
  };
}

test("a second subscription to an account is refused, also behind one in flight, and its events come once", async () => {
  const { open, signed, loaded, opened, listeners } = await openFixture();
  const client = await open();
  const both = [client.request(SUBSCRIBE, signed(), 1), client.request(SUBSCRIBE, signed(), 2)];
  await expect.poll(() => opened).toHaveLength(1);
  loaded.resolve();
  const [first, second] = await Promise.all(both);
  expect(first).toMatchObject({ id: 1, status: 200 });
  expect(second).toMatchObject({ id: 2, status: 400, error: { code: -2035 } });
  expect(listeners.size).toBe(1);
});

test.each(["session.logon", SUBSCRIBE, `v3/${SUBSCRIBE}`, "userDataStream.subscribe"])(
  "what a client sends in one piece with %s begins when that is answered, and the client gets its events",
  async (method) => {
    const { open, signed, loaded, hooks, listeners, seen } = await openFixture();
    const client = await open();
    const isOfSession = method === "userDataStream.subscribe";
    if (isOfSession) await client.request("session.logon", signed());
    hooks.onPlaced = () => {
      for (const listener of listeners)
        listener({ name: "executionReport", text: `{"e":"executionReport"}` });
    };
    const before = seen.length;
    const tcp: Socket = Reflect.get(client.socket, "_socket");
    tcp.cork();
    const first = client.request(method, isOfSession ? {} : signed(), "first");
    // Without a signature where a session is what it finds.
    const { apiKey: _key, signature: _signature, ...unsigned } = signed();
    const isUnsigned = method === "session.logon";
    const placed = client.request("order.place", isUnsigned ? unsigned : signed(), "placed");
    tcp.uncork();
    const other = await open();
    for (let round = 0; round < 3; round += 1) await other.request("ping");
    if (method !== "session.logon") expect(seen).toHaveLength(before + 3);
    loaded.resolve();
    expect(await first).toMatchObject({ status: 200 });
    expect(await placed).toMatchObject({ status: 200 });
    const isEvent = ({ event }: { readonly event?: unknown }) => event !== undefined;
    const ids = client.messages.map((message) => (isEvent(message) ? "event" : message.id));
    const expected = isUnsigned ? ["first", "placed"] : ["first", "event", "placed"];
    expect(ids.slice(-expected.length)).toEqual(expected);
  },
);

test("a signature of another secret is diagnosed by what the client signed", async () => {
  const { open, spot, signed, seen, store, master, time } = await openFixture();
  await (await open()).request(SUBSCRIBE, signed({ ...spot, apiSecret: spot.apiKey }));
  const bound = await store.findKey(spot.apiKey);
  const [request] = seen;
  if (bound === null || request === undefined) throw new Error("the request names a key");
  const diagnosis = diagnose({
    check: "SIGNATURE",
    scheme: "EXCHANGE",
    request: { ...request, query: request.query, body: "" },
    key: bound.key,
    secret: secretOf(master, bound.key),
    others: [],
    at: time.now(),
  });
  expect(diagnosis.hints).toEqual([
    "The API key was used as the secret. Sign with the secret that belongs to it.",
  ]);
  expect(Math.abs(diagnosis.clockOffsetMs ?? Number.NaN)).toBeLessThan(60_000);
});

test.each(["userDataStream.subscribe.signature", "v3/userDataStream.subscribe.signature"])(
  "the key of a futures strategy is refused by %s of spot",
  async (method) => {
    const { open, futures, signed, opened } = await openFixture();
    const answer = await (await open()).request(method, signed(futures));
    expect(answer).toMatchObject({ status: 400, error: { code: -2010 } });
    expect(opened).toEqual([]);
  },
);

test("a connection has so many requests in flight; what it sends beyond them is read when one is answered", async () => {
  const { open, signed, hooks } = await openFixture();
  const client = await open();
  const count = REQUESTS_IN_FLIGHT_MAX + 50;
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  hooks.onOrder = () => {
    begun += 1;
    return gate.promise;
  };
  const asked = Array.from({ length: count }, (_, id) => client.request("order.status", signed(), id));
  await expect.poll(() => begun).toBeGreaterThanOrEqual(REQUESTS_IN_FLIGHT_MAX);
  // Another connection is served in between, more than once.
  const other = await open();
  for (let round = 0; round < 3; round += 1)
    expect(await other.request("ping")).toMatchObject({ status: 200 });
  expect(begun).toBe(REQUESTS_IN_FLIGHT_MAX);
  expect(client.messages).toEqual([]);
  gate.resolve();
  for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ status: 200 });
});

test("a connection has so many user data subscriptions over its life, and another one has its own", async () => {
  const { open, signed, loaded, time } = await openFixture();
  loaded.resolve();
  const client = await open();
  for (let subscriptionId = 0; subscriptionId < SUBSCRIPTIONS_PER_CONNECTION_MAX; subscriptionId += 1) {
    // They use the weight of a minute up.
    if (subscriptionId % 500 === 499) time.advance(60_000);
    const { result } = await client.request(SUBSCRIBE, signed());
    expect(result).toEqual({ subscriptionId });
    expect(await client.request("userDataStream.unsubscribe")).toMatchObject({ status: 200 });
  }
  time.advance(60_000);
  const more = await client.request(SUBSCRIBE, signed());
  expect(more).toMatchObject({ status: 400, error: { code: -1034 } });
  expect((await (await open()).request(SUBSCRIBE, signed())).result).toEqual({ subscriptionId: 0 });
});

test("a key has so many user data subscriptions, also of requests that are answered together", async () => {
  const { open, signed, loaded, opened, listeners } = await openFixture();
  const count = USER_STREAMS_PER_KEY_MAX + 50;
  const clients = await Promise.all(Array.from({ length: count }, () => open()));
  const asked = clients.map((client) => client.request(SUBSCRIBE, signed()));
  await expect.poll(() => opened).toHaveLength(count);
  loaded.resolve();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(USER_STREAMS_PER_KEY_MAX);
  expect(listeners.size).toBe(USER_STREAMS_PER_KEY_MAX);
});

test.each(["SPOT", "FUTURES"] as const)(
  "connecting costs an address on %s, and is refused when it has used its weight up",
  async (type) => {
    const { open, budgets, weightOf, time } = await openFixture();
    await open(type);
    expect(weightOf(addressHolder(ADDRESS))).toBe(CONNECT_WEIGHT[type]);
    const rest = { weight: WEIGHT_PER_MINUTE - CONNECT_WEIGHT[type], placesOrder: false };
    budgets.charge(addressHolder(ADDRESS), time.now(), rest);
    await expect(open(type)).rejects.toThrow("429");
    time.advance(60_000);
    await open(type);
  },
);

test.each([
  ["a signed request of a key", "key", SUBSCRIBE],
  ["a public request of an address", "address", "ping"],
  ["an unknown method of an address", "address", "sor.order.place"],
])(
  "%s is answered with 418 and the end of a ban, and the connection is closed",
  async (_what, banned, method) => {
    const { open, spot, signed, budgets, time } = await openFixture();
    const client = await open();
    const holder = banned === "key" ? keyHolder(spot.apiKey) : addressHolder(ADDRESS);
    const until = time.now() + 60_000;
    budgets.absorb({ charges: [], bans: [{ holder, until }] }, time.now());
    const closed = once(client.socket, "close");
    expect(await client.request(method, banned === "key" ? signed() : {}, "b1")).toMatchObject({
      id: "b1",
      status: 418,
      error: {
        code: -1003,
        msg: expect.stringContaining(String(until)),
        data: { serverTime: time.now(), retryAfter: until },
      },
    });
    await closed;
    expect(client.closeCode).toBe(1_008);
  },
);

test("requests in flight are answered before the connection of a banned key is closed", async () => {
  const { open, spot, signed, budgets, time, hooks } = await openFixture();
  const client = await open();
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  hooks.onOrder = () => {
    begun.resolve();
    return gate.promise;
  };
  const asked = client.request("order.status", signed(), "before");
  await begun.promise;
  const ban = { holder: keyHolder(spot.apiKey), until: time.now() + 60_000 };
  budgets.absorb({ charges: [], bans: [ban] }, time.now());
  const closed = once(client.socket, "close");
  expect(await client.request("account.status", signed())).toMatchObject({ status: 418 });
  gate.resolve();
  expect(await asked).toMatchObject({ id: "before", status: 200 });
  await closed;
  expect(client.closeCode).toBe(1_008);
});

test("an order whose events are lost is answered before the connection is closed", async () => {
  const { open, signed, loaded, hooks } = await openFixture();
  loaded.resolve();
  const client = await open();
  await client.request(SUBSCRIBE, signed());
  hooks.onPlaced = async () => {
    hooks.loseFeed();
    await nextTurn();
  };
  const closed = once(client.socket, "close");
  void client.request("order.place", signed(), "placed");
  await closed;
  expect(client.closeCode).toBe(1_011);
  expect(client.messages.at(-1)).toMatchObject({ id: "placed", status: 200 });
});

test("what a client sent before it closed the connection is handled, however much it is", async () => {
  const { open, seen, sockets } = await openFixture();
  const client = await open();
  const tcp: Socket = Reflect.get(client.socket, "_socket");
  tcp.cork();
  for (let id = 0; id < REQUESTS_IN_FLIGHT_MAX + 5; id += 1)
    client.socket.send(JSON.stringify({ id, method: "ping" }));
  client.socket.close();
  tcp.uncork();
  await expect.poll(() => sockets.count).toBe(0);
  await expect.poll(() => seen.length).toBe(REQUESTS_IN_FLIGHT_MAX + 5);
});

test("a client that leaves while its account is loaded is subscribed to nothing", async () => {
  const { open, signed, loaded, opened, listeners, seen, sockets } = await openFixture();
  const client = await open();
  client.socket.send(JSON.stringify({ id: 1, method: SUBSCRIBE, params: signed() }));
  await expect.poll(() => opened).toHaveLength(1);
  client.socket.terminate();
  await expect.poll(() => sockets.count).toBe(0);
  loaded.resolve();
  await expect.poll(() => seen.length).toBe(1);
  await nextTurn();
  expect(listeners.size).toBe(0);
});

test("a key without a signature counts against its address, as over REST", async () => {
  const { open, futures, weightOf } = await openFixture();
  const client = await open("FUTURES");
  const before = weightOf(addressHolder(ADDRESS));
  expect(await client.request("userDataStream.ping", { apiKey: futures.apiKey })).toMatchObject({
    status: 400,
    error: { code: -1125 },
  });
  expect(weightOf(keyHolder(futures.apiKey))).toBe(0);
  expect(weightOf(addressHolder(ADDRESS))).toBe(before + 1);
});

test("a request without its key is a failed authentication of its address, as over REST", async () => {
  const { open, budgets, time } = await openFixture();
  const client = await open();
  const ask = () => client.request("account.status", { timestamp: time.now() });
  expect(await ask()).toMatchObject({ status: 400, error: { code: -1102 } });
  for (let count = 1; count < FAILED_AUTHENTICATIONS_PER_MINUTE; count += 1)
    expect(budgets.chargeFailure(addressHolder(ADDRESS), time.now())).toBeNull();
  expect(await ask()).toMatchObject({ status: 429, error: { code: -1003 } });
});

test("a client that does not read has all events up to a bound, and is cut beyond it: it never has a gap", async () => {
  const { open, signed, loaded, listeners, sockets } = await openFixture();
  loaded.resolve();
  const client = await open();
  await client.request(SUBSCRIBE, signed());
  const [listener] = listeners;
  let sent = 0;
  const padding = "x".repeat(100_000);
  const send = () => {
    listener?.({ name: "executionReport", text: JSON.stringify({ e: "executionReport", I: sent, padding }) });
    sent += 1;
  };
  const heard = () => client.messages.flatMap(({ event }) => (event === undefined ? [] : [event.I]));
  client.socket.pause();
  while (sent < 30) send();
  client.socket.resume();
  await expect.poll(() => heard().length).toBe(30);

  client.socket.pause();
  while (sockets.count > 0 && sent < 2_000) {
    send();
    await nextTurn();
  }
  expect(sockets.count).toBe(0);
  const closed = once(client.socket, "close");
  client.socket.resume();
  await closed;
  expect(heard().length).toBeLessThan(sent);
  expect(heard()).toEqual(Array.from({ length: heard().length }, (_, index) => index));
});

test("a client that reads gets every answer that it asked for, however large, and the events behind them", async () => {
  const { open, signed, loaded, listeners, seen } = await openFixture();
  loaded.resolve();
  const client = await open();
  await client.request(SUBSCRIBE, signed());
  client.socket.pause();
  const asked = [
    client.request("exchangeInfo", {}, "a"),
    client.request("exchangeInfo", {}, "b"),
    client.request("ping", {}, "c"),
  ];
  await expect.poll(() => seen.length).toBe(4);
  const [listener] = listeners;
  listener?.({ name: "executionReport", text: JSON.stringify({ e: "executionReport" }) });
  client.socket.resume();
  const [first, second, third] = await Promise.all(asked);
  expect([first.result.length, second.result.length]).toEqual([LARGE, LARGE]);
  expect(third).toMatchObject({ id: "c", status: 200 });
  expect(await client.message(({ event }) => event !== undefined)).toMatchObject({ subscriptionId: 0 });
});

test("while answers of all clients fill the memory, one with an unread answer gets no more; orders are answered", async () => {
  const { open, signed, seen, sockets } = await openFixture();
  const [hoarder, client, other] = [await open(), await open(), await open()];
  const answered = (count: number) => expect.poll(() => seen.length).toBe(count);
  hoarder.socket.pause();
  const fitting = Math.floor(ANSWERS_WAITING_BYTES_MAX / LARGE_JSON.length);
  for (let id = 1; id < fitting; id += 1) void hoarder.request("exchangeInfo", {}, id);
  await answered(fitting - 1);
  client.socket.pause();
  const first = client.request("exchangeInfo", {}, "first");
  await answered(fitting);
  const refused = client.request("exchangeInfo", {}, "refused");
  const placed = client.request("order.place", signed(), "placed");
  await answered(fitting + 2);
  expect(await other.request("exchangeInfo")).toMatchObject({ status: 200 });
  client.socket.resume();
  expect(await first).toMatchObject({ status: 200 });
  const retryAfter = expect.any(Number);
  expect(await refused).toMatchObject({ status: 503, error: { code: -1008, data: { retryAfter } } });
  expect(await placed).toMatchObject({ status: 200 });

  hoarder.socket.terminate();
  await expect.poll(() => sockets.count).toBe(2);
  client.socket.pause();
  const more = [client.request("exchangeInfo", {}, "more"), client.request("exchangeInfo", {}, "most")];
  await answered(fitting + 5);
  client.socket.resume();
  for (const answer of await Promise.all(more)) expect(answer).toMatchObject({ status: 200 });
});

test("a request is in flight until its answer has left", async () => {
  const { open, seen } = await openFixture();
  const client = await open();
  client.socket.pause();
  const asked = [client.request("exchangeInfo", {}, "large")];
  for (let id = 0; id < 2 * REQUESTS_IN_FLIGHT_MAX; id += 1) asked.push(client.request("ping", {}, id));
  await expect.poll(() => seen.length).toBe(REQUESTS_IN_FLIGHT_MAX);
  const other = await open();
  for (let round = 0; round < 3; round += 1)
    expect(await other.request("time")).toMatchObject({ status: 200 });
  expect(seen).toHaveLength(REQUESTS_IN_FLIGHT_MAX + 3);
  client.socket.resume();
  for (const answer of await Promise.all(asked)) expect(answer).toMatchObject({ status: 200 });
});

test("what a session began ends with it, also what was in flight before", async () => {
  const { open, signed, loaded, opened, listeners } = await openFixture();
  const client = await open();
  expect(await client.request("session.logon", signed())).toMatchObject({ status: 200 });
  const subscribed = client.request("userDataStream.subscribe");
  await expect.poll(() => opened).toHaveLength(1);
  const ended = client.request("session.logout");
  loaded.resolve();
  expect(await subscribed).toMatchObject({ status: 200 });
  expect(await ended).toMatchObject({ status: 200 });
  const notice = await client.message(({ event }) => event !== undefined);
  expect(notice).toMatchObject({ subscriptionId: 0, event: { e: "eventStreamTerminated" } });
  expect((await client.request("session.subscriptions")).result).toEqual([]);
  expect(listeners.size).toBe(0);
});
