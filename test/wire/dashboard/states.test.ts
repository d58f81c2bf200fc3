// Every row of the dashboard's server with an id, requested by its owner in each state of that thing: ended
// ones are read or refused as `OUTCOMES` says. The rows themselves are the list, so that none is left out,
// and no state of one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type Example, exampleOf } from "../../support/dashboard/examples.ts";
import {
  idsOf,
  OUTCOMES,
  type Outcome,
  openStates,
  type StateName,
  setApproved,
  statesOf,
} from "../../support/dashboard/states.ts";
import { openWorld, type World } from "../../support/dashboard/world.ts";

let world: World;
let inState: Awaited<ReturnType<typeof openStates>>;
beforeAll(async () => {
  world = await openWorld();
  inState = await openStates(world);
}, 120_000);
afterAll(() => world.fixture.close());

const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path}`;
const byName = new Map(ALL_ROUTES.map((row) => [nameOf(row), row]));

test("each row with an id has what it permits in each state, and no other does", async () => {
  const wanted = new Map<string, readonly StateName[]>();
  for (const row of ALL_ROUTES) {
    if (row.access === "ANYONE") continue;
    const { body } = await exampleOf(world, row, callerOf(row));
    if (idsOf(row, body).length > 0) wanted.set(nameOf(row), statesOf(row, body));
  }
  expect(Object.keys(OUTCOMES).sort()).toEqual([...wanted.keys()].sort());
  for (const [name, states] of wanted) {
    expect(Object.keys(OUTCOMES[name] ?? {}).sort(), name).toEqual([...states].sort());
  }
});

// In the order of the table: what changes a state comes after what asks about it.
const cases = Object.entries(OUTCOMES).flatMap(([name, outcomes]) =>
  Object.entries(outcomes).map(([state, outcome]) => ({ name, state: state as StateName, outcome })),
);

describe.each(cases)("$name of $state", ({ name, state, outcome }) => {
  test(`answers ${outcome}`, async () => {
    const row = byName.get(name);
    if (row === undefined) throw new Error(`there is no row ${name}`);
    if (state === "OWNER_UNAPPROVED") return askUnapproved(row, outcome);
    const { caller: owner, ids } = await inState(
      state,
      /legs|positions|incomes/.test(row.path) ? "FUTURES" : "SPOT",
    );
    const caller = row.access === "OPERATOR" ? world.a.operator : owner;
    const example = await exampleOf(world, row, caller);
    expectOutcome(await ask(row, caller, replaced(row, example, ids)), outcome);
  });
});

test("no answer was a fault of the server's", () => {
  expect(world.fixture.logged()).not.toContain("could not be answered");
});

/** Of an operator's row the person that it is about is not approved; of any other its caller. */
async function askUnapproved(row: DashboardRoute, outcome: Outcome): Promise<void> {
  const caller = callerOf(row);
  const example = await exampleOf(world, row, caller);
  const { personId } = row.access === "OPERATOR" ? world.a.trader : caller;
  setApproved(world, personId, false);
  try {
    expectOutcome(await ask(row, caller, example), outcome);
  } finally {
    setApproved(world, personId, true);
  }
}

function callerOf({ access, path }: DashboardRoute): Browser {
  const { trader, copier, operator } = world.a;
  if (access === "OPERATOR") return operator;
  return access === "COPIER" || path.startsWith("/copies") ? copier : trader;
}

/** An example that is about something else: its ids are those that are given. */
function replaced(
  { path }: DashboardRoute,
  example: Example,
  ids: Readonly<Record<string, string | number>>,
) {
  const idOf = (name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`nothing in this state has a ${name}`);
    return String(id);
  };
  const query = example.path.split("?")[1];
  const body = { ...example.body };
  for (const name of Object.keys(body)) if (name in ids) body[name] = idOf(name);
  if ("confirmation" in body) body.confirmation = "A SPOT strategy";
  if ("isOpen" in body) body.isOpen = true;
  return {
    path:
      path.replace(/:(\w+)/g, (_all, name: string) => idOf(name)) + (query === undefined ? "" : `?${query}`),
    ...(example.body === undefined ? {} : { body }),
    status: example.status,
  };
}

async function ask(row: DashboardRoute, caller: Browser, { path, body }: Pick<Example, "path" | "body">) {
  return await caller.call(row.method, path, { body });
}

function expectOutcome({ status, body, text }: Awaited<ReturnType<typeof ask>>, outcome: Outcome): void {
  const said = { status, code: body?.error?.code ?? null };
  if (typeof outcome === "number") {
    expect(said, text).toEqual({ status: outcome, code: null });
  } else if (outcome === "HIDDEN") {
    expect(status, text).toBe(200);
    expect(body).toMatchObject({ rows: [], hiddenBecause: expect.stringMatching(/\.$/) });
  } else expect(said.code, text).toBe(outcome);
}
