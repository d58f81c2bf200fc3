// A copier's accounts at venues, connected to a real server: checked before anything is stored, with errors
// in plain words, sealed, never shown, and destroyed.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCredentials } from "../../../src/copy/credentials.ts";
import type { AccountCheckJson, VenueAccountJson } from "../../../src/dashboard-api/schemas.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { connectAccount, follow, newOffer, newVenueKey } from "../../support/dashboard/copying-world.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import type { RawAnswer } from "../../support/raw.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

let fixture: DashboardFixture;
let ada: Browser;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  ada = await fixture.somebody({ profile: "COPIER" });
});
afterAll(() => fixture.close());

type Keys = { readonly apiKey: string; readonly apiSecret: string };

function connect(who: Browser, keys: Keys, more: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  const body = { family: "SPOT", venue: fixture.url, label: "Main", code: who.code(), ...keys, ...more };
  return who.call("POST", "/copying/accounts", { body });
}

async function accountsOf(who: Browser): Promise<readonly VenueAccountJson[]> {
  return (await who.get("/copying/accounts")).rows;
}

async function stored(accountId: string) {
  const account = await fixture.gateway.store.copying.findAccount(accountId);
  if (account === null) throw new Error(`there is no account ${accountId}`);
  return account;
}

/** The same text but for its last letter. */
function withOtherEnd(text: string): string {
  return `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`;
}

/** What the check of an account found, by name. */
function foundBy({ checks }: AccountCheckJson): Record<string, boolean | null> {
  return Object.fromEntries(checks.map(({ name, isGood }) => [name, isGood]));
}

