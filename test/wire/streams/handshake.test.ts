// Authentication of stream connections, and the errors of refused ones. Source: specification 5.3, 7.3 and
// 8.3; design, section 6.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { StrategyType } from "../../../src/domain/account.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { newDirectory } from "../../support/servers/gateway.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import {
  handshakeAuth,
  MARKET,
  ORDER_BOOK,
  type StreamClientOptions,
  type StreamCredentials,
} from "../../support/sockets/stream-client.ts";
import { openStreamFixture, type StreamFixture } from "../../support/sockets/stream-fixture.ts";

stayOnLoopback();

const MINUTE = 60_000;
/** For all tests that need no fixture of their own: none uses another's key. */
let fixture: StreamFixture;
const ownFixtures: StreamFixture[] = [];

beforeAll(async () => {
  fixture = await openStreamFixture();
});
afterEach(async () => {
  for (const own of ownFixtures.splice(0)) await own.close();
});
afterAll(() => fixture.close());

async function newKey(of = fixture, type: StrategyType = "SPOT"): Promise<StreamCredentials> {
  const [key] = await of.keys(1, type);
  if (key === undefined) throw new Error("one key was asked for");
  return key;
}

async function ownFixture(options: Parameters<typeof openStreamFixture>[0]): Promise<StreamFixture> {
  const own = await openStreamFixture(options);
  ownFixtures.push(own);
  return own;
}

/** Connects and answers with the error that the handshake is refused with; null if it is not refused. */
async function outcomeOf(
  of: StreamFixture,
  namespace: string,
  key: StreamCredentials,
  options: StreamClientOptions = {},
) {
  const client = await of.connect(namespace, key, options);
  // An accepted client gets an answer to this; a refused one has the error before.
  client.send("subscribe", { pair: "PAIR0USDT", timeframe: "1m" });
  const { name, payload } = await client.nextOf("error", "subscribed");
  if (name === "subscribed" || payload.code.startsWith("SUB_")) return null;
  // Stock clients come back by themselves after the former, and not after the latter.
  const ending = payload.code === "INTERNAL" ? "transport close" : "io server disconnect";
  expect(await client.next("disconnect")).toBe(ending);
  return payload;
}

/** A handshake that is signed for the other namespace. */
const wrong = (key: StreamCredentials): StreamClientOptions => ({
  auth: handshakeAuth(ORDER_BOOK, key, fixture.time.now()),
});

test("an accepted handshake counts as a use of the key, and no other does", async () => {
  const own = await ownFixture({});
  const key = await newKey(own);
  const keyId = (await own.store.findKey(key.apiKey))?.key.keyId;
  await outcomeOf(own, MARKET, key, wrong(key));
  expect(own.keyUses).toEqual([]);
  await outcomeOf(own, MARKET, key);
  await outcomeOf(own, ORDER_BOOK, key);
  expect(own.keyUses).toEqual([`${keyId} ${MARKET}`, `${keyId} ${ORDER_BOOK}`]);
  await own.store.revokeKey(key.apiKey, own.time.now());
  await outcomeOf(own, MARKET, key);
  expect(own.keyUses).toHaveLength(2);
});

