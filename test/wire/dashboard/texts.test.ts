// What is written in fields of every row is text that can be kept and shown: whatever else is refused, by
// every database alike. The rows' own schemas say which fields there are, so that none is left out.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { exampleOf } from "../../support/dashboard/examples.ts";
import { PASSWORD } from "../../support/dashboard/fixture.ts";
import { openWorld, type World } from "../../support/dashboard/world.ts";
import type { RawAnswer } from "../../support/raw.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../../support/servers/postgres.ts";

/** Fields that are kept as they were written. */
const WRITTEN: readonly (readonly [row: string, field: string])[] = [
  ["POST /verify-email", "name"],
  ["POST /sign-up", "email"],
  ["POST /keys", "label"],
  ["POST /strategies", "name"],
  ["PUT /strategies/:strategyId/name", "name"],
  ["POST /kyc", "fullName"],
  ["POST /kyc", "birthDate"],
  ["POST /kyc", "country"],
  ["POST /kyc", "address"],
  ["POST /kyc", "documentKind"],
  ["POST /kyc", "documentNumber"],
  ["POST /operator/kyc/:submissionId/decision", "reason"],
  ["POST /copying/accounts", "label"],
  ["POST /copies/:copyId/halt", "reason"],
  ["POST /strategies/:strategyId/copying/halt", "reason"],
  ["POST /operator/copying/switches", "reason"],
];
const NOT_SHOWN: readonly string[] = [
  "\0",
  "\u0001",
  "\u0007",
  "\u001b[31m",
  "\u007f",
  "\u0085",
  "\u200b",
  "\u202e",
  "\ud800",
];

describe.each([
  { title: "on SQLite", isPostgres: false },
  { title: postgresTitle("on PostgreSQL"), isPostgres: true },
])("$title", ({ isPostgres }) => {
  describe.skipIf(isPostgres && !hasPostgres)("whatever is sent", () => {
    let databases: Databases | null = null;
    let world: World;
    beforeAll(async () => {
      if (isPostgres) databases = await openPostgres();
      world = await openWorld((await databases?.newDatabase()) ?? null);
    });
    afterAll(async () => {
      await world.fixture.close();
      await databases?.stop();
    });

    test("a NUL in any field, query or path is refused, and is nowhere a fault of the server's", async () => {
      let fields = 0;
      for (const row of ALL_ROUTES) {
        const caller = callerOf(world, row);
        const { path, body = {} } = await exampleOf(world, row, caller);
        for (const field of fieldsOf(row.body)) {
          fields += 1;
          const answer = await caller.call(row.method, path, { body: { ...body, [field]: "a\0b" } });
          expectRefused(answer, `${row.method} ${row.path}, ${field}`);
        }
        const [bare = ""] = path.split("?");
        for (const name of fieldsOf(row.query)) {
          fields += 1;
          expectRefused(await caller.call(row.method, `${bare}?${name}=a%00b`), `${row.path}, ${name}`);
        }
        const segments = row.path.split("/");
        for (const [index, segment] of segments.entries()) {
          if (!segment.startsWith(":")) continue;
          fields += 1;
          const odd = bare.split("/").toSpliced(index, 1, "a%00b").join("/");
          const sent = row.body === null ? {} : { body };
          expectRefused(await caller.call(row.method, odd, sent), `${row.path}, ${segment}`);
        }
      }
      expect(fields).toBeGreaterThan(80);
      expect(world.fixture.logged()).not.toContain("could not be answered");
    });

    test.each(WRITTEN)("%s refuses what cannot be shown in its %s", async (name, field) => {
      const row = ALL_ROUTES.find(({ method, path }) => `${method} ${path}` === name);
      if (row === undefined) throw new Error(`there is no row ${name}`);
      for (const odd of NOT_SHOWN) {
        const caller = await freshCallerOf(world, row);
        const { path, body = {} } = await exampleOf(world, row, caller);
        const text = String(body[field]);
        const written = `${text.slice(0, 2)}${odd}${text.slice(2)}`;
        const answer = await caller.call(row.method, path, { body: { ...body, [field]: written } });
        expect(answer.status, JSON.stringify(written)).toBe(400);
        expect(Object.keys(answer.body.error.fields)).toEqual([field]);
      }
    });

    test("a browser's name for itself is kept without what cannot be shown", async () => {
      const browser = world.fixture.browser();
      const headers = { "user-agent": "Mo\u0085zil\u009fla/5.0\t(\u00ad)" };
      const somebody = await world.fixture.somebody({ hasSecondFactor: false });
      const body = { email: somebody.email, password: PASSWORD };
      expect((await browser.call("POST", "/session", { body, headers })).status).toBe(200);
      const { rows } = await browser.get("/sessions");
      const own = rows.find(({ isThisOne }: { isThisOne: boolean }) => isThisOne);
      // Each was sent as two bytes, which are read as a character each: the first of them can be shown.
      expect(own.userAgent).toBe("MoÂzilÂla/5.0(Â)");
    });
  });
});

function expectRefused({ status, text }: RawAnswer, what: string): void {
  expect(status, `${what}: ${text}`).toBeGreaterThanOrEqual(400);
  expect(status, `${what}: ${text}`).toBeLessThan(500);
}

/** The fields of a form, in all its forms. */
function fieldsOf(schema: z.ZodType | null): string[] {
  if (schema === null) return [];
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodDiscriminatedUnion) {
    return [...new Set(schema.options.flatMap((option) => fieldsOf(option as z.ZodType)))];
  }
  throw new Error("a form is an object");
}

function callerOf({ a, fixture }: World, { access }: DashboardRoute): Browser {
  if (access === "ANYONE") return fixture.browser();
  return access === "OPERATOR" ? a.operator : access === "COPIER" ? a.copier : a.trader;
}

/** A person without a submitted form, for the row that takes one. */
async function freshCallerOf(world: World, row: DashboardRoute): Promise<Browser> {
  return row.path === "/kyc"
    ? await world.fixture.somebody({ kyc: "NONE", hasSecondFactor: false })
    : callerOf(world, row);
}
