// Requests that the dashboard's server always refuses: from other sites, with invalid bodies, and too many at
// once.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  CHANGES_PER_ADDRESS_MAX,
  CHANGES_PER_PERSON_MAX,
  REQUESTS_PER_ADDRESS_MAX,
  REQUESTS_PER_PERSON_MAX,
  STOPS_PER_PERSON_MAX,
  UNKNOWN_SESSIONS_PER_ADDRESS_MAX,
} from "../../../src/dashboard-api/request-budgets.ts";
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { exampleOf } from "../../support/dashboard/examples.ts";
import { PASSWORD } from "../../support/dashboard/fixture.ts";
import { openWorld, type World } from "../../support/dashboard/world.ts";
import { exchange } from "../../support/raw.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.fixture.close());

const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path}`;
const changes = ALL_ROUTES.filter(({ method }) => method !== "GET").map((row) => ({
  name: nameOf(row),
  row,
}));

describe.each(changes)("$name from another site", ({ row }) => {
  test("is refused", async () => {
    const { port } = new URL(world.fixture.url);
    const path = row.path.replace(/:\w+/g, "x");
    for (const origin of [
      null,
      "null",
      "",
      "https://evil.example",
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1.evil.example:${port}`,
      "http://127.0.0.1:1",
      `http://127.0.0.1:${port}/`,
    ]) {
      const answer = await callerOf(row).call(row.method, path, { headers: { origin } });
      expect(answer, `origin ${origin}`).toMatchObject({
        status: 403,
        body: { error: { code: "ORIGIN_REFUSED", action: expect.stringContaining("PUBLIC_URL") } },
      });
    }
  });
});

test("each of the names of this machine is the dashboard's own site", async () => {
  const { port } = new URL(world.fixture.url);
  for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
    const headers = { origin: `http://${host}:${port}` };
    const answer = await world.a.trader.call("PUT", "/profile", { headers, body: { profile: "TRADER" } });
    expect(answer.status, host).toBe(200);
  }
});

const formed = changes.filter(({ row }) => row.body !== null);

describe.each(formed)("$name with a body that is not its form", ({ row }) => {
  test("is refused, by the names of its fields", async () => {
    const caller = callerOf(row);
    const { path, body = {} } = await exampleOf(world, row, caller);
    const send = (sent: unknown, headers = {}) => caller.call(row.method, path, { body: sent, headers });

    for (const text of ["", "{", "nothing", '{"a":1,}', "\ufeff{}", '{"a":"\u0001"}', "a=b&c=d"]) {
      const answer = await send(text);
      expect(answer, JSON.stringify(text)).toMatchObject({
        status: 400,
        body: { error: { code: "BODY_NOT_JSON" } },
      });
    }
    const typed = await send(body, { "content-type": "text/plain" });
    expect(typed).toMatchObject({ status: 400, body: { error: { code: "BODY_NOT_JSON" } } });
    for (const sent of ["[]", "null", "1", '"text"', "[[[[]]]]", "true"]) {
      expect(await send(sent), sent).toMatchObject({ status: 400, body: { error: { code: "BODY_UNFIT" } } });
    }
    const deep = `{"a":${"[".repeat(4_000)}${"]".repeat(4_000)}}`;
    expect(await send(deep)).toMatchObject({ status: 400, body: { error: { code: "BODY_UNFIT" } } });
    const huge = await send({ ...body, more: "x".repeat(20_000) });
    expect(huge).toMatchObject({ status: 413, body: { error: { code: "BODY_TOO_LARGE" } } });
    const stranger = await send({ ...body, stranger: 1 });
    expect(stranger).toMatchObject({
      status: 400,
      body: { error: { fields: { stranger: expect.any(String) } } },
    });
    const odd = await send(`{"__proto__":{"a":1},"constructor":1}`);
    expect(odd).toMatchObject({ status: 400, body: { error: { code: "BODY_UNFIT" } } });

    for (const [field, fit] of Object.entries(body)) {
      for (const value of [1, true, [], {}, ["a"], "\u0000"]) {
        if (typeof value === "boolean" && typeof fit === "boolean") continue;
        const answer = await send({ ...body, [field]: value });
        const what = `${field}: ${JSON.stringify(value)}: ${answer.text}`;
        expect(answer.status, what).toBe(400);
        // Of a form within a form the fields within are named.
        const told = Object.entries<string>(answer.body.error.fields ?? {});
        const own = told.filter(([name]) => name === field || name.startsWith(`${field}.`));
        expect(own.map(([, words]) => words).join(), what).toMatch(/\w/);
      }
      expect((await send({ ...body, [field]: "x".repeat(15_000) })).status, field).toBe(400);
    }
    expect(world.fixture.logged()).not.toContain("could not be answered");
  });
});