describe.each([MARKET, ORDER_BOOK])("a handshake on %s", (namespace) => {
  const other = namespace === MARKET ? ORDER_BOOK : MARKET;

  test("that is signed for the namespace is let in", async () => {
    const key = await newKey();
    expect(await outcomeOf(fixture, namespace, key)).toBeNull();
  });

  test("may carry its credentials in headers", async () => {
    const key = await newKey();
    const { apiKey, timestamp, signature } = handshakeAuth(namespace, key, fixture.time.now());
    const headers = {
      "x-bot-api-key": apiKey,
      "x-bot-timestamp": timestamp,
      "x-bot-signature": signature,
    };
    expect(await outcomeOf(fixture, namespace, key, { auth: null, headers })).toBeNull();
  });

  test("may say its timestamp as a number", async () => {
    const key = await newKey();
    const auth = { ...handshakeAuth(namespace, key, fixture.time.now()), timestamp: fixture.time.now() };
    expect(await outcomeOf(fixture, namespace, key, { auth })).toBeNull();
  });

  test.each([
    ["no credentials", null],
    ["an empty auth object", {}],
    ["no key", { timestamp: "1", signature: "2" }],
    ["no timestamp", { apiKey: "1", signature: "2" }],
    ["no signature", { apiKey: "1", timestamp: "2" }],
    ["an empty key", { apiKey: "", timestamp: "1", signature: "2" }],
    ["a key that is an object", { apiKey: {}, timestamp: "1", signature: "2" }],
  ])("with %s is refused AUTH_MISSING_CREDENTIALS", async (_what, auth) => {
    const key = await newKey();
    expect(await outcomeOf(fixture, namespace, key, { auth })).toEqual({
      status: false,
      code: "AUTH_MISSING_CREDENTIALS",
      message: "The handshake lacks apiKey, timestamp or signature.",
    });
  });

  test.each([
    ["30 seconds before", -30_000, null],
    ["30 seconds after", 30_000, null],
    ["more than 30 seconds before", -30_001, "AUTH_TIMESTAMP_OUT_OF_WINDOW"],
    ["more than 30 seconds after", 30_001, "AUTH_TIMESTAMP_OUT_OF_WINDOW"],
  ])("of %s server time: %#", async (_what, offset, code) => {
    const key = await newKey();
    const auth = handshakeAuth(namespace, key, fixture.time.now() + offset);
    expect((await outcomeOf(fixture, namespace, key, { auth }))?.code ?? null).toBe(code);
  });

  test.each(["soon", "1e12", "0x10", " 5", "-1"])(
    "with the timestamp %j is refused AUTH_TIMESTAMP_OUT_OF_WINDOW",
    async (timestamp) => {
      const key = await newKey();
      const auth = { ...handshakeAuth(namespace, key, fixture.time.now()), timestamp };
      expect(await outcomeOf(fixture, namespace, key, { auth })).toMatchObject({
        code: "AUTH_TIMESTAMP_OUT_OF_WINDOW",
      });
    },
  );

  test("that is signed for the other namespace is refused AUTH_INVALID_SIGNATURE", async () => {
    const key = await newKey();
    const auth = handshakeAuth(other, key, fixture.time.now());
    expect(await outcomeOf(fixture, namespace, key, { auth })).toMatchObject({
      code: "AUTH_INVALID_SIGNATURE",
    });
  });

  test("that is signed with another secret is refused AUTH_INVALID_SIGNATURE", async () => {
    const key = await newKey();
    const auth = handshakeAuth(namespace, { ...key, apiSecret: "0".repeat(64) }, fixture.time.now());
    expect(await outcomeOf(fixture, namespace, key, { auth })).toMatchObject({
      code: "AUTH_INVALID_SIGNATURE",
    });
    expect(fixture.refused.at(-1)).toBe(`${namespace} 127.0.0.1 AUTH_INVALID_SIGNATURE`);
  });

  test("whose signature is in upper case is refused AUTH_INVALID_SIGNATURE", async () => {
    const key = await newKey();
    const auth = handshakeAuth(namespace, key, fixture.time.now());
    const shouted = { ...auth, signature: auth.signature.toUpperCase() };
    expect(await outcomeOf(fixture, namespace, key, { auth: shouted })).toMatchObject({
      code: "AUTH_INVALID_SIGNATURE",
    });
  });

  test.each(["lyre_bot_".padEnd(73, "0"), "nobody", "a\u0000b", "'; DROP TABLE api_keys", "k".repeat(2_000)])(
    "under the unknown key %j is refused AUTH_INVALID_SIGNATURE",
    async (apiKey) => {
      const key = await newKey();
      const auth = handshakeAuth(namespace, { ...key, apiKey }, fixture.time.now());
      expect(await outcomeOf(fixture, namespace, key, { auth })).toMatchObject({
        code: "AUTH_INVALID_SIGNATURE",
      });
    },
  );

  test("under a revoked key is refused AUTH_KEY_REVOKED", async () => {
    const key = await newKey();
    await fixture.store.revokeKey(key.apiKey, fixture.time.now());
    expect(await outcomeOf(fixture, namespace, key)).toMatchObject({ code: "AUTH_KEY_REVOKED" });
  });

  test("is refused INTERNAL while the database is out of reach, and may come back by itself", async () => {
    const away = await ownFixture({
      wrap: (store) => ({ ...store, findKey: () => Promise.reject(new StoreUnavailable("away")) }),
    });
    expect(await outcomeOf(away, namespace, await newKey(away))).toMatchObject({ code: "INTERNAL" });
  });
});

