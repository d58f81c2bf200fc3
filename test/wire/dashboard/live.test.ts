// The dashboard's live connection, by a stock Socket.IO client with the cookies of a browser.
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import {
  HEARTBEAT_EVERY_MS,
  MESSAGES_PER_MINUTE,
  SESSIONS_CHECKED_EVERY_MS,
  SOCKETS_PER_PERSON_MAX,
  TOPICS_MAX,
  TOPICS_PER_PERSON_MAX,
  WATCHES_MAX,
} from "../../../src/dashboard-api/live/limits.ts";
import { SESSION_IDLE_MS_DEFAULT } from "../../../src/people/sessions.ts";
import { ask, type LiveFixture, openLiveFixture, PRICES } from "../../support/dashboard/live-fixture.ts";
import { eventually } from "../../support/eventually.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import type { StreamClient } from "../../support/sockets/stream-client.ts";

stayOnLoopback();

let fixture: LiveFixture;
afterEach(() => fixture.close());

describe("a handshake", () => {
  test("needs the cookie of a session", async () => {
    fixture = await openLiveFixture();
    const name = `lyrebird-${new URL(fixture.url).port}`;
    for (const cookie of ["", `${name}=`, `${name}=${"a".repeat(32)}`]) {
      const client = fixture.open({ cookie, origin: fixture.url });
      expect(await client.next("refused")).toMatchObject({ code: "NOT_SIGNED_IN" });
      expect(await client.next("disconnect")).toBe("io server disconnect");
    }
  });

  test("is refused when a person has too many windows open, until one is closed", async () => {
    fixture = await openLiveFixture();
    const { cookie } = await fixture.somebody();
    const clients: StreamClient[] = [];
    for (let window = 0; window < SOCKETS_PER_PERSON_MAX; window += 1)
      clients.push(await fixture.joined(cookie));
    const tooMany = fixture.open({ cookie, origin: fixture.url });
    expect(await tooMany.next("refused")).toMatchObject({ code: "TOO_MANY_REQUESTS" });
    clients[0]?.close();
    const left = () => fixture.sockets.filter((socket) => socket.destroyed).length;
    // The windows of the refused clients, and of the one that has gone.
    await eventually("the window is closed", () => left() === 2);
    expect(await ask(await fixture.joined(cookie), "unfollow", PRICES)).toBeNull();
  });
});

test("a connection gets a heartbeat at once and every second, whether or not anything happens", async () => {
  fixture = await openLiveFixture();
  const client = await fixture.joined((await fixture.somebody()).cookie);
  await client.next("heartbeat");
  fixture.time.advance(HEARTBEAT_EVERY_MS);
  await client.next("heartbeat");
  fixture.time.advance(HEARTBEAT_EVERY_MS - 1);
  expect(await ask(client, "unfollow", PRICES)).toBeNull();
  expect(client.events.filter(({ name }) => name === "heartbeat")).toHaveLength(2);
});

describe("a session", () => {
  test("that is ended ends its connections, and no other", async () => {
    fixture = await openLiveFixture();
    const { cookie, signIn, personId } = await fixture.somebody();
    const ended = await fixture.joined(cookie);
    const other = await fixture.joined(await signIn());
    const person = await fixture.store.people.findPerson(personId);
    const session = await fixture.people.accounts.sessionOf(
      { address: "", userAgent: "", cookies: cookie },
      fixture.time.now(),
    );
    if (person === null || session === null) throw new Error("somebody is signed in");
    await fixture.people.accounts.endSession(person, session.sessionId);
    expect(await ended.next("refused")).toMatchObject({ code: "NOT_SIGNED_IN" });
    expect(await ended.next("disconnect")).toBe("io server disconnect");
    expect(await ask(other, "unfollow", PRICES)).toBeNull();
  });

  test("that is ended by another server, or expires, ends them with the next poll", async () => {
    fixture = await openLiveFixture();
    const { cookie, signIn, personId } = await fixture.somebody();
    const client = await fixture.joined(cookie);
    const session = await fixture.people.accounts.sessionOf(
      { address: "", userAgent: "", cookies: cookie },
      fixture.time.now(),
    );
    await fixture.store.people.endSessions(personId, { only: session?.sessionId ?? "" }, null);
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    fixture.time.advance(SESSIONS_CHECKED_EVERY_MS);
    expect(await client.next("refused")).toMatchObject({ code: "NOT_SIGNED_IN" });

    const late = await fixture.joined(await signIn());
    const [own] = await fixture.store.people.listSessions(personId, { expiresAfter: 0, usedAfter: 0 });
    await fixture.store.people.recordSessionUse(
      own?.sessionId ?? "",
      fixture.time.now() - SESSION_IDLE_MS_DEFAULT,
    );
    fixture.time.advance(SESSIONS_CHECKED_EVERY_MS);
    expect(await late.next("refused")).toMatchObject({ code: "NOT_SIGNED_IN" });
  });
});

