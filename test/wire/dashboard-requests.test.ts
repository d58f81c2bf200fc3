// What the dashboard's server refuses whoever sends it: other sites, bodies that are not what a row takes, and too many at once.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CHANGES_PER_ADDRESS_MAX,
  REQUESTS_PER_ADDRESS_MAX,
  REQUESTS_PER_SESSION_MAX,
  STOPS_PER_SESSION_MAX,
} from "../../src/dashboard/request-budgets.ts";
import type { DashboardRoute } from "../../src/dashboard/route.ts";
import { ALL_ROUTES } from "../../src/dashboard/routes.ts";
import type { Browser } from "../support/dashboard-client.ts";
import { EXAMPLES } from "../support/dashboard-examples.ts";
import { openWorld, type World } from "../support/dashboard-world.ts";
import { exchange } from "../support/raw.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.stage.close());

const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path}`;
const changes = ALL_ROUTES.filter(({ method }) => method !== "GET").map((row) => ({
  name: nameOf(row),
  row,
}));

describe.each(changes)("$name from another site", ({ row }) => {
  test("is refused", async () => {
    const { port } = new URL(world.stage.url);
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
  const { port } = new URL(world.stage.url);
  for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
    const headers = { origin: `http://${host}:${port}` };
    const answer = await world.a.trader.call("PUT", "/profile", { headers, body: { profile: "TRADER" } });
    expect(answer.status, host).toBe(200);
  }
});

const formed = changes.filter(({ row }) => row.body !== null);

describe.each(formed)("$name with a body that is not its form", ({ name, row }) => {
  test("is refused, by the names of its fields", async () => {
    const caller = callerOf(row);
    const make = EXAMPLES[name];
    if (make === undefined) throw new Error(`${name} has no example`);
    const { path, body = {} } = await make(world, caller);
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
    expect(world.stage.logged()).not.toContain("could not be answered");
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
    const { path = "", body } = (await EXAMPLES[nameOf(row)]?.(world, caller)) ?? {};
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
    const { status, text } = await exchange(world.stage.url, { method, path });
    expect(status, path).toBe(404);
    if (method !== "HEAD") expect(JSON.parse(text).error.code).toBe("NOT_FOUND");
  }
});

test("what lies beside them is not there", async () => {
  for (const path of ["/dashboard", "/dashboard/", "/dashboard/apis"]) {
    const headers = { accept: "text/html" };
    const { status, body } = await exchange(world.stage.url, { method: "GET", path, headers });
    expect({ status, code: body.code }, path).toEqual({ status: 404, code: -5000 });
  }
});

describe("too many requests", () => {
  test("of an address are refused until the minute is over", async () => {
    const { stage } = world;
    const ask = () => exchange(stage.url, { method: "GET", path: "/dashboard/api/session" });
    stage.pass(60_000 - (stage.wallNow() % 60_000));
    for (let count = 0; count < REQUESTS_PER_ADDRESS_MAX; count += 1) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused).toMatchObject({
      status: 429,
      headers: { "retry-after": "60" },
      body: { error: { code: "TOO_MANY_REQUESTS", retryAfterSeconds: 60 } },
    });
    stage.pass(60_000);
    expect((await ask()).status).toBe(200);
  });

  test("of another site's page spend nothing of what changes", async () => {
    const { stage, a } = world;
    stage.pass(60_000 - (stage.wallNow() % 60_000));
    const ask = (origin: string) =>
      exchange(stage.url, {
        method: "DELETE",
        path: "/dashboard/api/sessions",
        headers: { cookie: a.copier.cookies(), origin },
      });
    for (let count = 0; count <= CHANGES_PER_ADDRESS_MAX; count += 1) {
      expect((await ask("https://elsewhere.example")).status).toBe(403);
    }
    expect((await ask(stage.url)).status).toBe(200);
    stage.pass(60_000);
  });

  test("do not keep anybody from stopping something, of which there are enough of their own", async () => {
    const { stage, a } = world;
    const post = (path: string, body: object) =>
      exchange(stage.url, {
        method: "POST",
        path: `/dashboard/api${path}`,
        headers: { cookie: a.copier.cookies(), origin: stage.url, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const pause = async () => (await post("/copies/none/pause", {})).status;
    const look = async () => (await post("/copies/none/look", {})).status;
    stage.pass(60_000 - (stage.wallNow() % 60_000));
    for (let count = 0; count < REQUESTS_PER_ADDRESS_MAX; count += 1) await look();
    expect(await look()).toBe(429);
    for (let count = 0; count < STOPS_PER_SESSION_MAX; count += 1) expect(await pause()).toBe(404);
    expect(await pause()).toBe(429);
    stage.pass(60_000);
    // And these spend nothing of the others.
    for (let count = 0; count < STOPS_PER_SESSION_MAX; count += 1) await pause();
    expect(await look()).toBe(404);
    stage.pass(60_000);
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
      "POST /strategies/:strategyId/copying/halt",
    ]);
  });

  test("that change something are fewer, and so are those of a session", async () => {
    const { stage, a } = world;
    const headers = { cookie: a.copier.cookies(), origin: stage.url };
    const ask = (method: string) => exchange(stage.url, { method, path: "/dashboard/api/sessions", headers });
    const start = (method: string) => {
      stage.pass(60_000 - (stage.wallNow() % 60_000));
      return ask(method);
    };
    expect((await start("DELETE")).status).toBe(200);
    for (let count = 1; count < CHANGES_PER_ADDRESS_MAX; count += 1) await ask("DELETE");
    expect((await ask("DELETE")).status).toBe(429);
    expect((await start("GET")).status).toBe(200);
    for (let count = 1; count < REQUESTS_PER_SESSION_MAX; count += 1) await ask("GET");
    expect((await ask("GET")).status).toBe(429);
    expect((await exchange(stage.url, { method: "GET", path: "/dashboard/api/session" })).status).toBe(200);
    stage.pass(60_000);
  });
});

function callerOf({ access }: DashboardRoute): Browser {
  const { trader, copier, operator } = world.a;
  if (access === "OPERATOR") return operator;
  return access === "COPIER" ? copier : trader;
}
