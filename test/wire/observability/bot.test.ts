// Typical mistakes in bot requests, and the request inspector's diagnosis of each.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { hmac, type InspectedKey, inspectedKey } from "../../support/inspected-key.ts";

const PATH = "/bot/v1/spot/test";

let fixture: DashboardFixture;
let key: InspectedKey;
let other: InspectedKey;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  const trader = await fixture.somebody({});
  key = await inspectedKey(fixture, trader);
  other = await inspectedKey(fixture, trader, { label: "the other one" });
});
afterAll(() => fixture.close());

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
    ["without its body", { body: BODY, signed: (time) => `${time}POST${PATH}` }, /^The body was not signed/],
    [
      "with the body as json.dumps writes it, while requests sends it compact",
      { body: BODY, signed: (time) => `${time}POST${PATH}{"symbol": "BTCUSDT", "tradeType": "BUY"}` },
      /^The body was signed with other spaces/,
    ],
    [
      "with the body compact, while it was sent as json.dumps writes it",
      {
        body: '{"symbol": "BTCUSDT", "a": [1, 2]}',
        signed: (time) => `${time}POST${PATH}{"symbol":"BTCUSDT","a":[1,2]}`,
      },
      /^The body was signed with other spaces/,
    ],
    [
      "without its query",
      { path: `${PATH}?a=1`, signed: (time) => `${time}POST${PATH}` },
      /^The path was signed without its query/,
    ],
    ["without the timestamp", { signed: () => `POST${PATH}` }, /^The timestamp was not signed/],
    [
      "in another order",
      { signed: (time) => `POST${PATH}${time}` },
      /^The parts were signed in another order/,
    ],
    ["in an unknown way", { signed: (time) => `${time}|POST|${PATH}` }, /^None of the usual mistakes fits/],
  ])("%s", async (_what, mistake, hint) => {
    const hints = await diagnosed(mistake);
    expect(hints).toHaveLength(1);
    expect(hints[0]).toMatch(hint);
  });
});

test.each([
  ["the API key", () => key.apiKey, /^The API key was used as the secret/],
  ["another key's", () => other.secret, /the secret of your key "the other one"/],
])("a wrong secret: %s", async (_what, secret, hint) => {
  const hints = await diagnosed({ secret: secret() });
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
      expect.stringMatching(
        /^Missing: x-bot-api-key, x-bot-timestamp, x-bot-signature\. .* not in X-MBX-APIKEY and parameters\.$/,
      ),
    ]);
  });

  test("of a key that is not known yet are looked up after the answer", async () => {
    const fresh = await inspectedKey(fixture, await fixture.somebody({}), { type: null });
    await fresh.send({ method: "POST", path: PATH, headers: { "x-bot-api-key": fresh.apiKey } });
    const { requests } = await fresh.requests();
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ status: 401, path: PATH, diagnosis: { check: "HEADER" } });
  });
});

test.each([
  ["TIMESTAMP", () => `${key.now()}.5`, /has a fraction/, 1],
  ["WINDOW", () => key.now().slice(0, -3), /is in seconds/, 0],
  ["WINDOW", () => String(Number(key.now()) - 45_000), /45\.0 s before the request arrived/, -45_000],
  ["WINDOW", () => String(Number(key.now()) + 45_000), /45\.0 s ahead/, 45_000],
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
