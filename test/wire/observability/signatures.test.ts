// Typical mistakes in signatures on the exchange-style routes, and the request inspector's diagnosis of each.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { hmac, type InspectedKey, inspectedKey } from "../../support/inspected-key.ts";
import type { RawRequest } from "../../support/raw.ts";

const PATH = "/api/v3/order";

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

/** What is sent, and what was signed of it. */
type Mistake = {
  readonly method?: string;
  readonly query?: string;
  readonly body?: string;
  /** What was signed; the text that is sent by default. */
  readonly signed?: string;
  readonly secret?: string | Buffer;
  /** How the digits are written. */
  readonly write?: (hex: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Sends a mistake, the signature in the last part that has parameters, and returns the hints of the request
 * log.
 */
async function diagnosed(mistake: Mistake) {
  const { method = "GET", query = "", body = "", secret = key.secret, write = (hex) => hex } = mistake;
  const hex = write(hmac(secret, mistake.signed ?? query + body));
  const signed = (part: string) => `${part}${part === "" ? "" : "&"}signature=${hex}`;
  const request: RawRequest = {
    method,
    path: PATH,
    query: body === "" ? signed(query) : query,
    ...(body === "" ? {} : { body: signed(body) }),
    headers: { "x-mbx-apikey": key.apiKey, ...mistake.headers },
  };
  const answer = await key.send(request);
  expect(answer.body).toEqual({ code: -2015, msg: "Invalid API-key, IP, or permissions for action." });
  const { status, code, diagnosis } = await key.newest();
  expect({ status, code }).toEqual({ status: 401, code: -2015 });
  expect(diagnosis).toMatchObject({
    check: "SIGNATURE",
    messageSha256: createHash("sha256")
      .update(query + body, "latin1")
      .digest("hex"),
    clockOffsetMs: 0,
  });
  return diagnosis?.hints ?? [];
}

const ORDER = () => `symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.001&timestamp=${key.now()}`;

describe("a message that was signed otherwise than it is sent", () => {
  test.each<readonly [string, (query: string) => string, RegExp]>([
    ["in alphabetical order", (query) => query.split("&").sort().join("&"), /signed in another order/],
    ["with the timestamp first", (query) => moved(query), /signed in another order/],
    [
      "before it was percent-encoded",
      (query) => query.replace("a%20b%2Fc~", "a b/c~"),
      /another percent-encoding/,
    ],
    ["with a space as +", (query) => query.replace("%20", "+"), /another percent-encoding/],
    ["without the timestamp", (query) => query.replace(/&timestamp=.*/, ""), /^`timestamp` was not signed/],
    [
      "without a parameter that was added later",
      (query) => query.replace("&side=BUY", ""),
      /^`side` was not signed/,
    ],
    [
      "with an empty signature",
      (query) => `${query}&signature=`,
      /An empty parameter `signature` was signed/,
    ],
    [
      "with the separator before the signature",
      (query) => `${query}&`,
      /The & before `signature` was signed/,
    ],
  ])("%s", async (_what, sign, hint) => {
    const query = `symbol=BTCUSDT&side=BUY&newClientOrderId=a%20b%2Fc~&timestamp=${key.now()}`;
    const hints = await diagnosed({ query, signed: sign(query) });
    expect(hints).toEqual([expect.stringMatching(hint)]);
  });

  test("with %20 where + is sent", async () => {
    const now = key.now();
    const query = `newClientOrderId=a+b&timestamp=${now}`;
    const hints = await diagnosed({ query, signed: `newClientOrderId=a%20b&timestamp=${now}` });
    expect(hints).toEqual([
      "The parameters were signed in another percent-encoding than they were sent. Sign exactly the text that is sent.",
    ]);
  });

  test("before it was percent-encoded, in UTF-8", async () => {
    const now = key.now();
    const query = `newClientOrderId=%C3%A9&timestamp=${now}`;
    const signed = Buffer.from(`newClientOrderId=é&timestamp=${now}`).toString("latin1");
    expect((await diagnosed({ query, signed }))[0]).toMatch(/another percent-encoding/);
  });

  test.each<readonly [string, (query: string, body: string) => string, RegExp]>([
    ["the query without the body", (query) => query, /^The query was signed without the body/],
    ["the body without the query", (_, body) => body, /^The body was signed without the query/],
    ["query and body with an & between", (query, body) => `${query}&${body}`, /^An & was signed between/],
    [
      "all parameters in alphabetical order",
      (query, body) => `${query}&${body}`.split("&").sort().join("&"),
      /signed in another order/,
    ],
  ])("%s", async (_what, sign, hint) => {
    const [query, body] = ["symbol=BTCUSDT&side=BUY&type=MARKET", `quantity=0.001&timestamp=${key.now()}`];
    const hints = await diagnosed({ method: "POST", query, body, signed: sign(query, body) });
    expect(hints).toEqual([expect.stringMatching(hint)]);
  });
});

/** The last parameter first. */
function moved(query: string): string {
  const pairs = query.split("&");
  return [pairs.at(-1), ...pairs.slice(0, -1)].join("&");
}

describe("a wrong secret", () => {
  test.each([
    ["the API key", () => key.apiKey, /^The API key was used as the secret/],
    ["with the line break of the file it was read from", () => `${key.secret}\n`, /ends with a line break/],
    ["empty", () => "", /signed with an empty secret/],
    [
      "another key's of the same owner",
      () => other.secret,
      /^The request was signed with the secret of your key "the other one"\. Key and secret belong together\.$/,
    ],
  ])("%s", async (_what, secret, hint) => {
    expect(await diagnosed({ query: ORDER(), secret: secret() })).toEqual([expect.stringMatching(hint)]);
  });

  test("of another person is not named", async () => {
    const stranger = await inspectedKey(fixture, await fixture.somebody({}), { label: "a stranger's" });
    const hints = await diagnosed({ query: ORDER(), secret: stranger.secret });
    expect(hints).toEqual([expect.stringMatching(/^None of the usual mistakes fits/)]);
  });
});

describe("a signature that is written otherwise", () => {
  const bytes = (hex: string) => Buffer.from(hex, "hex");
  test.each([
    ["in capital letters", (hex: string) => hex.toUpperCase(), /written in capital letters/],
    ["in base64", (hex: string) => encodeURIComponent(bytes(hex).toString("base64")), /written in base64/],
    ["in base64 with its + as a space", (hex: string) => bytes(hex).toString("base64"), /written in base64/],
    ["in base64 of URLs", (hex: string) => bytes(hex).toString("base64url"), /written in base64/],
    ["of another length", (hex: string) => hex.slice(1), /is not an HMAC-SHA256/],
  ])("%s", async (_what, write, hint) => {
    const hints = await diagnosed({ query: ORDER(), write });
    expect(hints).toEqual([expect.stringMatching(hint)]);
    expect(hints[0]).toMatch(/64 lowercase hex digits/);
  });

  test("and of another message gets both hints", async () => {
    const query = ORDER();
    const signed = query.split("&").sort().join("&");
    const hints = await diagnosed({ query, signed, write: (hex) => hex.toUpperCase() });
    expect(hints).toEqual([expect.stringMatching(/another order/), expect.stringMatching(/capital letters/)]);
  });
});

test("an unknown mistake gets a hint how to find it", async () => {
  const hints = await diagnosed({ query: ORDER(), secret: "something else" });
  expect(hints).toEqual([expect.stringMatching(/Compare the SHA-256 of the text that your program signs/)]);
});

test("a message that is too long is not compared with the mistakes", async () => {
  const query = `padding=${"x".repeat(5_000)}&timestamp=${key.now()}`;
  expect(await diagnosed({ query, signed: `${query}&` })).toEqual([
    expect.stringMatching(/^None of the usual mistakes fits/),
  ]);
});
