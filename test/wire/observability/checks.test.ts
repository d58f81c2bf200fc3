// The other checks of an exchange-style request that may fail, and the request inspector's diagnosis of each.
import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DIAGNOSES_PER_SECOND } from "../../../src/observability/explanations.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { hmac, type InspectedKey, inspectedKey } from "../../support/inspected-key.ts";
import { exchange } from "../../support/raw.ts";

const PATH = "/api/v3/account";

let fixture: DashboardFixture;
let key: InspectedKey;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  key = await inspectedKey(fixture, await fixture.somebody({}));
});
afterAll(() => fixture.close());

/** Sends a correctly signed query, and returns the inspector's diagnosis. */
async function sent(query: string) {
  const signed = `${query}${query === "" ? "" : "&"}signature=${hmac(key.secret, query)}`;
  await key.send({ method: "GET", path: PATH, query: signed, headers: { "x-mbx-apikey": key.apiKey } });
  return await key.diagnosis();
}

describe("the timestamp", () => {
  test.each([
    ["that is not there", () => "recvWindow=1", /^There is no timestamp, or it is empty/],
    ["that is empty", () => "timestamp=", /^There is no timestamp, or it is empty/],
    ["that has a fraction", () => `timestamp=${key.now()}.5`, /^The timestamp has a fraction/],
    ["in seconds with a fraction", () => `timestamp=${Number(key.now()) / 1_000 + 0.5}`, /is in seconds/],
    ["that is a date", () => "timestamp=2026-01-01T00:00:00Z", /^The timestamp is not a whole number/],
  ])("%s", async (_what, query, hint) => {
    const diagnosis = await sent(query());
    expect(diagnosis.check).toBe("TIMESTAMP");
    expect(diagnosis.hints).toEqual([expect.stringMatching(hint)]);
  });

  test("has how far the clock is off where it can be read", async () => {
    expect((await sent(`timestamp=${Number(key.now()) + 250}.5`)).clockOffsetMs).toBe(251);
    expect((await sent("timestamp=now")).clockOffsetMs).toBeNull();
  });
});