describe("a topic of a market", () => {
  test("is followed once for all, and sent by the schemas", async () => {
    fixture = await openLiveFixture();
    const { SPOT, FUTURES } = fixture.markets;
    const one = await fixture.joined((await fixture.somebody()).cookie);
    const two = await fixture.joined((await fixture.somebody()).cookie);
    const candles = { kind: "candles", family: "FUTURES", symbol: "BTCUSDT", interval: "1m" } as const;
    const depth = { kind: "depth", family: "FUTURES", symbol: "BTCUSDT" } as const;
    for (const client of [one, two]) {
      for (const topic of [candles, depth, PRICES]) expect(await ask(client, "follow", topic)).toBeNull();
    }
    const k = { t: 0, T: 59_999, s: "BTCUSDT", i: "1m", o: "1", h: "3", l: "0.5", c: "2", v: "7", x: false };
    FUTURES.say("btcusdt@kline_1m", { E: 10, k });
    FUTURES.say("btcusdt@depth20@500ms", { e: "depthUpdate", u: 5, b: [["99", "1"]], a: [["100", "2"]] });
    expect(SPOT.watched).toEqual(["BTCUSDT"]);
    SPOT.trade("BTCUSDT", "99.5");
    fixture.time.advance(1_000);
    for (const client of [one, two]) {
      expect(await client.next("candle")).toEqual({
        family: "FUTURES",
        symbol: "BTCUSDT",
        interval: "1m",
        candle: { openTime: 0, open: "1", high: "3", low: "0.5", close: "2", volume: "7", isFinal: false },
      });
      expect(await client.next("book")).toEqual({
        family: "FUTURES",
        symbol: "BTCUSDT",
        lastUpdateId: 5,
        bids: [["99", "1"]],
        asks: [["100", "2"]],
      });
      expect(await client.next("price")).toEqual({
        family: "SPOT",
        symbol: "BTCUSDT",
        bid: "99",
        ask: "100",
        last: "99.5",
        mark: null,
        at: 1_000,
      });
    }
    expect(await ask(one, "unfollow", PRICES)).toBeNull();
    expect(SPOT.watched).toEqual(["BTCUSDT"]);
    two.close();
    await eventually("nobody follows it", () => SPOT.watched.length === 0);
  });

  test("is shown at once to later followers", async () => {
    fixture = await openLiveFixture();
    const { cookie } = await fixture.somebody();
    const first = await fixture.joined(cookie);
    await ask(first, "follow", PRICES);
    fixture.time.advance(1_000);
    await first.next("price");
    const second = await fixture.joined(cookie);
    await ask(second, "follow", PRICES);
    expect(await second.next("price")).toMatchObject({ bid: "99" });
  });

  test("is stale after five seconds without a message, until the next one", async () => {
    fixture = await openLiveFixture();
    const { cookie } = await fixture.somebody();
    const client = await fixture.joined(cookie);
    const mark = { kind: "prices", family: "FUTURES", symbol: "BTCUSDT" } as const;
    const depth = { kind: "depth", family: "SPOT", symbol: "BTCUSDT" } as const;
    for (const topic of [PRICES, mark, depth]) await ask(client, "follow", topic);
    fixture.markets.SPOT.silence("BTCUSDT");
    fixture.time.advance(4_000);
    expect(await ask(client, "unwatch", { strategyId: "none" })).toBeNull();
    expect(client.events.map(({ name }) => name)).not.toContain("stale");
    fixture.time.advance(1_000);
    const stale = [await client.next("stale"), await client.next("stale")];
    expect(stale.map(({ topic }) => topic)).toEqual(expect.arrayContaining([PRICES, depth]));
    expect(stale[0].since).toBe(fixture.time.now() - 5_000);
    fixture.markets.SPOT.show("BTCUSDT", "98", "99");
    fixture.time.advance(1_000);
    await eventually("the price of spot is sent", () =>
      client.events.some(({ payload }) => payload?.family === "SPOT" && payload?.bid === "98"),
    );
    expect(client.events.filter(({ name }) => name === "stale")).toHaveLength(2);
  });

  test("whose book's ids start over continues", async () => {
    fixture = await openLiveFixture();
    const client = await fixture.joined((await fixture.somebody()).cookie);
    await ask(client, "follow", { kind: "depth", family: "SPOT", symbol: "BTCUSDT" });
    const say = (lastUpdateId: number) =>
      fixture.markets.SPOT.say("btcusdt@depth20", {
        lastUpdateId,
        bids: [["99", "1"]],
        asks: [["100", "1"]],
      });
    say(900);
    fixture.time.advance(1_000);
    expect(await client.next("book")).toMatchObject({ lastUpdateId: 900 });
    fixture.time.advance(6_000);
    await client.next("stale");
    say(3);
    say(4);
    fixture.time.advance(1_000);
    await eventually("the new book is sent", () =>
      client.events.some(({ payload }) => payload?.lastUpdateId === 4),
    );
  });

  test("that does not change is sent again all the same", async () => {
    fixture = await openLiveFixture();
    const client = await fixture.joined((await fixture.somebody()).cookie);
    await ask(client, "follow", PRICES);
    fixture.time.advance(1_000);
    await client.next("price");
    fixture.time.advance(2_000);
    expect(await ask(client, "unwatch", { strategyId: "none" })).toBeNull();
    expect(client.events.filter(({ name }) => name === "price")).toHaveLength(1);
    fixture.time.advance(1_000);
    expect(await client.next("price")).toMatchObject({ bid: "99" });
  });
});

