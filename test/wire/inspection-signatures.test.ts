// Typical mistakes in signatures on the exchange-style routes, and the request inspector's diagnosis of each.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DashboardStage, openDashboardStage } from "../support/dashboard-stage.ts";
import { hmac, type InspectedKey, inspectedKey } from "../support/inspected-key.ts";
import type { RawRequest } from "../support/raw.ts";

const PATH = "/api/v3/order";

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

/** What is sent, and what was signed of it. */
type Mistake = {
  readonly method?: string;
  readonly query?: string;
  readonly body?: string;
  /** What was signed; what is sent, unless said. */
  readonly signed?: string;
  readonly secret?: string | Buffer;
  /** How the digits are written. */
  readonly write?: (hex: string) => string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends a mistake, the signature in the part that has parameters, and returns the inspector's diagnosis. */
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

describe("a message that was signed otherwise than it was sent", () => {
  test("in alphabetical order, as clients do that sort before they sign", async () => {
    const query = ORDER();
    const signed = query.split("&").sort().join("&");
    expect(await diagnosed({ query, signed })).toEqual([
      "The signature fits these parameters in alphabetical order: sign them in the order in which they are sent.",
    ]);
  });

  test("in alphabetical order over query and body together", async () => {
    const [query, body] = ["symbol=BTCUSDT&side=BUY", `type=MARKET&quantity=0.001&timestamp=${key.now()}`];
    const signed = `${query}&${body}`.split("&").sort().join("&");
    const hints = await diagnosed({ method: "POST", query, body, signed });
    expect(hints[0]).toMatch(/in alphabetical order/);
  });

  test("with one parameter in another place", async () => {
    const now = key.now();
    const query = `symbol=BTCUSDT&orderId=7&recvWindow=9000&timestamp=${now}`;
    const signed = `timestamp=${now}&symbol=BTCUSDT&orderId=7&recvWindow=9000`;
    expect(await diagnosed({ query, signed })).toEqual([
      "The signature fits the parameters in another order, with `timestamp` first: sign them in the order in which they are sent.",
    ]);
  });

  test("before it was percent-encoded", async () => {
    const now = key.now();
    const query = `symbol=BTCUSDT&newClientOrderId=a%20b%2Fc&timestamp=${now}`;
    const hints = await diagnosed({
      query,
      signed: `symbol=BTCUSDT&newClientOrderId=a b/c&timestamp=${now}`,
    });
    expect(hints).toEqual([
      "The parameters were signed before they were percent-encoded. Sign the very text that is sent.",
    ]);
  });

  test("before it was percent-encoded, in UTF-8", async () => {
    const now = key.now();
    const query = `symbol=BTCUSDT&newClientOrderId=%C3%A9&timestamp=${now}`;
    const text = Buffer.from(`symbol=BTCUSDT&newClientOrderId=é&timestamp=${now}`).toString("latin1");
    expect((await diagnosed({ query, signed: text }))[0]).toMatch(/before they were percent-encoded/);
  });

  test("with %20 where + was sent, as requests' params do under a signature of quote", async () => {
    const now = key.now();
    const query = `newClientOrderId=a+b&timestamp=${now}`;
    const hints = await diagnosed({ query, signed: `newClientOrderId=a%20b&timestamp=${now}` });
    expect(hints).toEqual([
      "What was signed is encoded otherwise than what was sent: with a space as %20 (as encodeURIComponent and urllib's quote do). Sign the very text that is sent.",
    ]);
  });

  test("with + where %20 was sent, and a tilde escaped, as URLSearchParams does", async () => {
    const now = key.now();
    const query = `newClientOrderId=a%20b~c&timestamp=${now}`;
    const hints = await diagnosed({ query, signed: `newClientOrderId=a+b%7Ec&timestamp=${now}` });
    expect(hints[0]).toMatch(/with a space as \+ \(as URLSearchParams does\)/);
  });

  test("with + where %20 was sent, and a tilde left, as urlencode does", async () => {
    const now = key.now();
    const hints = await diagnosed({
      query: `newClientOrderId=a%20b~c&timestamp=${now}`,
      signed: `newClientOrderId=a+b~c&timestamp=${now}`,
    });
    expect(hints[0]).toMatch(/as urllib's urlencode does/);
  });

  test("with its escapes in lower case", async () => {
    const now = key.now();
    const hints = await diagnosed({
      query: `newClientOrderId=a%2Fb&timestamp=${now}`,
      signed: `newClientOrderId=a%2fb&timestamp=${now}`,
    });
    expect(hints[0]).toMatch(/escapes in lower case/);
  });

  test("with what was sent as @ escaped", async () => {
    const now = key.now();
    const hints = await diagnosed({
      query: `newClientOrderId=a@b&timestamp=${now}`,
      signed: `newClientOrderId=a%40b&timestamp=${now}`,
    });
    expect(hints[0]).toMatch(/encoded otherwise than what was sent/);
  });

  test("percent-encoded twice", async () => {
    const now = key.now();
    const hints = await diagnosed({
      query: `newClientOrderId=a%2Fb&timestamp=${now}`,
      signed: `newClientOrderId=a%252Fb&timestamp=${now}`,
    });
    expect(hints[0]).toMatch(/percent-encoded twice/);
  });

  test("without a parameter that was added afterwards", async () => {
    const now = key.now();
    const hints = await diagnosed({
      query: `symbol=BTCUSDT&orderId=1&timestamp=${now}&recvWindow=5000`,
      signed: `symbol=BTCUSDT&orderId=1&timestamp=${now}`,
    });
    expect(hints).toEqual([
      "The signature fits without `recvWindow`: it was added after signing. Sign all that is sent.",
    ]);
  });

  test("as JSON, as some clients sign it", async () => {
    const now = key.now();
    const query = `symbol=BTCUSDT&side=BUY&timestamp=${now}`;
    const signed = JSON.stringify({ symbol: "BTCUSDT", side: "BUY", timestamp: Number(now) });
    expect((await diagnosed({ query, signed }))[0]).toMatch(/made over JSON/);
    const again = key.now();
    const spaced = `{"side": "BUY", "timestamp": "${again}"}`;
    expect((await diagnosed({ query: `side=BUY&timestamp=${again}`, signed: spaced }))[0]).toMatch(
      /over JSON/,
    );
  });

  test.each([
    ["a line break at its end, as echo writes one", (text: string) => `${text}\n`, /line break at the end/],
    ["the separator before the signature", (text: string) => `${text}&`, /separator before the signature/],
    ["an empty signature", (text: string) => `${text}&signature=`, /separator before the signature/],
    ["the question mark", (text: string) => `?${text}`, /question mark was signed/],
    ["the path", (text: string) => `${PATH}?${text}`, /Method or path were signed/],
    ["method and path", (text: string) => `GET${PATH}?${text}`, /Method or path were signed/],
  ])("with %s", async (_what, add, hint) => {
    const query = ORDER();
    expect((await diagnosed({ query, signed: add(query) }))[0]).toMatch(hint);
  });

  test("with the whole address", async () => {
    const query = ORDER();
    const { host } = new URL(stage.url);
    const hints = await diagnosed({ query, signed: `http://${host}${PATH}?${query}`, headers: { host } });
    expect(hints[0]).toMatch(/whole address was signed/);
  });

  test("not at all", async () => {
    expect((await diagnosed({ query: ORDER(), signed: "" }))[0]).toMatch(/An empty text was signed/);
  });

  test.each([
    ["with the query", (now: string, query: string) => `${now}GET${PATH}?${query}`],
    ["without the query", (now: string) => `${now}GET${PATH}`],
  ])("as the bot routes sign, %s", async (_what, sign) => {
    const now = key.now();
    const query = `symbol=BTCUSDT&timestamp=${now}`;
    expect((await diagnosed({ query, signed: sign(now, query) }))[0]).toMatch(
      /signed as those under \/bot are/,
    );
  });
});

describe("query and body that were joined otherwise", () => {
  const query = "symbol=BTCUSDT&side=BUY&type=MARKET";
  const body = () => `quantity=0.001&timestamp=${key.now()}`;

  test.each([
    ["with an & between", (one: string, two: string) => `${one}&${two}`, /has an & between query and body/],
    ["the query alone", (one: string) => one, /The query alone was signed/],
    ["the body alone", (_: string, two: string) => two, /The body alone was signed/],
    ["the body first", (one: string, two: string) => two + one, /body was signed before the query/],
    ["the body first, with an &", (one: string, two: string) => `${two}&${one}`, /body was signed before/],
  ])("%s", async (_what, join, hint) => {
    const sent = body();
    const hints = await diagnosed({ method: "POST", query, body: sent, signed: join(query, sent) });
    expect(hints).toHaveLength(1);
    expect(hints[0]).toMatch(hint);
  });
});

describe("a secret that is none", () => {
  test.each([
    ["decoded from hex", () => Buffer.from(key.secret, "hex"), /decoded from hex/],
    ["decoded from base64", () => Buffer.from(key.secret, "base64"), /decoded from base64/],
    ["the API key", () => key.apiKey, /The API key itself was used as the secret/],
    ["with the line break of the file it was read from", () => `${key.secret}\n`, /line break or a space/],
    ["with the quotation marks of a settings file", () => `"${key.secret}"`, /quotation marks around/],
    ["in capital letters", () => key.secret.toUpperCase(), /secret is in capital letters/],
    ["empty", () => "", /signed without any secret/],
    ["a variable that was not set", () => "undefined", /signed without any secret/],
    [
      "another key's of the same owner",
      () => other.secret,
      /^The request was signed with the secret of your key "the other one"\. Key and secret belong together\.$/,
    ],
  ])("%s", async (_what, secret, hint) => {
    const hints = await diagnosed({ query: ORDER(), secret: secret() });
    expect(hints).toHaveLength(1);
    expect(hints[0]).toMatch(hint);
  });

  test("of another person is not named", async () => {
    const stranger = await inspectedKey(stage, await stage.somebody({}), { label: "a stranger's" });
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
    ["its digits in base64", (hex: string) => Buffer.from(hex).toString("base64url"), /in base64 once more/],
    [
      "with what openssl writes before it",
      (hex: string) => `(stdin)=%20${hex}`,
      /more than the 64 hex digits/,
    ],
    ["with a line break", (hex: string) => `${hex}%0A`, /escaped|more than the 64/],
    ["of another length", (hex: string) => hex.slice(1), /has 63 characters/],
    ["as SHA-1", (hex: string) => hex.slice(0, 40), /as long as a digest of SHA-1/],
    ["as SHA-512", (hex: string) => hex + hex, /as long as a digest of SHA-512/],
  ])("%s", async (_what, write, hint) => {
    const hints = await diagnosed({ query: ORDER(), write });
    expect(hints).toHaveLength(1);
    expect(hints[0]).toMatch(hint);
    expect(hints[0]).toMatch(/64 lowercase hex digits/);
  });

  test("and of another message has both said", async () => {
    const query = ORDER();
    const signed = query.split("&").sort().join("&");
    const hints = await diagnosed({ query, signed, write: (hex) => hex.toUpperCase() });
    expect(hints).toEqual([
      expect.stringMatching(/alphabetical order/),
      expect.stringMatching(/capital letters/),
    ]);
  });

  test("as a hash without a secret", async () => {
    const query = ORDER();
    const write = () => createHash("sha256").update(query).digest("hex");
    expect((await diagnosed({ query, write }))[0]).toMatch(/plain SHA-256, without the secret/);
  });
});

test("of what fits nothing, it is said how to find out", async () => {
  const hints = await diagnosed({ query: ORDER(), secret: "something else" });
  expect(hints).toEqual([expect.stringMatching(/Compare the SHA-256 of the text that your program signs/)]);
});

test("a message too long to be tried in other forms is shown with its hash", async () => {
  const query = `padding=${"x".repeat(5_000)}&timestamp=${key.now()}`;
  expect(await diagnosed({ query, signed: `${query}\n` })).toEqual([
    expect.stringMatching(/^None of the usual mistakes fits/),
  ]);
});