describe("connecting", () => {
  test("checks the account, point by point, and keeps its credentials sealed for its row", async () => {
    const keys = await newVenueKey(fixture, "FUTURES");
    const { status, body, text } = await connect(ada, keys, { family: "FUTURES", label: "  Perps " });
    expect(status, text).toBe(201);
    expect(foundBy(body)).toEqual({
      KEY: true,
      BALANCE: true,
      TRADING: true,
      WITHDRAWAL: true,
      POSITION_MODE: true,
    });
    for (const { words } of body.checks) expect(words).toMatch(/^[A-Z].*\.$/);
    expect(body).toMatchObject({
      asset: "USDT",
      account: { label: "Perps", status: "CONNECTED", copyId: null },
    });
    expect(Number(body.wallet)).toBeGreaterThan(0);
    const { accountId, keyHint } = body.account;
    expect(keys.apiKey.startsWith(keyHint)).toBe(true);
    expect(keyHint.length).toBeLessThanOrEqual(12);
    const { sealed } = await stored(accountId);
    expect(sealed).toMatch(/^seal2\.1\./);
    expect(openCredentials(fixture.gateway.master, accountId, sealed ?? "")).toEqual(keys);
  });

  test("shows no key and no secret in any answer, log, audit or file", async () => {
    const keys = await newVenueKey(fixture, "SPOT");
    const { body, text } = await connect(ada, keys);
    const { accountId } = body.account;
    const wrong = { ...keys, apiSecret: withOtherEnd(keys.apiSecret) };
    const refused = await connect(ada, wrong);
    const seen = [
      ...[text, refused.text, fixture.logged()],
      (await ada.call("GET", "/copying/accounts")).text,
      (await ada.call("POST", `/copying/accounts/${accountId}/check`)).text,
      JSON.stringify(await fixture.gateway.store.people.listAudit({ limit: 1_000 })),
    ];
    for (const secret of [keys.apiSecret, wrong.apiSecret, keys.apiKey]) {
      for (const each of seen) expect(each).not.toContain(secret);
    }
    for (const file of ["lyrebird.sqlite", "lyrebird.sqlite-wal"]) {
      expect(readFileSync(join(fixture.dataDir, file)).includes(keys.apiSecret), file).toBe(false);
    }
  });

  test("refuses a key that is connected already through another origin of the same exchange", async () => {
    const [carl, dora] = [
      await fixture.somebody({ profile: "COPIER" }),
      await fixture.somebody({ profile: "COPIER" }),
    ];
    const keys = await newVenueKey(fixture, "SPOT");
    expect((await connect(carl, keys)).status).toBe(201);
    const second = fixture.url.replace("127.0.0.1", "localhost");
    expect(second).not.toBe(fixture.url);
    fixture.venues.push(second);
    for (const who of [carl, dora]) {
      expect(await connect(who, keys, { venue: second })).toMatchObject({
        status: 400,
        body: { error: { code: "BODY_UNFIT", fields: { apiKey: "is connected already" } } },
      });
    }
    // Another account of the exchange is connected through it.
    const others = await newVenueKey(fixture, "SPOT");
    const { body, status } = await connect(dora, others, { venue: second });
    expect(status).toBe(201);
    fixture.venues.pop();
    const path = `/copying/accounts/${body.account.accountId}`;
    expect((await dora.call("DELETE", path, { body: { code: dora.code() } })).status).toBe(200);
  });

  test("stores nothing if the venue does not accept the key, and says which field is wrong", async () => {
    const bert = await fixture.somebody({ profile: "COPIER" });
    const keys = await newVenueKey(fixture, "SPOT");
    const unfit: readonly (readonly [Record<string, string>, string, RegExp])[] = [
      [{ apiSecret: withOtherEnd(keys.apiSecret) }, "apiKey", /secret is wrong/],
      [{ apiKey: withOtherEnd(keys.apiKey) }, "apiKey", /not accepted/],
      [{ family: "FUTURES" }, "apiKey", /other market/],
      [{ venue: "https://elsewhere.example" }, "venue", /not an exchange that this server allows/],
      [{ apiKey: "two words of text" }, "apiKey", /copy it again/],
      [{ label: " " }, "label", /\w/],
    ];
    for (const [more, field, words] of unfit) {
      const { status, body, text } = await connect(bert, keys, more);
      expect(status, text).toBe(400);
      expect(body.error).toMatchObject({
        code: "BODY_UNFIT",
        fields: { [field]: expect.stringMatching(words) },
      });
    }
    expect(await accountsOf(bert)).toEqual([]);
  });

  test("connects a key once, for any owner, until it is disconnected", async () => {
    const [hal, ida] = [
      await fixture.somebody({ profile: "COPIER" }),
      await fixture.somebody({ profile: "COPIER" }),
    ];
    const keys = await newVenueKey(fixture, "SPOT");
    const first = await connect(hal, keys);
    expect(first.status, first.text).toBe(201);
    const { accountId } = first.body.account;
    const taken = {
      status: 400,
      body: { error: { code: "BODY_UNFIT", fields: { apiKey: "is connected already" } } },
    };
    expect(await connect(hal, keys)).toMatchObject(taken);
    expect(await connect(ida, keys)).toMatchObject(taken);
    expect(await accountsOf(ida)).toEqual([]);
    const own = await newVenueKey(fixture, "SPOT");
    const second = await connect(ida, own);
    const renew = (path: string, who: typeof hal, key: typeof keys) =>
      who.call("PUT", `/copying/accounts/${path}/credentials`, { body: { ...key, code: who.code() } });
    expect(await renew(second.body.account.accountId, ida, keys)).toMatchObject(taken);
    expect(await renew(accountId, hal, keys)).toMatchObject({ status: 200 });
    const ended = await hal.call("DELETE", `/copying/accounts/${accountId}`, { body: { code: hal.code() } });
    expect(ended.status, ended.text).toBe(200);
    expect((await connect(ida, keys)).status).toBe(201);
  });

  test("needs a fresh code, which is checked before the venue is", async () => {
    const cleo = await fixture.somebody({ profile: "COPIER" });
    const keys = await newVenueKey(fixture, "SPOT");
    const code = cleo.code();
    expect((await connect(cleo, keys, { code })).status).toBe(201);
    const again = await connect(cleo, await newVenueKey(fixture, "SPOT"), { code });
    expect(again).toMatchObject({ status: 403, body: { error: { code: "CODE_REFUSED" } } });
    const without = await fixture.somebody({ profile: "COPIER", hasSecondFactor: false });
    const body = { family: "SPOT", venue: fixture.url, label: "Main", code: "123456", ...keys };
    expect(await without.call("POST", "/copying/accounts", { body })).toMatchObject({
      status: 403,
      body: { error: { code: "SECOND_FACTOR_NEEDED" } },
    });
  });

  test("is refused where the operator allows no venue; what there is can still be disconnected", async () => {
    const dora = await fixture.somebody({ profile: "COPIER" });
    const { accountId } = await connectAccount(fixture, dora, "SPOT");
    const keys = await newVenueKey(fixture, "SPOT");
    const allowed = fixture.venues.splice(0);
    const offered = [
      await connect(dora, keys),
      await dora.call("POST", `/copying/accounts/${accountId}/check`),
      await dora.call("GET", "/copying/offers"),
    ];
    const venues = await dora.get("/copying/venues");
    const body = { code: dora.code() };
    const ended = await dora.call("DELETE", `/copying/accounts/${accountId}`, { body });
    fixture.venues.push(...allowed);
    for (const answer of offered) {
      expect(answer).toMatchObject({ status: 409, body: { error: { code: "COPYING_NOT_OFFERED" } } });
    }
    expect(venues).toEqual({ rows: [] });
    expect(ended).toMatchObject({ status: 200, body: { status: "DISCONNECTED" } });
  });
});