describe("what a browser may send", () => {
  const GARBAGE: readonly (readonly [name: string, payload: unknown])[] = [
    ["watch", undefined],
    ["watch", null],
    ["watch", []],
    ["watch", { strategyId: 7 }],
    ["watch", { strategyId: "x".repeat(65) }],
    ["watch", { strategyId: "x", more: 1 }],
    ["watch", { strategyId: "x\0" }],
    ["follow", "BTCUSDT"],
    ["follow", { kind: "prices", family: "SPOT", symbol: "btc usdt" }],
    ["follow", { kind: "candles", family: "SPOT", symbol: "BTCUSDT", interval: "9m" }],
    ["follow", { kind: "depth", family: "OPTIONS", symbol: "BTCUSDT" }],
    ["subscribe", { pair: "BTCUSDT" }],
    ["__proto__", {}],
  ];

  test("takes only the defined messages: anything else is refused, and the connection stays", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot } = await fixture.somebody();
    const client = await fixture.joined(cookie);
    for (const [name, payload] of GARBAGE) {
      expect(await ask(client, name, payload), `${name} ${JSON.stringify(payload)}`).toMatchObject({
        code: "BODY_UNFIT",
      });
    }
    expect(await ask(client, "watch", { strategyId: spot })).toBeNull();
  });

  test("is bounded for all windows of a person together, with an error; it leaves room to others", async () => {
    fixture = await openLiveFixture();
    const { cookie } = await fixture.somebody();
    const topic = (index: number) => ({ ...PRICES, symbol: `COIN${index}USDT` });
    const clients: StreamClient[] = [];
    for (let index = 0; index < TOPICS_PER_PERSON_MAX; index += 1) {
      if (index % TOPICS_MAX === 0) clients.push(await fixture.joined(cookie));
      expect(await ask(clients.at(-1) as StreamClient, "follow", topic(index))).toBeNull();
    }
    const further = await fixture.joined(cookie);
    const refusal = await ask(further, "follow", PRICES);
    expect(refusal).toMatchObject({
      code: "TOO_MANY_REQUESTS",
      message: expect.stringContaining(`Your windows follow ${TOPICS_PER_PERSON_MAX} `),
    });
    const full = await ask(clients[0] as StreamClient, "follow", PRICES);
    expect(full).toMatchObject({ message: expect.stringContaining(`This window follows ${TOPICS_MAX} `) });
    // What is followed anyway may be followed in a further window.
    expect(await ask(further, "follow", topic(0))).toBeNull();
    expect(await ask(await fixture.joined((await fixture.somebody()).cookie), "follow", PRICES)).toBeNull();

    await ask(further, "unfollow", topic(0));
    expect(await ask(further, "follow", PRICES)).toMatchObject({ code: "TOO_MANY_REQUESTS" });
    clients[0]?.close();
    await eventually(
      "what was followed in a window that is closed makes room",
      async () => (await ask(further, "follow", PRICES)) === null,
    );
  });

  test("is bounded: messages, topics and strategies", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot, personId } = await fixture.somebody();
    const client = await fixture.joined(cookie);
    for (let index = 0; index < TOPICS_MAX; index += 1) {
      expect(await ask(client, "follow", { ...PRICES, symbol: `COIN${index}USDT` })).toBeNull();
    }
    expect(await ask(client, "follow", PRICES)).toMatchObject({ code: "TOO_MANY_REQUESTS" });
    expect(await ask(client, "follow", { ...PRICES, symbol: "COIN0USDT" })).toBeNull();
    const { findStrategy } = fixture.store.people;
    const people = fixture.store.people as { findStrategy: typeof findStrategy };
    people.findStrategy = async (strategyId) => {
      const own = await findStrategy.call(people, spot);
      return own && { ...own, strategyId, ownerId: personId };
    };
    for (let index = 0; index < WATCHES_MAX; index += 1) {
      expect(await ask(client, "watch", { strategyId: `${index}` })).toBeNull();
    }
    expect(await ask(client, "watch", { strategyId: spot })).toMatchObject({ code: "TOO_MANY_REQUESTS" });

    const sent = TOPICS_MAX + 2 + WATCHES_MAX + 1;
    for (let index = sent; index < MESSAGES_PER_MINUTE; index += 1)
      client.send("unwatch", { strategyId: "none" });
    client.send("unwatch", { strategyId: "none" });
    await eventually("the last one is refused", () =>
      client.events.some(
        ({ name, payload }) =>
          name === "refused" && payload.message === "Too many requests from this address or of this account.",
      ),
    );
    fixture.time.advance(60_000);
    await eventually(
      "the session was looked up",
      async () => (await ask(client, "unfollow", PRICES)) === null,
    );
  });
});

