// Typical mistakes in bot requests, and the request inspector's diagnosis of each.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DashboardStage, openDashboardStage } from "../support/dashboard-stage.ts";
import { hmac, type InspectedKey, inspectedKey } from "../support/inspected-key.ts";

const PATH = "/bot/v1/spot/test";

let stage: DashboardStage;
let key: InspectedKey;
let other: InspectedKey;
beforeAll(async () => {
  stage = await openDashboardStage();
  const trader = await stage.somebody({});
  key = await inspectedKey(stage, trader);
  other = await inspectedKey(stage, trader, { label: "the other one" });
});
afterAll(() => stage.close());

type Mistake = {
  readonly body?: string;
  readonly path?: string;
  /** What was signed, with the timestamp that is sent. */
  readonly signed?: (timestamp: string) => string;
  readonly secret?: string | Buffer;
  readonly write?: (hex: string) => string;
};

/** Sends a mistake and returns the inspector's diagnosis. */
async function diagnosed(mistake: Mistake) {
  const { body = "", path = PATH, secret = key.secret, write = (hex) => hex } = mistake;
  const timestamp = key.now();
  const right = `${timestamp}POST${path}${body}`;
  const signature = write(hmac(secret, mistake.signed?.(timestamp) ?? right));
  const answer = await key.send({
    method: "POST",
    path,
    ...(body === "" ? {} : { body }),
    headers: { "x-bot-api-key": key.apiKey, "x-bot-timestamp": timestamp, "x-bot-signature": signature },
  });
  const messageSha256 = createHash("sha256").update(right, "latin1").digest("hex");
  expect(answer.body).toEqual({ status: false, message: "Invalid signature", messageSha256 });
  const { method, status, code, message, diagnosis } = await key.newest();
  expect({ method, status, code, message }).toEqual({
    method: "POST",
    status: 401,
    code: null,
    message: "Invalid signature",
  });
  expect(diagnosis).toMatchObject({ check: "SIGNATURE", messageSha256, clockOffsetMs: 0 });
  return diagnosis?.hints ?? [];
}

const BODY = '{"symbol":"BTCUSDT","tradeType":"BUY"}';

describe("a message that was signed otherwise than it was sent", () => {
  test.each<readonly [string, Mistake, RegExp]>([
    [
      "without its body",
      { body: BODY, signed: (time) => `${time}POST${PATH}` },
      /^The body was left out of what was signed/,
    ],
    [
      "with a body that was not sent",
      { signed: (time) => `${time}POST${PATH}{}` },
      /^A body was signed, and none was sent/,
    ],
    [
      "with the body as json.dumps writes it, while requests sends it compact",
      { body: BODY, signed: (time) => `${time}POST${PATH}{"symbol": "BTCUSDT", "tradeType": "BUY"}` },
      /^The body was signed as other JSON text than was sent/,
    ],
    [
      "with the body compact, while it was sent as json.dumps writes it",
      {
        body: '{"symbol": "BTCUSDT", "a": [1, 2]}',
        signed: (time) => `${time}POST${PATH}{"symbol":"BTCUSDT","a":[1,2]}`,
      },
      /^The body was signed as other JSON text than was sent/,
    ],
    [
      "with the body's fields sorted",
      {
        body: '{"tradeType":"BUY","symbol":"BTCUSDT"}',
        signed: (time) => `${time}POST${PATH}${BODY}`,
      },
      /^The body was signed as other JSON text than was sent/,
    ],
    ["of the body alone", { body: BODY, signed: () => BODY }, /^The body alone was signed/],
    [
      "without its query",
      { path: `${PATH}?a=1`, signed: (time) => `${time}POST${PATH}` },
      /^The path was signed without its query/,
    ],
    [
      "with a method in lower case",
      { signed: (time) => `${time}post${PATH}` },
      /^The method was signed in lower/,
    ],
    ["without the method", { signed: (time) => `${time}${PATH}` }, /^The method was left out/],
    ["without the timestamp", { signed: () => `POST${PATH}` }, /^The timestamp was left out/],
    ["without the path", { body: BODY, signed: (time) => `${time}POST${BODY}` }, /^The path was left out/],
    [
      "in another order",
      { signed: (time) => `POST${PATH}${time}` },
      /^The parts were signed in another order/,
    ],
    [
      "with line breaks between",
      { body: BODY, signed: (time) => `${time}\nPOST\n${PATH}\n${BODY}` },
      /^Something was put between the parts/,
    ],
    [
      "with a bar between",
      { signed: (time) => `${time}|POST|${PATH}` },
      /^Something was put between the parts/,
    ],
    [
      "with a part of the path",
      { signed: (time) => `${time}POST/spot/test` },
      /^A part of the path alone was signed/,
    ],
    ["with a slash at its end", { signed: (time) => `${time}POST${PATH}/` }, /with a slash at its end/],
    [
      "with a line break at its end",
      { signed: (time) => `${time}POST${PATH}\n` },
      /^A line break at the end/,
    ],
    [
      "with a time in seconds",
      { signed: (time) => `${time.slice(0, -3)}POST${PATH}` },
      /^Another timestamp was signed than was sent/,
    ],
    [
      "as a handshake of a stream",
      { signed: (time) => `${time}GET/bot/v1/market` },
      /^This is the signature of a stream's handshake/,
    ],
    [
      "as the exchange-style routes sign",
      { signed: (time) => `timestamp=${time}` },
      /^The request is signed as those of the exchange-style routes are/,
    ],
  ])("%s", async (_what, mistake, hint) => {
    const hints = await diagnosed(mistake);
    expect(hints).toHaveLength(1);
    expect(hints[0]).toMatch(hint);
  });

  test("with the whole address", async () => {
    const { host } = new URL(stage.url);
    const hints = await diagnosed({ signed: (time) => `${time}POSThttp://${host}${PATH}` });
    expect(hints[0]).toMatch(/^The whole address was signed/);
  });
});