describe("a venue that answers as the real one does", () => {
  let server: Server;
  let venue: string;
  /** By path, what it answers; nothing else is there. */
  let answers: Record<string, { readonly status?: number; readonly body: object | string }>;
  const keys = { apiKey: "k".repeat(64), apiSecret: "s".repeat(64) };
  const ACCOUNT = {
    canTrade: true,
    permissions: ["SPOT"],
    balances: [{ asset: "USDT", free: "70", locked: "5" }],
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      const [path = ""] = (request.url ?? "").split("?");
      const { status = 200, body } = answers[path] ?? { status: 404, body: {} };
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    venue = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    fixture.venues.push(venue);
  });
  afterAll(() => new Promise((resolve) => void server.close(resolve)));

  function answering(more: typeof answers): void {
    const info = { body: { rateLimits: [], symbols: [] } };
    answers = {
      "/api/v3/time": { body: { serverTime: fixture.wallNow() } },
      "/fapi/v1/time": { body: { serverTime: fixture.wallNow() } },
      "/api/v3/exchangeInfo": info,
      "/fapi/v1/exchangeInfo": info,
      "/api/v3/account": { body: ACCOUNT },
      ...more,
    };
  }

  async function refusalOf(more: typeof answers, terms: Record<string, string> = {}) {
    const who = await fixture.somebody({ profile: "COPIER" });
    answering(more);
    const { status, body, text } = await connect(who, keys, { venue, ...terms });
    expect(await accountsOf(who)).toEqual([]);
    if (status < 400) throw new Error(`it was connected: ${text}`);
    return body.error;
  }

  test("is not copied on with a key that may withdraw, and is with one that may not", async () => {
    const path = "/sapi/v1/account/apiRestrictions";
    const refused = await refusalOf({ [path]: { body: { enableWithdrawals: true } } });
    expect(refused).toMatchObject({
      code: "BODY_UNFIT",
      fields: { apiKey: expect.stringMatching(/may withdraw/) },
    });
    answering({ [path]: { body: { enableWithdrawals: false } } });
    const who = await fixture.somebody({ profile: "COPIER" });
    const { status, body, text } = await connect(who, keys, { venue });
    expect(status, text).toBe(201);
    expect(foundBy(body)).toEqual({ KEY: true, BALANCE: true, TRADING: true, WITHDRAWAL: true });
    expect(body).toMatchObject({ wallet: "75", available: "70" });
  });

  test("whose account may not withdraw says so, and whose account may does not reveal the key's rights", async () => {
    const withdrawal = async (said: object) => {
      answering({ "/api/v3/account": { body: { ...ACCOUNT, ...said } } });
      const who = await fixture.somebody({ profile: "COPIER" });
      const other = { ...keys, apiKey: randomBytes(32).toString("hex") };
      const { body, text } = await connect(who, other, { venue });
      if (body.checks === undefined) throw new Error(text);
      return foundBy(body).WITHDRAWAL;
    };
    expect(await withdrawal({ canWithdraw: false })).toBe(true);
    expect(await withdrawal({ canWithdraw: true })).toBeNull();
    expect(await withdrawal({})).toBeNull();
  });

  test("may find later that the key may withdraw, or not trade any more: no copy is begun with it until that is corrected", async () => {
    const path = "/sapi/v1/account/apiRestrictions";
    const who = await fixture.somebody({ profile: "COPIER" });
    const strategyId = await newOffer(fixture);
    answering({ [path]: { body: { enableWithdrawals: false } } });
    const own = { ...keys, apiKey: randomBytes(32).toString("hex") };
    const { accountId } = (await connect(who, own, { venue })).body.account;
    const check = () => who.send("POST", `/copying/accounts/${accountId}/check`);
    const settings = { share: "1", maxPerOrder: null, stopLoss: null };
    const begin = () => who.call("POST", "/copies", { body: { strategyId, accountId, settings } });
    const unfit = [
      { body: { enableWithdrawals: true }, words: /may withdraw money/ },
      {
        body: { enableWithdrawals: false, enableSpotAndMarginTrading: false },
        words: /may not trade/,
      },
    ];
    for (const { body, words } of unfit) {
      answering({ [path]: { body } });
      const { account } = await check();
      expect(account).toMatchObject({ status: "FAILED", failure: expect.stringMatching(words) });
      expect(await begin()).toMatchObject({
        status: 409,
        body: { error: { code: "STATE_CHANGED", message: expect.stringMatching(words) } },
      });
    }
    answering({ [path]: { body: { enableWithdrawals: false } } });
    expect((await check()).account).toMatchObject({ status: "CONNECTED", failure: null });
    expect(await begin()).toMatchObject({ status: 201 });
  });

  test("is not copied on with a key that may not trade, nor in hedge mode", async () => {
    const body = { ...ACCOUNT, canTrade: false };
    expect((await refusalOf({ "/api/v3/account": { body } })).fields.apiKey).toMatch(/may not trade/);
    const assets = [{ asset: "USDT", walletBalance: "10", availableBalance: "10", marginBalance: "10" }];
    const futures = { canTrade: true, assets, positions: [] };
    const refused = await refusalOf(
      {
        "/fapi/v2/account": { body: futures },
        "/fapi/v3/account": { body: futures },
        "/fapi/v2/positionRisk": { body: [] },
        "/fapi/v3/positionRisk": { body: [] },
        "/fapi/v1/positionSide/dual": { body: { dualSidePosition: true } },
      },
      { family: "FUTURES" },
    );
    expect(refused.fields?.apiKey, JSON.stringify(refused)).toMatch(/hedge mode/);
  });

  test.each([
    [400, -1022, "Signature for this request is not valid.", "apiSecret", /not the secret/],
    [401, -2014, "API-key format invalid.", "apiKey", /does not have the format/],
    [401, -2015, "Invalid API-key, IP, or permissions for action.", "apiKey", /IP address.*permission/],
    [400, -3999, "Odd\u202e thing.", "apiKey", /\(-3999\): Odd thing$/],
  ])("says in plain words what %d %d means", async (status, code, msg, field, words) => {
    const refused = await refusalOf({ "/api/v3/account": { status, body: { code, msg } } });
    expect(refused).toMatchObject({ code: "BODY_UNFIT", fields: { [field]: expect.stringMatching(words) } });
    expect(refused.action).toMatch(/next one/);
  });

  test("with a malformed or missing answer is reported as such", async () => {
    const dead = await refusalOf({ "/api/v3/account": { status: 502, body: "<html>" } });
    expect(dead).toMatchObject({ code: "VENUE_SILENT", retryAfterSeconds: expect.any(Number) });
    const nowhere = "http://127.0.0.1:9";
    fixture.venues.push(nowhere);
    const unreachable = await refusalOf({}, { venue: nowhere });
    expect(unreachable).toMatchObject({
      code: "VENUE_SILENT",
      message: expect.stringMatching(/cannot be reached/),
    });
  });
});