test("what could be no key is not asked the database for, which may take offence at it", async () => {
  const offended = (text: string) => Promise.reject(new Error(`invalid text: ${JSON.stringify(text)}`));
  const picky = await ownFixture({
    wrap: (store) => ({
      ...store,
      findKey: (text) => (/^\w{1,128}$/.test(text) ? store.findKey(text) : offended(text)),
    }),
  });
  const key = await newKey(picky);
  for (const apiKey of ["a\u0000b", "\ud800", "k".repeat(129), `${key.apiKey}\n`]) {
    const auth = handshakeAuth(MARKET, { ...key, apiKey }, picky.time.now());
    expect(await outcomeOf(picky, MARKET, key, { auth })).toMatchObject({ code: "AUTH_INVALID_SIGNATURE" });
  }
});

test("nothing is handled that is sent before the handshake is answered", async () => {
  const key = await newKey();
  const client = fixture.open(MARKET, key, { auth: handshakeAuth(ORDER_BOOK, key, fixture.time.now()) });
  client.send("subscribe", { pair: "PAIR7USDT", timeframe: "1m" });
  expect(await client.next("error")).toMatchObject({ code: "AUTH_INVALID_SIGNATURE" });
  await client.next("disconnect");
  expect(client.events.map(({ name }) => name)).toEqual(["connect", "error", "disconnect"]);
  expect(fixture.candles.followed.join()).not.toContain("PAIR7USDT");
});

test("a key of a futures strategy may connect", async () => {
  expect(await outcomeOf(fixture, ORDER_BOOK, await newKey(fixture, "FUTURES"))).toBeNull();
});