/** What the server may hold for one client that does not read, bytes. */
const HELD_BYTES_MAX = 100_000;

test("a browser that does not read is kept the newest of everything, and no more", async () => {
  fixture = await openLiveFixture();
  const { cookie, spot } = await fixture.somebody();
  const slow = new WebSocket(`${fixture.url}/socket.io/?EIO=4&transport=websocket`, {
    headers: { cookie, origin: fixture.url },
  });
  const heard: [name: string, payload: { lastUpdateId: number }][] = [];
  let isWatching = false;
  slow.on("message", (data: Buffer) => {
    const text = data.toString();
    if (text.startsWith("0")) slow.send("40/dashboard,");
    if (text.startsWith("40")) {
      slow.send(
        `42/dashboard,${JSON.stringify(["follow", { kind: "depth", family: "SPOT", symbol: "BTCUSDT" }])}`,
      );
      slow.send(`42/dashboard,1${JSON.stringify(["watch", { strategyId: spot }])}`);
    }
    if (text.startsWith("43")) isWatching = true;
    if (text.startsWith("42")) heard.push(JSON.parse(text.slice(text.indexOf(",") + 1)));
  });
  await eventually("the client watches and follows", () => isWatching);
  const [served] = fixture.sockets;
  if (served === undefined) throw new Error("the server has seen the client");
  slow.pause();

  let id = 0;
  const tellOne = async () => {
    id += 1;
    const levels = (first: number, step: number) =>
      Array.from({ length: 20 }, (_, index) => [
        `${first + step * index}.${"1".repeat(8)}`,
        `${"9".repeat(20)}.5`,
      ]);
    fixture.markets.SPOT.say("btcusdt@depth20", {
      lastUpdateId: id,
      bids: levels(5_000, -1),
      asks: levels(6_000, 1),
    });
    fixture.request(spot);
    fixture.time.advance(1_000);
    await nextTurn();
  };
  while (served.writableLength === 0 && id < 50_000) await tellOne();
  expect(served.writableLength).toBeGreaterThan(0);
  const last = id + 2_000;
  while (id < last) {
    await tellOne();
    expect(served.writableLength).toBeLessThan(HELD_BYTES_MAX);
  }
  slow.resume();
  await eventually("the newest book has come", () =>
    heard.some(([, payload]) => payload.lastUpdateId === last),
  );
  const ids = heard.flatMap(([name, payload]) => (name === "book" ? [payload.lastUpdateId] : []));
  expect(ids).toEqual([...ids].sort((one, other) => one - other));
  expect(ids.length).toBeLessThan(last - 1_000);
  slow.terminate();
});
