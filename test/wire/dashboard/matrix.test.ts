// Every row of the dashboard's server, called without a session and by two tenants in three roles each:
// exactly what its `access` says, and nothing of one tenant's for another. The rows themselves are the list,
// so that none is left out; each needs an example.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { EXAMPLES, type Example, exampleOf } from "../../support/dashboard/examples.ts";
import { openWorld, type Tenant, type World } from "../../support/dashboard/world.ts";
import type { RawAnswer } from "../../support/raw.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
}, 60_000);
afterAll(() => world.fixture.close());

test("there are rows, and each example is of one", () => {
  const names = ALL_ROUTES.map(nameOf);
  expect(names.length).toBeGreaterThan(50);
  expect(names).toEqual(expect.arrayContaining(Object.keys(EXAMPLES)));
});

describe.each(ALL_ROUTES.map((row) => ({ name: nameOf(row), row })))("$name", ({ row }) => {
  if (row.access === "ANYONE") {
    test("is for anyone", async () => {
      const { a, b, fixture } = world;
      for (const caller of [fixture.browser(), await world.somebody({}), a.copier, b.operator]) {
        const { answer, example } = await callWith(row, caller);
        expect(answer.status, answer.text).toBe(example.status ?? 200);
      }
    });
    return;
  }

  test("is refused without a session", async () => {
    const { answer } = await callWith(row, world.fixture.browser(), null);
    expectRefusal(answer, 401, "NOT_SIGNED_IN");
  });

  if (row.access === "SIGNED_IN") {
    test("is for every signed-in person", async () => {
      for (const role of ["PERSON", "OPERATOR"] as const) {
        for (const profile of ["TRADER", "COPIER"] as const) {
          const caller = await world.somebody({ role, profile, kyc: "NONE" });
          const { answer, example } = await callWith(row, caller);
          if (role === "OPERATOR" && example.notFor === role) expectRefusal(answer, 403, "NOT_FOR_YOU");
          else if (isOfTenant(row, example)) expectRefusal(answer, 404, "NOT_FOUND");
          else expect(answer.status, `${role} ${profile}: ${answer.text}`).toBe(example.status ?? 200);
        }
      }
    });
    if (!row.path.startsWith("/copies")) return;
    test("shows and changes nothing of another person's copies", () => expectApart(row));
    test("is for its own copier, in either profile", async () => {
      const { copier } = world.a;
      for (const profile of ["TRADER", "COPIER"] as const) {
        // Made while accounts may be connected, which is for the other profile.
        const example = await exampleOf(world, row, copier);
        await copier.send("PUT", "/profile", { profile });
        const answer = await send(row, copier, example);
        await copier.send("PUT", "/profile", { profile: "COPIER" });
        expect(answer.status, `${profile}: ${answer.text}`).toBe(example.status ?? 200);
      }
    });
    return;
  }

  test("is refused to any other role", async () => {
    for (const tenant of [world.a, world.b]) {
      for (const [role, caller] of Object.entries(callersOf(tenant))) {
        if (role === row.access) continue;
        const { answer } = await callWith(row, caller);
        expectRefusal(answer, 403, "NOT_FOR_YOU");
      }
    }
  });

  if (row.needsKyc) {
    test("is refused without approval", async () => {
      for (const kyc of ["NONE", "PENDING", "REJECTED"] as const) {
        const { answer } = await callWith(row, await world.somebody({ kyc, profile: profileOf(row) }));
        expectRefusal(answer, 403, "KYC_NEEDED");
      }
    });
  }

  if (row.access === "OPERATOR") {
    test("is not for an operator without a second factor", async () => {
      const caller = await world.fixture.somebody({ role: "OPERATOR", hasSecondFactor: false });
      const { answer } = await callWith(row, caller);
      expectRefusal(answer, 403, "SECOND_FACTOR_NEEDED");
    });

    test("is for operators, and reveals no secret", async () => {
      for (const { operator } of [world.a, world.b]) {
        const { answer, example } = await callWith(row, operator);
        expect(answer.status, answer.text).toBe(example.status ?? 200);
        for (const secret of [...world.a.secrets, ...world.b.secrets])
          expect(answer.text).not.toContain(secret);
      }
    });
    return;
  }

  test("shows and changes nothing of another person's", () => expectApart(row));

  test("is for its own trader or copier", async () => {
    const { answer, example } = await callWith(row, ownerOf(row, world.a));
    expect(answer.status, answer.text).toBe(example.status ?? 200);
    for (const id of world.b.ids) expect(answer.text).not.toContain(id);
  });
});