describe.each(ALL_ROUTES.map((row) => ({ name: nameOf(row), row })))("$name", ({ row }) => {
  test("takes no query that it does not know", async () => {
    const path = row.path.replace(/:family/, "SPOT").replace(/:\w+/g, "x");
    const answer = await callerOf(row).call(row.method, `${path}?stranger=1&stranger=2`, {
      body: row.body === null ? undefined : {},
    });
    expect(answer.status, answer.text).toBe(400);
  });

  test("knows nothing by an odd name", async () => {
    if (!row.path.includes(":")) return;
    const caller = callerOf(row);
    // All else is as it should be.
    const { path, body } = await exampleOf(world, row, caller);
    const [, query] = path.split("?");
    for (const odd of [
      "%00",
      "%ff",
      "%",
      "%2e%2e%2f",
      "..%2f..",
      "'",
      "%F0%9F%92%A9",
      "1e3",
      "-1",
      "x".repeat(3_000),
    ]) {
      const asked = row.path.replace(/:\w+/g, odd) + (query === undefined ? "" : `?${query}`);
      const answer = await caller.call(row.method, asked, { body });
      expect(answer, odd).toMatchObject({ status: 404, body: { error: { code: "NOT_FOUND" } } });
    }
  });
});

test("paths that are no row's are not found, whatever their method", async () => {
  for (const [method, path] of [
    ["GET", "/dashboard/api"],
    ["GET", "/dashboard/api/nothing"],
    ["PATCH", "/dashboard/api/session"],
    ["HEAD", "/dashboard/api/nothing"],
    ["GET", "/dashboard/api/sessions/"],
    ["GET", "/dashboard/api//session"],
  ] as const) {
    const { status, text } = await exchange(world.fixture.url, { method, path });
    expect(status, path).toBe(404);
    if (method !== "HEAD") expect(JSON.parse(text).error.code).toBe("NOT_FOUND");
  }
});

test("what lies beside them is not there", async () => {
  for (const path of ["/dashboard", "/dashboard/", "/dashboard/apis"]) {
    const headers = { accept: "text/html" };
    const { status, body } = await exchange(world.fixture.url, { method: "GET", path, headers });
    expect({ status, code: body.code }, path).toEqual({ status: 404, code: -5000 });
  }
});

/** One that reads, and one that changes something, of a copy that there is not. */
const PATHS = { GET: "/dashboard/api/sessions", DELETE: "/dashboard/api/copies/none/halt" } as const;

