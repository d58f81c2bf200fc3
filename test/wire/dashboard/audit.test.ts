// Requests of the dashboard are audited before they are executed, so that a server that is killed in between
// has the record; a name is changed together with its record.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NewAuditRecord } from "../../../src/domain/audit.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import {
  newStrategy,
  type OwnStrategy,
  openWorld,
  restOrder,
  type World,
} from "../../support/dashboard/world.ts";

let world: World;
let trader: Browser;
beforeAll(async () => {
  world = await openWorld();
  trader = await world.somebody({});
}, 60_000);
afterAll(() => world.fixture.close());

/** What was audited of a strategy, oldest first. */
async function auditOf({ strategyId }: OwnStrategy) {
  const about = { kind: "STRATEGY", id: strategyId };
  const records = await world.fixture.gateway.store.people.listAudit({ about, limit: 100 });
  return records.map(({ what, who, details }) => ({ what, who, details })).toReversed();
}

/** Makes the desk fail before it executes a command, and returns the answer to the request. */
async function withoutDesk(ask: () => ReturnType<Browser["call"]>): ReturnType<Browser["call"]> {
  const { desk } = world.fixture.gateway;
  desk.execute = () => Promise.reject(new StoreUnavailable("killed"));
  try {
    return await ask();
  } finally {
    // Its own method is beneath.
    Reflect.deleteProperty(desk, "execute");
  }
}

const recordOf = (what: NewAuditRecord["what"], details: Readonly<Record<string, string>>) => ({
  what,
  who: { kind: "PERSON", personId: trader.personId },
  details,
});

test("closing a strategy is audited as requested, before it is executed", async () => {
  const strategy = await newStrategy(trader, "SPOT");
  const path = `/strategies/${strategy.strategyId}/close`;
  const body = { confirmation: "A SPOT strategy" };
  expect((await trader.call("POST", path, { body: { confirmation: "no" } })).status).toBe(400);
  expect((await auditOf(strategy)).map(({ what }) => what)).toEqual(["STRATEGY_CREATED"]);
  const asked = recordOf("STRATEGY_CLOSE_ASKED", {});
  expect((await withoutDesk(() => trader.call("POST", path, { body }))).status).toBe(503);
  expect((await auditOf(strategy)).slice(1)).toEqual([asked]);
  expect(await trader.send("POST", path, body)).toMatchObject({ status: "CLOSED" });
  // A refused request was requested all the same.
  expect((await trader.call("POST", path, { body })).status).toBe(409);
  expect((await auditOf(strategy)).slice(1)).toEqual([asked, asked, asked]);
});

test("canceling an order, or a leg, is audited as requested, before it is executed", async () => {
  const strategy = await newStrategy(trader, "SPOT");
  const orderId = await restOrder(world.fixture, strategy);
  const path = `/strategies/${strategy.strategyId}/orders/${orderId}`;
  const asked = recordOf("ORDER_CANCEL_ASKED", { orderId: String(orderId), symbol: "BTCUSDT" });
  expect((await withoutDesk(() => trader.call("DELETE", path))).status).toBe(503);
  expect((await auditOf(strategy)).slice(1)).toEqual([asked]);
  await trader.send("DELETE", path);
  expect((await auditOf(strategy)).slice(1)).toEqual([asked, asked]);

  const { trader: owner, futures, legId } = world.a;
  const leg = `/strategies/${futures.strategyId}/legs/${legId}`;
  expect((await withoutDesk(() => owner.call("DELETE", leg))).status).toBe(503);
  expect((await auditOf(futures)).at(-1)).toMatchObject({
    what: "ORDER_CANCEL_ASKED",
    details: { legId: String(legId) },
  });
});

test("another name is audited with the old one and the new one, and the same name is not", async () => {
  const strategy = await newStrategy(trader, "SPOT");
  const path = `/strategies/${strategy.strategyId}/name`;
  await trader.send("PUT", path, { name: "A SPOT strategy" });
  expect(await auditOf(strategy)).toHaveLength(1);
  expect(await trader.send("PUT", path, { name: "Renamed" })).toMatchObject({ name: "Renamed" });
  const renamed = recordOf("STRATEGY_RENAMED", { from: "A SPOT strategy", to: "Renamed" });
  expect((await auditOf(strategy)).slice(1)).toEqual([renamed]);
  // Two concurrent renames each get their own outcome, and the records lead from name to name.
  await Promise.all(["One", "Other"].map((name) => trader.call("PUT", path, { body: { name } })));
  const names = (await auditOf(strategy)).slice(1).map(({ details }) => [details.from, details.to]);
  for (const [index, [from]] of names.entries()) if (index > 0) expect(from).toBe(names[index - 1]?.[1]);
  expect((await trader.get(`/strategies/${strategy.strategyId}`)).name).toBe(names.at(-1)?.[1]);
});
