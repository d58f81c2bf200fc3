// The checks of a signed bot request, their order and their messages. Source: specification 5.2 and 5.4;
// design, section 6.
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { signatureErrorSchema } from "../../../src/http/bot/schemas.ts";
import { botClient, botHeaders } from "../../support/bot-client.ts";
import { exchange, hmacHex, type RawAnswer, talk } from "../../support/raw.ts";
import { changeKeyRows } from "../../support/servers/database.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import { seededGateway } from "../../support/servers/seeded-gateway.ts";
import { signed } from "../../support/signed-client.ts";

const gateway = seededGateway(12, { futuresStrategyCount: 2 });
const TEST = "/bot/v1/spot/test";
const BUY = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.001" };
const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/bot/v1/spot/pairs"],
  ["POST", "/bot/v1/spot/test"],
  ["POST", "/bot/v1/spot/orders"],
  ["GET", "/bot/v1/spot/orders"],
  ["GET", "/bot/v1/spot/signals/7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11"],
  ["POST", "/bot/v1/spot/orders/cancel"],
  ["POST", "/bot/v1/spot/strategy/close"],
];

/** For requests that cost little: the budgets of one key are enough for them all. */
let key: Credentials;
beforeAll(() => {
  key = gateway.takeStrategy();
});

type Sent = {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string;
  readonly timestamp?: string;
  readonly credentials?: Pick<Credentials, "apiKey" | "apiSecret">;
  /** Instead of what would be right. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly without?: string;
};

/** Sends a request that is signed as it must be, but for what is said. */
function send({
  method = "POST",
  path = TEST,
  body,
  timestamp = now(),
  credentials = key,
  headers,
  without,
}: Sent) {
  const right = { ...botHeaders(credentials, { timestamp, method, path, body: body ?? "" }), ...headers };
  const sent = Object.fromEntries(Object.entries(right).filter(([name]) => name !== without));
  return exchange(gateway.url, { method, path, headers: sent, ...(body === undefined ? {} : { body }) });
}

const now = (offMs = 0) => String(Date.now() + offMs);

function seen({ status, body }: Pick<RawAnswer, "status" | "body">) {
  return { status, body };
}

const failed = (message: string) => ({ status: 401, body: { status: false, message } });
const MISSING = failed("Missing bot authentication headers");
const OUTSIDE = {
  status: 401,
  body: {
    status: false,
    message: "Request timestamp outside the allowed window",
    serverTime: expect.any(Number),
  },
};
const UNKNOWN = failed("Unknown API key");

describe("Missing bot authentication headers", () => {
  test.each(["x-bot-api-key", "x-bot-timestamp", "x-bot-signature"])("without %s", async (without) => {
    expect(seen(await send({ without }))).toEqual(MISSING);
    expect(seen(await send({ headers: { [without]: "" } }))).toEqual(MISSING);
  });

  test.each(ROUTES)("on %s %s", async (method, path) => {
    expect(seen(await exchange(gateway.url, { method, path }))).toEqual(MISSING);
  });

  test("also with the headers and parameters of the exchange-style families", async () => {
    expect(seen(await signed(gateway.url, key, "GET", "/bot/v1/spot/orders"))).toEqual(MISSING);
  });
});

describe("Request timestamp outside the allowed window", () => {
  test.each([
    ["31 seconds old", () => now(-31_000)],
    ["35 seconds ahead", () => now(35_000)],
    ["in seconds", () => now().slice(0, -3)],
    ["no integer", () => `${now()}.5`],
    ["negative", () => `-${now()}`],
    ["an exponent", () => "1e13"],
    ["hexadecimal", () => "0x19b0"],
    ["a date", () => new Date().toISOString()],
    ["text", () => "now"],
    ["longer than any time", () => "1".repeat(17)],
    ["twice there", () => `${now()}, ${now()}`],
  ])("when it is %s", async (_what, timestamp) => {
    expect(seen(await send({ timestamp: timestamp() }))).toEqual(OUTSIDE);
  });

  test("has the server's time, Unix ms, for the client's correction", async () => {
    const before = Date.now();
    const answer = await send({ timestamp: now(-31_000) });
    const { serverTime } = answer.body;
    expect(Number.isSafeInteger(serverTime)).toBe(true);
    expect(serverTime).toBeGreaterThanOrEqual(before);
    expect(serverTime).toBeLessThanOrEqual(Date.now());
    expect(signatureErrorSchema.safeParse(answer.body).success).toBe(true);
    expect((await send({ timestamp: String(serverTime) })).status).toBe(200);
  });

  test("not up to 30 seconds on either side", async () => {
    expect((await send({ timestamp: now(-25_000) })).status).toBe(200);
    expect((await send({ timestamp: now(29_000) })).status).toBe(200);
  });
});

describe("Unknown API key", () => {
  test.each([
    ["is none", () => `lyre_bot_${"0".repeat(64)}`],
    ["is in another case", () => key.apiKey.toUpperCase()],
    ["is cut short", () => key.apiKey.slice(0, -1)],
    ["is an injection", () => "' OR '1'='1"],
    ["occurs twice", () => `${key.apiKey}, ${key.apiKey}`],
  ])("when it %s", async (_what, apiKey) => {
    expect(seen(await send({ credentials: { apiKey: apiKey(), apiSecret: key.apiSecret } }))).toEqual(
      UNKNOWN,
    );
  });

  test("when it is revoked, at its next request", async () => {
    const credentials = gateway.takeStrategy();
    expect((await send({ credentials })).status).toBe(200);
    changeKeyRows(
      gateway.dataDir,
      "UPDATE api_keys SET revoked_at = ? WHERE api_key = ?",
      Date.now(),
      credentials.apiKey,
    );
    expect(seen(await send({ credentials }))).toEqual(UNKNOWN);
    const order = {
      path: "/bot/v1/spot/orders",
      body: JSON.stringify(BUY),
      headers: { "idempotency-key": "a" },
    };
    expect(seen(await send({ credentials, ...order }))).toEqual(UNKNOWN);
  });
});

describe("Invalid signature", () => {
  const invalid = (message: string) => ({
    status: 401,
    body: {
      status: false,
      message: "Invalid signature",
      messageSha256: createHash("sha256").update(message).digest("hex"),
    },
  });

  test("has the SHA-256 of the message that was built from the received bytes", async () => {
    const timestamp = now();
    const body = '{ "a": "é" }';
    const sent = { timestamp, body, headers: { "x-bot-signature": "0".repeat(64) } };
    expect(seen(await send(sent))).toEqual(invalid(`${timestamp}POST${TEST}${body}`));
  });

  test.each([
    ["another secret", (message: string) => hmacHex("0".repeat(64), message)],
    ["the secret's bytes", (message: string) => hmacOfBytes(key.apiSecret, message)],
    ["another case", (message: string) => hmacHex(key.apiSecret, message).toUpperCase()],
    ["no hex", () => "x".repeat(64)],
    ["half of it", (message: string) => hmacHex(key.apiSecret, message).slice(0, 32)],
    ["base64", (message: string) => Buffer.from(hmacHex(key.apiSecret, message), "hex").toString("base64")],
  ])("with %s", async (_what, signature) => {
    const timestamp = now();
    const message = `${timestamp}POST${TEST}`;
    const sent = { timestamp, headers: { "x-bot-signature": signature(message) } };
    expect(seen(await send(sent))).toEqual(invalid(message));
  });

  test.each([
    ["the timestamp", { timestamp: "1" }],
    ["the method", { method: "GET" }],
    ["the path", { path: "/bot/v1/spot/tests" }],
    ["the path's query", { path: `${TEST}?a=1` }],
    ["the body", { body: '{"a":2}' }],
    ["the body's white space", { body: '{"a": 1}' }],
  ])("when another %s was signed", async (_what, other) => {
    const timestamp = now();
    const body = '{"a":1}';
    const signature = botHeaders(key, { timestamp, method: "POST", path: TEST, body, ...other });
    const headers = { "x-bot-signature": signature["x-bot-signature"] ?? "" };
    expect(seen(await send({ timestamp, body, headers }))).toEqual(invalid(`${timestamp}POST${TEST}${body}`));
  });

  test("of the secret of another key", async () => {
    const { apiSecret } = gateway.takeStrategy();
    expect((await send({ credentials: { apiKey: key.apiKey, apiSecret } })).body.message).toBe(
      "Invalid signature",
    );
  });
});

describe("what is signed", () => {
  test.each([
    ["no body", undefined],
    ["an empty object", "{}"],
    ["JSON that is spaced", ' { "a" : [ 1 , 2 ] }\n'],
    ["JSON that is no object", '"text"'],
    ["text beyond ASCII", '{"a":"é€😀\u0000"}'.replace("\u0000", "\\u0000")],
  ])("is the body as it is sent: %s", async (_what, body) => {
    expect((await send({ ...(body === undefined ? {} : { body }) })).status).toBe(200);
  });

  test("is the target with its query, as it is sent", async () => {
    expect((await send({ path: `${TEST}?b=%41&a=1&&=` })).status).toBe(200);
    expect((await send({ path: `${TEST}?` })).status).toBe(200);
  });

  test("is found whatever the case of the headers' names", async () => {
    const timestamp = now();
    const right = Object.entries(botHeaders(key, { timestamp, method: "POST", path: TEST, body: "" }));
    const lines = right.map(([name, value]) => `${name.toUpperCase()}: ${value}\r\n`).join("");
    const answer = await talk(
      gateway.url,
      `POST ${TEST} HTTP/1.1\r\nHost: x\r\n${lines}Connection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("is the body of a chunked request, too", async () => {
    const headers = { "transfer-encoding": "chunked" };
    expect((await send({ body: '{"a":1}', headers })).status).toBe(200);
  });
});

describe("the order of the checks", () => {
  const nobody = { apiKey: "nobody", apiSecret: "" };
  const wrong = { "x-bot-signature": "wrong" };

  test("route before headers", async () => {
    const answer = await exchange(gateway.url, { method: "GET", path: "/bot/v1/spot/nothing" });
    expect(seen(answer)).toEqual({
      status: 404,
      body: { status: false, message: "There is no GET /bot/v1/spot/nothing" },
    });
  });

  test("headers before timestamp", async () => {
    expect(seen(await send({ timestamp: "1", without: "x-bot-signature" }))).toEqual(MISSING);
  });

  test("timestamp before key", async () => {
    expect(seen(await send({ timestamp: "1", credentials: nobody }))).toEqual(OUTSIDE);
  });

  test("key before signature", async () => {
    expect(seen(await send({ credentials: nobody, headers: wrong }))).toEqual(UNKNOWN);
  });

  test("signature before the key's type", async () => {
    const credentials = gateway.takeFuturesStrategy();
    const sent = { method: "GET", path: "/bot/v1/spot/orders", credentials };
    expect((await send({ ...sent, headers: wrong })).body.message).toBe("Invalid signature");
    expect((await send(sent)).status).toBe(400);
  });

  test("type and status before the body", async () => {
    const credentials = gateway.takeStrategy();
    expect((await botClient(gateway.url, credentials).close()).status).toBe(200);
    const sent = { path: "/bot/v1/spot/orders/cancel", credentials, body: "{" };
    expect(seen(await send(sent))).toEqual({
      status: 400,
      body: { status: false, message: "Strategy not live" },
    });
  });
});

describe("a key that manages no spot strategy", () => {
  const TAKES_ANY = new Set(["/bot/v1/spot/pairs", TEST]);
  const ofStrategy = ROUTES.filter(([, path]) => !TAKES_ANY.has(path));

  test.each(ofStrategy)("of a futures strategy is refused 400 on %s %s", async (method, path) => {
    futures ??= gateway.takeFuturesStrategy();
    expect(seen(await send({ method, path, credentials: futures }))).toEqual({
      status: 400,
      body: {
        status: false,
        message: "This API key manages a futures strategy; this route needs the key of a spot strategy",
      },
    });
  });
  let futures: Credentials | undefined;

  test.each(ofStrategy)("of none is refused 400 on %s %s", async (method, path) => {
    unbound ??= takeUnbound();
    expect(seen(await send({ method, path, credentials: unbound }))).toEqual({
      status: 400,
      body: { status: false, message: "This API key is bound to no strategy." },
    });
  });
  let unbound: Credentials | undefined;

  test("may ask for the pairs and test its signature", async () => {
    for (const credentials of [futures ?? gateway.takeFuturesStrategy(), unbound ?? takeUnbound()]) {
      expect((await send({ method: "GET", path: "/bot/v1/spot/pairs", credentials })).status).toBe(200);
      expect((await send({ credentials })).status).toBe(200);
    }
  });

  function takeUnbound(): Credentials {
    const credentials = gateway.takeStrategy();
    changeKeyRows(
      gateway.dataDir,
      "UPDATE api_keys SET strategy_id = NULL WHERE api_key = ?",
      credentials.apiKey,
    );
    return credentials;
  }
});

/** As a client signs that takes the secret for hex. */
function hmacOfBytes(secret: string, message: string): string {
  return hmacHex(Buffer.from(secret, "hex").toString("latin1"), message);
}