describe("failed handshakes", () => {
  test("five within 15 minutes block the key, also for handshakes that are in order", async () => {
    const key = await newKey();
    for (let count = 0; count < 5; count += 1) {
      expect(await outcomeOf(fixture, MARKET, key, wrong(key))).toMatchObject({
        code: "AUTH_INVALID_SIGNATURE",
      });
      fixture.time.advance(MINUTE);
    }
    expect(await outcomeOf(fixture, MARKET, key)).toEqual({
      status: false,
      code: "RATE_LIMITED",
      message: "The key is blocked after too many failed handshakes.",
      retryAfterMs: 14 * MINUTE,
    });
    expect(await outcomeOf(fixture, ORDER_BOOK, key)).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("many at once are five, however they are spread over connections and streams", async () => {
    const key = await newKey();
    const codes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const [namespace, other] = index % 2 === 0 ? [MARKET, ORDER_BOOK] : [ORDER_BOOK, MARKET];
        const auth = handshakeAuth(other, key, fixture.time.now());
        return (await outcomeOf(fixture, namespace, key, { auth })).code;
      }),
    );
    expect(codes.filter((code) => code === "AUTH_INVALID_SIGNATURE")).toHaveLength(5);
    expect(codes.filter((code) => code === "RATE_LIMITED")).toHaveLength(15);
    expect(
      await fixture.store.listFailedHandshakes({ apiKey: key.apiKey, address: "ip:127.0.0.1" }, 0),
    ).toHaveLength(5);
  });

  test("the block ends 15 minutes after the fifth, and refusals in that time do not count", async () => {
    const key = await newKey();
    for (let count = 0; count < 5; count += 1) await outcomeOf(fixture, MARKET, key, wrong(key));
    fixture.time.advance(15 * MINUTE - 1);
    for (let count = 0; count < 5; count += 1) {
      expect(await outcomeOf(fixture, MARKET, key, wrong(key))).toMatchObject({
        code: "RATE_LIMITED",
        retryAfterMs: 1,
      });
    }
    fixture.time.advance(1);
    expect(await outcomeOf(fixture, MARKET, key)).toBeNull();
  });

  test("after the block it takes five more", async () => {
    const key = await newKey();
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 5; count += 1) {
        expect(await outcomeOf(fixture, MARKET, key, wrong(key))).toMatchObject({
          code: "AUTH_INVALID_SIGNATURE",
        });
      }
      expect(await outcomeOf(fixture, MARKET, key)).toMatchObject({ code: "RATE_LIMITED" });
      fixture.time.advance(15 * MINUTE);
    }
    expect(await outcomeOf(fixture, MARKET, key)).toBeNull();
  });

  test("a fifth that comes 15 minutes after the first blocks nothing", async () => {
    const key = await newKey();
    await outcomeOf(fixture, MARKET, key, wrong(key));
    fixture.time.advance(15 * MINUTE);
    for (let count = 0; count < 4; count += 1) await outcomeOf(fixture, MARKET, key, wrong(key));
    expect(await outcomeOf(fixture, MARKET, key)).toBeNull();
  });

  test("a timestamp outside the window counts as one", async () => {
    const key = await newKey();
    const late = { auth: handshakeAuth(MARKET, key, fixture.time.now() - 60_000) };
    for (let count = 0; count < 5; count += 1) await outcomeOf(fixture, MARKET, key, late);
    expect(await outcomeOf(fixture, MARKET, key)).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("missing credentials, and a revoked key, do not", async () => {
    const key = await newKey();
    for (let count = 0; count < 6; count += 1) {
      await outcomeOf(fixture, MARKET, key, { auth: { apiKey: key.apiKey } });
    }
    expect(await outcomeOf(fixture, MARKET, key)).toBeNull();
    await fixture.store.revokeKey(key.apiKey, fixture.time.now());
    for (let count = 0; count < 6; count += 1) {
      expect(await outcomeOf(fixture, MARKET, key)).toMatchObject({ code: "AUTH_KEY_REVOKED" });
    }
  });

  test("they block no other key, and cut no connection that is open", async () => {
    const key = await newKey();
    const other = await newKey();
    const open = await fixture.connect(MARKET, key);
    for (let count = 0; count < 5; count += 1) await outcomeOf(fixture, MARKET, key, wrong(key));
    expect(await outcomeOf(fixture, MARKET, other)).toBeNull();
    expect(await open.subscribe({ pair: "PAIR1USDT", timeframe: "1m" })).toEqual({
      pair: "PAIR1USDT",
      timeframe: "1m",
    });
  });

  test("of a stranger block the key at the stranger's address alone; the owner, who signs correctly, is accepted", async () => {
    const key = await newKey();
    const at = (address: string) => ({ "x-forwarded-for": address });
    for (let count = 0; count < 5; count += 1) {
      await outcomeOf(fixture, MARKET, key, { ...wrong(key), headers: at("192.0.2.1") });
    }
    const blocked = await outcomeOf(fixture, MARKET, key, { headers: at("192.0.2.1") });
    expect(blocked).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 15 * MINUTE });
    expect(await outcomeOf(fixture, MARKET, key, { headers: at("192.0.2.2") })).toBeNull();
    expect(await outcomeOf(fixture, ORDER_BOOK, key)).toBeNull();
  });

  test("of one network of IPv6 are of one address, and those of an IPv4 address however it is written", async () => {
    for (const [addresses, other] of [
      [["2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:1:ffff::3"], "2001:db8:0:2::1"],
      [["192.0.2.9", "::ffff:192.0.2.9", "::ffff:c000:209"], "192.0.2.10"],
    ] as const) {
      const key = await newKey();
      const at = (address: string) => ({ "x-forwarded-for": address });
      for (let count = 0; count < 5; count += 1) {
        const from = addresses[count % addresses.length] ?? "";
        await outcomeOf(fixture, MARKET, key, { ...wrong(key), headers: at(from) });
      }
      for (const address of addresses) {
        const blocked = await outcomeOf(fixture, MARKET, key, { headers: at(address) });
        expect(blocked).toMatchObject({ code: "RATE_LIMITED" });
      }
      expect(await outcomeOf(fixture, MARKET, key, { headers: at(other) })).toBeNull();
    }
  });

  test("under a key that there is not are answered like those of one that there is", async () => {
    const known = await newKey();
    const unknown = { ...known, apiKey: `lyre_bot_${"0".repeat(64)}` };
    const late = (key: StreamCredentials) => ({
      auth: handshakeAuth(MARKET, key, fixture.time.now() - 60_000),
    });
    const answersTo = async (key: StreamCredentials) => {
      const forger = { ...key, apiSecret: "0".repeat(64) };
      const answers = [await outcomeOf(fixture, MARKET, forger, late(forger))];
      for (let count = 0; count < 6; count += 1) answers.push(await outcomeOf(fixture, MARKET, forger));
      return answers;
    };
    const answers = await answersTo(known);
    expect(answers.map(({ code }) => code)).toEqual([
      "AUTH_TIMESTAMP_OUT_OF_WINDOW",
      ...Array(4).fill("AUTH_INVALID_SIGNATURE"),
      ...Array(2).fill("RATE_LIMITED"),
    ]);
    expect(await answersTo(unknown)).toEqual(answers);
    fixture.time.advance(15 * MINUTE);
    expect(await outcomeOf(fixture, MARKET, unknown)).toMatchObject({ code: "AUTH_INVALID_SIGNATURE" });
  });

  test("the block survives a restart, and holds for every server on the database", async () => {
    const dataDir = newDirectory();
    const first = await ownFixture({ dataDir });
    const second = await ownFixture({ dataDir, time: first.time });
    const key = await newKey(first);
    const mistaken = { auth: handshakeAuth(ORDER_BOOK, key, first.time.now()) };
    for (let count = 0; count < 3; count += 1) await outcomeOf(first, MARKET, key, mistaken);
    for (let count = 0; count < 2; count += 1) await outcomeOf(second, MARKET, key, mistaken);
    expect(await outcomeOf(first, MARKET, key)).toMatchObject({ code: "RATE_LIMITED" });
    for (const own of ownFixtures.splice(0)) await own.close();

    const restarted = await ownFixture({ dataDir, time: first.time });
    expect(await outcomeOf(restarted, MARKET, key)).toMatchObject({ code: "RATE_LIMITED" });
    restarted.time.advance(15 * MINUTE);
    expect(await outcomeOf(restarted, MARKET, key)).toBeNull();
  });
});