describe("an account", () => {
  test("whose key was ended at the venue is FAILED with the next check, until it has another key", async () => {
    const emil = await fixture.somebody({ profile: "COPIER" });
    const keys = await newVenueKey(fixture, "SPOT");
    const { accountId } = (await connect(emil, keys)).body.account;
    await fixture.gateway.store.revokeKey(keys.apiKey, fixture.wallNow());
    const checked = await emil.send("POST", `/copying/accounts/${accountId}/check`);
    expect(foundBy(checked)).toEqual({ KEY: false });
    expect(checked.account).toMatchObject({
      status: "FAILED",
      failure: expect.stringMatching(/not accepted/),
    });
    const [account] = await accountsOf(emil);
    expect(account).toMatchObject({ status: "FAILED", checkedAt: fixture.wallNow() - 1_000 });

    const path = `/copying/accounts/${accountId}/credentials`;
    const other = await newVenueKey(fixture, "SPOT");
    const used = await emil.call("PUT", path, { body: { ...keys, code: emil.code() } });
    expect(used).toMatchObject({ status: 400, body: { error: { fields: { apiKey: expect.any(String) } } } });
    const before = (await stored(accountId)).sealed;
    const renewed = await emil.send("PUT", path, { ...other, code: emil.code() });
    expect(renewed.account).toMatchObject({ status: "CONNECTED", failure: null });
    const { sealed } = await stored(accountId);
    expect(sealed).not.toBe(before);
    expect(openCredentials(fixture.gateway.master, accountId, sealed ?? "")).toEqual(other);
  });

  test("is disconnected when no copy uses it: its credentials are destroyed, and its history is left", async () => {
    const fay = await fixture.somebody({ profile: "COPIER" });
    const { accountId } = await connectAccount(fixture, fay, "SPOT");
    const copyId = await follow(fay, await newOffer(fixture), accountId);
    const end = () => fay.call("DELETE", `/copying/accounts/${accountId}`, { body: { code: fay.code() } });
    expect(await end()).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });
    expect((await stored(accountId)).sealed).not.toBeNull();
    await fay.send("POST", `/copies/${copyId}/stop`, { closesAll: false });
    expect(await end()).toMatchObject({ status: 200, body: { status: "DISCONNECTED", copyId: null } });
    expect((await stored(accountId)).sealed).toBeNull();
    for (const [method, path, body] of [
      ["POST", "/check", undefined],
      ["PUT", "/credentials", { ...(await newVenueKey(fixture, "SPOT")), code: fay.code() }],
      ["DELETE", "", { code: fay.code() }],
    ] as const) {
      const answer = await fay.call(method, `/copying/accounts/${accountId}${path}`, { body });
      expect(answer).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });
    }
    expect(await fay.get(`/copies/${copyId}`)).toMatchObject({
      account: { accountId, status: "DISCONNECTED" },
    });
  });

  test("is audited: connected, renewed, disconnected", async () => {
    const gus = await fixture.somebody({ profile: "COPIER" });
    const { accountId } = await connectAccount(fixture, gus, "SPOT");
    const path = `/copying/accounts/${accountId}`;
    await gus.send("PUT", `${path}/credentials`, {
      ...(await newVenueKey(fixture, "SPOT")),
      code: gus.code(),
    });
    await gus.send("DELETE", path, { code: gus.code() });
    const records = await fixture.gateway.store.people.listAudit({
      about: { kind: "VENUE_ACCOUNT", id: accountId },
      limit: 10,
    });
    expect(records.map(({ what }) => what)).toEqual([
      "VENUE_ACCOUNT_DISCONNECTED",
      "VENUE_ACCOUNT_RENEWED",
      "VENUE_ACCOUNT_CONNECTED",
    ]);
    expect(records.map(({ who }) => who)).toEqual(
      records.map(() => ({ kind: "PERSON", personId: gus.personId })),
    );
  });
});