describe("too many requests", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("of an address are refused until the minute ends", async () => {
    const { fixture } = world;
    const ask = () => exchange(fixture.url, { method: "GET", path: "/dashboard/api/session" });
    startMinute();
    for (let count = 0; count < REQUESTS_PER_ADDRESS_MAX; count += 1) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused).toMatchObject({
      status: 429,
      headers: { "retry-after": "60" },
      body: { error: { code: "TOO_MANY_REQUESTS", retryAfterSeconds: 60 } },
    });
    fixture.pass(60_000);
    expect((await ask()).status).toBe(200);
  });

  describe.each<[string, Readonly<Record<string, string>>]>([
    ["Origin", { origin: "http://evil.example" }],
    ["Sec-Fetch-Site", { "sec-fetch-site": "cross-site" }],
    ["Sec-Fetch-Site, of a host beside", { "sec-fetch-site": "same-site" }],
  ])("of another site's page, as its browser says by %s,", (_what, foreign) => {
    test.each([
      ["GET", REQUESTS_PER_ADDRESS_MAX],
      ["DELETE", CHANGES_PER_ADDRESS_MAX],
    ] as const)("are refused (%s) and spend nothing of the visitor's", async (method, most) => {
      const { fixture, a } = world;
      startMinute();
      const ask = (headers: Readonly<Record<string, string>>) =>
        exchange(fixture.url, { method, path: PATHS[method], headers });
      const own = { origin: fixture.url, "sec-fetch-site": "same-origin" };
      for (let count = 0; count <= most; count += 1) {
        const refused = await ask({ ...(method === "GET" ? {} : own), ...foreign });
        expect(refused).toMatchObject({ status: 403, body: { error: { code: "ORIGIN_REFUSED" } } });
      }
      expect((await ask(own)).status, "without a session").toBe(401);
      expect((await ask({ ...own, cookie: a.copier.cookies() })).status, "signed in").toBe(
        method === "GET" ? 200 : 404,
      );
    });
  });

  test("of the address that a person has typed are the dashboard's own", async () => {
    const headers = { "sec-fetch-site": "none", cookie: world.a.copier.cookies() };
    const path = "/dashboard/api/sessions";
    expect((await exchange(world.fixture.url, { method: "GET", path, headers })).status).toBe(200);
  });

  test("of an address without a session do not delay a person who is signed in there", async () => {
    const { fixture, a } = world;
    startMinute();
    const ask = (cookie?: string, method: keyof typeof PATHS = "GET") =>
      exchange(fixture.url, {
        method,
        path: PATHS[method],
        headers: { origin: fixture.url, ...(cookie === undefined ? {} : { cookie }) },
      });
    for (let count = 0; count < REQUESTS_PER_ADDRESS_MAX; count += 1) expect((await ask()).status).toBe(401);
    expect((await ask()).status).toBe(429);
    expect((await ask(a.copier.cookies())).status).toBe(200);
    expect((await ask(a.copier.cookies(), "DELETE")).status).toBe(404);
    // Nor does the person spend what is the address's.
    startMinute();
    for (let count = 0; count < REQUESTS_PER_PERSON_MAX; count += 1) await ask(a.copier.cookies());
    expect((await ask(a.copier.cookies())).status).toBe(429);
    expect((await ask()).status).toBe(401);
    expect((await ask(a.trader.cookies())).status).toBe(200);
  });

  test("with cookies that open no session are looked up a bounded number of times, and delay no known browser", async () => {
    const { fixture, a } = world;
    startMinute();
    const fresh = await fixture.somebody({ profile: "COPIER", hasSecondFactor: false });
    const sessionCookie = nameOfSessionCookie(fresh);
    startMinute();
    const ask = (cookie: string) =>
      exchange(fixture.url, { method: "GET", path: "/dashboard/api/session", headers: { cookie } });
    expect((await ask(a.copier.cookies())).status).toBe(200);
    const lookUps = vi.spyOn(fixture.gateway.store.people, "findSession");
    for (let count = 0; count < UNKNOWN_SESSIONS_PER_ADDRESS_MAX; count += 1) {
      await ask(`${sessionCookie}=${String(count).padStart(32, "0")}`);
    }
    expect(lookUps).toHaveBeenCalledTimes(UNKNOWN_SESSIONS_PER_ADDRESS_MAX);
    expect((await ask(`${sessionCookie}=${"x".repeat(32)}`)).status).toBe(429);
    expect((await ask(fresh.cookies())).status, "it might be made up").toBe(429);
    expect(lookUps).toHaveBeenCalledTimes(UNKNOWN_SESSIONS_PER_ADDRESS_MAX);
    expect((await ask(a.copier.cookies())).status, "it opened a session before").toBe(200);
    expect((await ask(`another=1; ${a.copier.cookies()}`)).status, "beside another cookie").toBe(200);
    startMinute();
    expect((await ask(fresh.cookies())).status).toBe(200);
  });

  test("of a person are looked up a bounded number of times, whatever other cookies they have", async () => {
    const { fixture } = world;
    startMinute();
    const person = await fixture.somebody({ profile: "COPIER", hasSecondFactor: false });
    startMinute();
    const lookUps = vi.spyOn(fixture.gateway.store.people, "findSession");
    const headers = (count: number) => ({ cookie: `${person.cookies()}; another=${count}` });
    let answered = 0;
    for (let count = 0; count < 2_500; count += 1) {
      const path = "/dashboard/api/sessions";
      const { status } = await exchange(fixture.url, { method: "GET", path, headers: headers(count) });
      if (status === 200) answered += 1;
    }
    expect(answered).toBe(REQUESTS_PER_PERSON_MAX);
    expect(lookUps).toHaveBeenCalledTimes(REQUESTS_PER_PERSON_MAX);
    startMinute();
  });

  test("with new sessions of a person who has spent the minute are looked up a bounded number of times", async () => {
    const { fixture } = world;
    startMinute();
    const person = await fixture.somebody({ profile: "COPIER", hasSecondFactor: false });
    const other = fixture.browser();
    startMinute();
    await other.signIn(person.email, PASSWORD);
    const ask = (browser: Browser) =>
      exchange(fixture.url, {
        method: "GET",
        path: "/dashboard/api/sessions",
        headers: { cookie: browser.cookies() },
      });
    for (let count = 0; count < REQUESTS_PER_PERSON_MAX; count += 1) await ask(person);
    const lookUps = vi.spyOn(fixture.gateway.store.people, "findSession");
    for (let count = 0; count < UNKNOWN_SESSIONS_PER_ADDRESS_MAX + 100; count += 1) {
      expect((await ask(other)).status).toBe(429);
    }
    expect(lookUps.mock.calls.length).toBeLessThanOrEqual(UNKNOWN_SESSIONS_PER_ADDRESS_MAX);
    startMinute();
  });

  test("do not prevent stopping something, for which there is a budget of its own", async () => {
    const { fixture, a } = world;
    const post = (path: string, body: object) =>
      exchange(fixture.url, {
        method: "POST",
        path: `/dashboard/api${path}`,
        headers: { cookie: a.copier.cookies(), origin: fixture.url, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const pause = async () => (await post("/copies/none/pause", {})).status;
    const look = async () => (await post("/copies/none/look", {})).status;
    startMinute();
    for (let count = 0; count < CHANGES_PER_PERSON_MAX; count += 1) await look();
    expect(await look()).toBe(429);
    for (let count = 0; count < STOPS_PER_PERSON_MAX; count += 1) expect(await pause()).toBe(404);
    expect(await pause()).toBe(429);
    // And these spend nothing of the others.
    startMinute();
    for (let count = 0; count < STOPS_PER_PERSON_MAX; count += 1) await pause();
    expect(await look()).toBe(404);
    startMinute();
  });

  test("those that only stop something are these", () => {
    const stops = ALL_ROUTES.filter(({ onlyStops }) => onlyStops).map(
      ({ method, path }) => `${method} ${path}`,
    );
    expect(stops.sort()).toEqual([
      "POST /copies/:copyId/halt",
      "POST /copies/:copyId/pause",
      "POST /copies/:copyId/stop",
      "POST /operator/copying/switches",
      "POST /operator/people/:personId/end-sessions",
      "POST /operator/people/:personId/keys/:keyId/revoke",
      "POST /operator/people/:personId/lock",
      "POST /strategies/:strategyId/copying/halt",
    ]);
  });

  test("of a person are counted over all browsers, and fewer of them may change something", async () => {
    const { fixture, a } = world;
    const person = await fixture.somebody({ profile: "COPIER", hasSecondFactor: false });
    const one = person.cookies();
    const other = fixture.browser();
    await other.signIn(person.email, PASSWORD);
    const ask = (cookie: string, method: keyof typeof PATHS) =>
      exchange(fixture.url, { method, path: PATHS[method], headers: { cookie, origin: fixture.url } });
    startMinute();
    for (let count = 0; count < CHANGES_PER_PERSON_MAX; count += 1) {
      expect((await ask(one, "DELETE")).status).toBe(404);
    }
    expect((await ask(other.cookies(), "DELETE")).status).toBe(429);
    expect((await ask(other.cookies(), "GET")).status).toBe(200);
    startMinute();
    for (let count = 0; count < REQUESTS_PER_PERSON_MAX; count += 1) {
      expect((await ask(count % 2 === 0 ? one : other.cookies(), "GET")).status).toBe(200);
    }
    expect((await ask(one, "GET")).status).toBe(429);
    expect((await ask(a.trader.cookies(), "GET")).status, "another person at this address").toBe(200);
    startMinute();
  });

  test("to sign in are counted by address, also of signed-in people", async () => {
    const { fixture, a } = world;
    const signIn = (cookie?: string) =>
      exchange(fixture.url, {
        method: "POST",
        path: "/dashboard/api/session",
        headers: { origin: fixture.url, ...(cookie === undefined ? {} : { cookie }) },
      });
    startMinute();
    for (let count = 0; count < CHANGES_PER_ADDRESS_MAX; count += 1) {
      expect((await signIn(a.copier.cookies())).status).toBe(400);
    }
    expect((await signIn(a.copier.cookies())).status).toBe(429);
    expect((await signIn()).status).toBe(429);
    startMinute();
  });

  /** What precedes the token of a browser that is signed in. */
  function nameOfSessionCookie(browser: Browser): string {
    const name = /(?<name>[^;= ]*lyrebird(?!-device)[^;= ]*)=/.exec(browser.cookies())?.groups?.name;
    if (name === undefined) throw new Error(`no session among the cookies ${browser.cookies()}`);
    return name;
  }

  function startMinute(): void {
    world.fixture.pass(60_000 - (world.fixture.wallNow() % 60_000));
  }
});

function callerOf({ access }: DashboardRoute): Browser {
  const { trader, copier, operator } = world.a;
  if (access === "OPERATOR") return operator;
  return access === "COPIER" ? copier : trader;
}