describe("the window", () => {
  test("of a clock that is behind", async () => {
    const query = `timestamp=${Number(key.now()) - 7_200}`;
    expect(await sent(query)).toEqual({
      check: "WINDOW",
      messageSha256: createHash("sha256").update(query).digest("hex"),
      clockOffsetMs: -7_200,
      hints: [
        "The timestamp is 7.2 s before the request arrived: the client's clock is behind, or the request was delayed. Set the clock, or add the difference to GET /api/v3/time to the timestamps.",
        "recvWindow allowed 5000 ms; the maximum is 30000.",
      ],
    });
  });

  test("of one that is further behind than any window is not advised to widen it", async () => {
    expect((await sent(`timestamp=${Number(key.now()) - 31_000}`)).hints).toHaveLength(1);
  });

  test("of a clock that is ahead", async () => {
    const { check, clockOffsetMs, hints } = await sent(`timestamp=${Number(key.now()) + 90_000}`);
    expect({ check, clockOffsetMs }).toEqual({ check: "WINDOW", clockOffsetMs: 90_000 });
    expect(hints).toEqual([expect.stringMatching(/^The timestamp is 90\.0 s ahead of the server's time/)]);
  });

  test.each([
    ["seconds", () => key.now().slice(0, -3)],
    ["microseconds", () => `${key.now()}000`],
    ["nanoseconds", () => `${key.now()}000000`],
  ])("of a time in %s", async (unit, timestamp) => {
    const { check, hints, clockOffsetMs } = await sent(`timestamp=${timestamp()}`);
    expect(check).toBe("WINDOW");
    expect(hints).toEqual([`The timestamp is in ${unit}. Send Unix time in whole milliseconds.`]);
    expect(Math.abs(clockOffsetMs ?? Number.NaN)).toBeLessThan(1_000);
  });
});

describe("recvWindow", () => {
  test.each([
    ["too large, as OctoBot sends it", "60000", /^recvWindow was 60000\. Send more than 0/],
    ["zero", "0", /^recvWindow was 0\./],
    ["empty", "", /^recvWindow is not a number/],
    ["no number", "abc", /^recvWindow is not a number/],
  ])("that is %s", async (_what, value, hint) => {
    const { check, hints } = await sent(`recvWindow=${value}&timestamp=${key.now()}`);
    expect(check).toBe("RECV_WINDOW");
    expect(hints).toEqual([expect.stringMatching(hint)]);
  });
});

describe("a signature", () => {
  const headers = () => ({ "x-mbx-apikey": key.apiKey });
  test("that is not there", async () => {
    await key.send({ method: "GET", path: PATH, query: `timestamp=${key.now()}`, headers: headers() });
    const { check, hints } = await key.diagnosis();
    expect(check).toBe("SIGNATURE_MISSING");
    expect(hints).toEqual([expect.stringMatching(/^There is no parameter `signature`, or it is empty/)]);
  });

  test("that came in a header", async () => {
    const query = `timestamp=${key.now()}`;
    const signature = hmac(key.secret, query);
    await key.send({ method: "GET", path: PATH, query, headers: { ...headers(), signature } });
    expect((await key.diagnosis()).hints).toEqual([expect.stringMatching(/not as a header\.$/)]);
  });
});

describe("parameters", () => {
  test("that are there twice are named", async () => {
    const { check, hints } = await sent(`symbol=A&symbol=B&timestamp=${key.now()}`);
    expect(check).toBe("PARAMETERS");
    expect(hints).toEqual(["`symbol` was sent more than once. Send each parameter once."]);
  });

  test("with an escape that is none", async () => {
    const { check, hints } = await sent(`symbol=100%&timestamp=${key.now()}`);
    expect(check).toBe("PARAMETERS");
    expect(hints).toEqual([expect.stringMatching(/^A parameter is not percent-encoded UTF-8/)]);
  });

  test("in query and body, of which one is in both, or not the route's", async () => {
    const inParts = async (query: string, body: string) => {
      const headers = { "x-mbx-apikey": key.apiKey };
      await key.send({ method: "POST", path: "/api/v3/order", query, body, headers });
      return await key.diagnosis();
    };
    const doubled = await inParts(`timestamp=${key.now()}&symbol=A`, "symbol=A&side=BUY");
    expect(doubled).toMatchObject({ check: "PARAMETERS" });
    expect(doubled.hints).toEqual(["`symbol` was sent more than once. Send each parameter once."]);
    const unread = await inParts(`timestamp=${key.now()}`, "symbol=A&note=1");
    expect(unread).toMatchObject({ check: "PARAMETERS" });
    expect(unread.hints).toEqual([expect.stringMatching(/query and body both have parameters/)]);
  });

  test("in JSON", async () => {
    await key.send({
      method: "POST",
      path: "/api/v3/order",
      body: JSON.stringify({ symbol: "BTCUSDT", timestamp: Number(key.now()) }),
      headers: { "x-mbx-apikey": key.apiKey, "content-type": "application/json" },
    });
    const { check, hints } = await key.diagnosis();
    expect(check).toBe("PARAMETERS");
    expect(hints).toEqual([expect.stringMatching(/^The body is JSON\. Send the parameters as a form/)]);
  });
});

describe("the key's header", () => {
  test("of the bot routes is distinguished from the one that belongs here", async () => {
    const query = `timestamp=${key.now()}`;
    const answer = await key.send({
      method: "GET",
      path: PATH,
      query,
      headers: { "x-bot-api-key": key.apiKey },
    });
    expect(answer.body.code).toBe(-2015);
    const { check, hints } = await key.diagnosis();
    expect(check).toBe("HEADER");
    expect(hints).toEqual([expect.stringMatching(/^The key came in the header x-bot-api-key/)]);
  });

  test("that names a revoked key says so", async () => {
    const trader = await fixture.somebody({});
    const revoked = await inspectedKey(fixture, trader, { type: null });
    await trader.send("POST", `/keys/${revoked.keyId}/revoke`, { code: trader.code() });
    const query = `timestamp=${revoked.now()}`;
    const signed = `${query}&signature=${hmac(revoked.secret, query)}`;
    const headers = { "x-mbx-apikey": revoked.apiKey };
    await revoked.send({ method: "GET", path: PATH, query: signed, headers });
    expect(await revoked.diagnosis()).toMatchObject({
      check: "HEADER",
      hints: ["The key was revoked. Create another one, bind it to the strategy and use that."],
    });
  });
});

test("no more than so many refused requests of a key are looked into in a second", async () => {
  fixture.pass(1_000);
  const query = `timestamp=${fixture.wallNow()}&signature=${"0".repeat(64)}`;
  for (let count = 0; count < DIAGNOSES_PER_SECOND + 2; count += 1) {
    await exchange(fixture.url, {
      method: "GET",
      path: PATH,
      query,
      headers: { "x-mbx-apikey": key.apiKey },
    });
  }
  const { requests } = await key.requests();
  const said = requests.slice(0, DIAGNOSES_PER_SECOND + 2).map(({ diagnosis }) => diagnosis?.hints[0]);
  const tooMany = "This request was not examined: too many requests failed in this second.";
  expect(said.slice(0, 2)).toEqual([tooMany, tooMany]);
  for (const hint of said.slice(2)) expect(hint).toMatch(/^None of the usual mistakes fits/);
});