test("another person's session cannot be ended", async () => {
  const { a, b } = world;
  const body = { sessionId: a.sessionId, code: b.trader.code() };
  const answer = await b.trader.call("POST", "/sessions/end", { body });
  expectRefusal(answer, 404, "NOT_FOUND");
  expect((await a.trader.call("GET", "/sessions")).status).toBe(200);
});

test("under a strategy of one's own there is nothing of another's", async () => {
  const { a, b } = world;
  const own = `/strategies/${b.spot.strategyId}`;
  expectRefusal(await b.trader.call("GET", `${own}/signals/${a.signalId}`), 404, "NOT_FOUND");
  expect((await b.trader.get(`${own}/signals?before=${a.signalId}`)).rows).toEqual([]);
  const body = { keyId: a.spot.keyId, code: b.trader.code() };
  expectRefusal(await b.trader.call("PUT", `${own}/key`, { body }), 404, "NOT_FOUND");
});

test("no answer was a fault of the server's", () => {
  expect(world.fixture.logged()).not.toContain("could not be answered");
});

/** What tenant B gets for what is tenant A's. */
async function expectApart(row: DashboardRoute): Promise<void> {
  const { a, b, fixture } = world;
  const other = ownerOf(row, b);
  const example = await exampleOf(world, row, other);
  const before = await stateOf(a);
  const answer = await send(row, other, example);
  if (isOfTenant(row, example)) expectRefusal(answer, 404, "NOT_FOUND");
  else expect(answer.status, answer.text).toBe(example.status ?? 200);
  for (const id of [...a.ids, ...a.secrets]) {
    if (!JSON.stringify(example).includes(id)) expect(answer.text).not.toContain(id);
  }
  expect(await stateOf(a)).toEqual(before);
  expect(fixture.logged()).not.toContain('"level":50');
}

function nameOf({ method, path }: DashboardRoute): string {
  return `${method} ${path}`;
}

function callersOf({ trader, copier, operator }: Tenant) {
  return { TRADER: trader, COPIER: copier, OPERATOR: operator };
}

/** The tenant's trader or copier, depending on the row. */
function ownerOf({ access, path }: DashboardRoute, { trader, copier }: Tenant): Browser {
  return access === "COPIER" || path.startsWith("/copies") ? copier : trader;
}

function profileOf({ access }: DashboardRoute): "TRADER" | "COPIER" {
  return access === "COPIER" ? "COPIER" : "TRADER";
}

/** Sends a row's example. `coded` is whose codes it has, if not the caller's. */
async function callWith(row: DashboardRoute, caller: Browser, coded: Browser | null = caller) {
  const example = await exampleOf(world, row, coded);
  return { example, answer: await send(row, caller, example) };
}

async function send(row: DashboardRoute, caller: Browser, { path, body }: Example): Promise<RawAnswer> {
  const answer = await caller.call(row.method, path, { body });
  expect(answer.status, answer.text).toBeLessThan(500);
  expect(answer.headers).toMatchObject({
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy":
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  });
  // No page of another site may read an answer.
  expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
  return answer;
}

function expectRefusal({ status, body, text }: RawAnswer, wanted: number, code: string): void {
  expect({ status, code: body?.error?.code }, text.slice(0, 500)).toEqual({ status: wanted, code });
  expect(body.error.message).toMatch(/\.$/);
}

/** Whether an example is about something of tenant A's. What is on offer is for every copier. */
function isOfTenant({ path }: DashboardRoute, { body }: Example): boolean {
  if (path.startsWith("/copying/offers")) return false;
  if (/:(strategyId|keyId|accountId|copyId)/.test(path)) return true;
  return body !== undefined && ("keyId" in body || "accountId" in body);
}

/** What a tenant has, apart from prices. */
async function stateOf({ trader, copier, spot, futures }: Tenant) {
  const { store } = world.fixture.gateway;
  const { copying } = store;
  const strategies = await store.people.listStrategiesOf(trader.personId);
  const versions = await Promise.all(
    strategies.map(async ({ strategyId }) => (await store.loadAccount(strategyId))?.version),
  );
  const keys = await store.people.listKeysOf(trader.personId);
  const audit = await store.people.listAudit({ personId: trader.personId, limit: 1_000 });
  const copies = await copying.listCopiesOf(copier.personId);
  const ofCopier = {
    copies,
    accounts: await copying.listAccountsOf(copier.personId),
    requests: await Promise.all(copies.map(({ copyId }) => copying.listRequests(copyId, 100))),
    audit: await store.people.listAudit({ personId: copier.personId, limit: 1_000 }),
  };
  const own = [copier.personId, ...strategies.map(({ strategyId }) => strategyId)];
  const switches = (await copying.listSwitches()).filter(({ id }) => own.includes(id));
  return { strategies, versions, keys, audit, spot, futures, ofCopier, switches };
}