describe("a key that is revoked while it is in use", () => {
  test("gets AUTH_KEY_REVOKED and is disconnected within a second, from both namespaces", async () => {
    const key = await newKey();
    const other = await newKey();
    const market = await fixture.connect(MARKET, key);
    const book = await fixture.connect(ORDER_BOOK, key);
    const bystander = await fixture.connect(MARKET, other);
    await market.subscribe({ pair: "PAIR8USDT", timeframe: "1m" });
    await fixture.store.revokeKey(key.apiKey, fixture.time.now());
    fixture.time.advance(1_000);
    for (const client of [market, book]) {
      expect(await client.next("error")).toMatchObject({ status: false, code: "AUTH_KEY_REVOKED" });
      expect(await client.next("disconnect")).toBe("io server disconnect");
    }
    expect(fixture.candles.followed.join()).not.toContain("PAIR8USDT");
    expect(await bystander.subscribe({ pair: "PAIR8USDT", timeframe: "1m" })).toBeDefined();
  });

  test("stays connected while the database is out of reach", async () => {
    let isAway = false;
    const shaky = await ownFixture({
      wrap: (store) => ({
        ...store,
        findKey: (apiKey) => (isAway ? Promise.reject(new StoreUnavailable("away")) : store.findKey(apiKey)),
      }),
    });
    const client = await shaky.connect(MARKET, await newKey(shaky));
    isAway = true;
    shaky.time.advance(3_000);
    expect(await client.subscribe({ pair: "PAIR0USDT", timeframe: "1m" })).toBeDefined();
  });
});