test.each<readonly [string, Mistake["secret"] | (() => string | Buffer), RegExp]>([
  ["the secret's bytes", () => Buffer.from(key.secret, "hex"), /decoded from hex/],
  ["the API key", () => key.apiKey, /The API key itself was used/],
  ["another key's", () => other.secret, /the secret of your key "the other one"/],
])("the wrong secret is told: %s", async (_what, secret, hint) => {
  const hints = await diagnosed({ secret: typeof secret === "function" ? secret() : (secret ?? "") });
  expect(hints[0]).toMatch(hint);
});

test.each([
  ["in capital letters", (hex: string) => hex.toUpperCase(), /written in capital letters/],
  ["in base64", (hex: string) => Buffer.from(hex, "hex").toString("base64"), /written in base64/],
])("a signature %s", async (_what, write, hint) => {
  expect((await diagnosed({ write }))[0]).toMatch(hint);
});

describe("headers", () => {
  test("that are missing are named", async () => {
    const timestamp = key.now();
    await key.send({
      method: "POST",
      path: PATH,
      headers: { "x-bot-api-key": key.apiKey, "x-bot-timestamp": timestamp },
    });
    expect(await key.diagnosis()).toMatchObject({
      check: "HEADER",
      clockOffsetMs: 0,
      hints: [expect.stringMatching(/^Missing: x-bot-signature\./)],
    });
  });

  test("of the exchange-style routes are distinguished from those that belong here", async () => {
    const query = `timestamp=${key.now()}`;
    await key.send({
      method: "POST",
      path: PATH,
      query: `${query}&signature=${hmac(key.secret, query)}`,
      headers: { "x-mbx-apikey": key.apiKey },
    });
    const { check, hints } = await key.diagnosis();
    expect(check).toBe("HEADER");
    expect(hints).toEqual([
      expect.stringMatching(/^Missing: x-bot-api-key, x-bot-timestamp, x-bot-signature\./),
      expect.stringMatching(/^The key came in X-MBX-APIKEY/),
    ]);
  });

  test("of a key that is not known yet are looked up after the answer", async () => {
    const fresh = await inspectedKey(stage, await stage.somebody({}), { type: null });
    await fresh.send({ method: "POST", path: PATH, headers: { "x-bot-api-key": fresh.apiKey } });
    const { requests } = await fresh.requests();
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ status: 401, path: PATH, diagnosis: { check: "HEADER" } });
  });
});

test.each([
  ["TIMESTAMP", () => `${key.now()}.5`, /has a fraction/, 1],
  ["WINDOW", () => key.now().slice(0, -3), /is in seconds/, 0],
  ["WINDOW", () => String(Number(key.now()) - 45_000), /stamped 45\.0 s before it arrived/, -45_000],
  ["WINDOW", () => String(Number(key.now()) + 45_000), /stamped 45\.0 s ahead/, 45_000],
] as const)("%s", async (check, timestamp, hint, offset) => {
  const sent = timestamp();
  await key.send({
    method: "POST",
    path: PATH,
    headers: { "x-bot-api-key": key.apiKey, "x-bot-timestamp": sent, "x-bot-signature": "0".repeat(64) },
  });
  const diagnosis = await key.diagnosis();
  expect(diagnosis).toMatchObject({ check, hints: [expect.stringMatching(hint)] });
  expect(Math.abs((diagnosis.clockOffsetMs ?? Number.NaN) - offset)).toBeLessThan(1_000);
});
