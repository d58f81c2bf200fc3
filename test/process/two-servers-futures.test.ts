// Two real gateways on one PostgreSQL database and one market, whose marks and settlements are in the test's
// hands: each watches the positions and legs of its slots, and what the market does to them happens once.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { makeHolders } from "../campaigns/crash/holders.ts";
import { openSteeredMarket, type SteeredMarket } from "../campaigns/harness/steered-market.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  startGateway,
} from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import { signed } from "../support/signed-client.ts";

const SYMBOL = "DOGEUSDT";
const HOLDERS = 6;
const HELD_SINCE_MS = 10 * 60_000;
/** From now to a settlement, ms: both servers have to hear of it before, also on a busy machine. */
const SETTLED_IN_MS = 10_000;
/** A settlement is requested some seconds after its time. */
const SETTLED_MS_MAX = 110_000;
const SETTLED_TEST_MS_MAX = 240_000;
/** How long after its mark price a leg may fire, ms: see `two-servers.test.ts`. */
const LATE_MS_MAX = 30_000;
/** Leaves most of the budgets unused while waiting. */
const ASK_AGAIN_MS = 200;

describe.skipIf(!hasPostgres)(postgresTitle("futures on two servers on one PostgreSQL database"), () => {
  let server: Databases;
  let market: SteeredMarket;
  let first: GatewayProcess;
  let second: GatewayProcess;
  let strategies: readonly Credentials[];
  let holders: readonly Credentials[];
  let mark: number;

  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("there are programs, so there is a server");
    server = opened;
  });
  afterAll(() => server?.stop());

  beforeEach(async () => {
    market = await openSteeredMarket();
    mark = Number(market.price(SYMBOL).mark);
    const databaseUrl = await server.newDatabase();
    const [firstDir, secondDir] = [newDirectory(), newDirectory()];
    const { store, master } = await openDataDirectory(firstDir, null, databaseUrl);
    const types = Array.from({ length: 4 }, () => "FUTURES" as const);
    strategies = await seedStrategies(store, master, types, Date.now());
    const at = Date.now() - HELD_SINCE_MS;
    holders = await makeHolders(store, master, { count: HOLDERS, price: mark.toFixed(5), at });
    await store.close();
    copyFileSync(join(firstDir, "master.key"), join(secondDir, "master.key"));
    // Each says when it has applied a settlement.
    const env = { ...market.env, DATABASE_URL: databaseUrl, LOG_LEVEL: "info" };
    first = await startGateway({ dataDir: firstDir, env });
    second = await startGateway({ dataDir: secondDir, env });
  });
  afterEach(async () => {
    await first?.kill();
    await second?.kill();
    await market?.close();
  });

  test("a leg fires once and a position is liquidated once, whichever server has the mark price first", async () => {
    const [careful, bold, other, another] = strategies;
    if (!careful || !bold || !other || !another) throw new Error("four strategies were made");
    // Alternating, so that each server learns half of them from the other.
    await open(first.url, careful, "2");
    await placeStop(second.url, careful, mark * 0.97);
    await open(second.url, other, "2");
    await placeStop(first.url, other, mark * 0.96);
    await open(first.url, bold, "50");
    await open(second.url, another, "50");
    market.setPrice(SYMBOL, { ...market.price(SYMBOL), mark: (mark * 0.95).toFixed(8) });
    for (const each of [careful, bold, other, another]) await flat(second.url, each);

    for (const { url } of [first, second]) {
      for (const each of [careful, other]) {
        expect(await typesOf(url, each)).toEqual(["MARKET", "MARKET"]);
        const [leg] = await ask(url, each, "v1/allAlgoOrders", { symbol: SYMBOL });
        expect(leg).toMatchObject({ algoStatus: "FINISHED", actualOrderId: "3" });
      }
      for (const each of [bold, another]) {
        expect(await typesOf(url, each)).toEqual(["MARKET", "LIQUIDATION"]);
      }
      for (const each of strategies) await expectTwoTrades(url, each);
    }
  });

  test("a position is liquidated by the other server when the one that it was opened on is killed", async () => {
    const [trader] = strategies;
    if (!trader) throw new Error("strategies were made");
    await open(first.url, trader, "50");
    await first.kill();
    market.setPrice(SYMBOL, { ...market.price(SYMBOL), mark: (mark * 0.95).toFixed(8) });
    await flat(second.url, trader);
    expect(await typesOf(second.url, trader)).toEqual(["MARKET", "LIQUIDATION"]);
    await expectTwoTrades(second.url, trader);
  });

  test("a settlement of funding is applied once to everybody who holds the contract", {
    timeout: SETTLED_TEST_MS_MAX,
  }, async () => {
    const { at } = market.settle(SYMBOL, Date.now() + SETTLED_IN_MS, "0.00010000");
    await eventually(
      "both servers have applied it",
      () => [first, second].every((gateway) => gateway.output().includes("funding is settled")),
      { msMax: SETTLED_MS_MAX, askAgainMs: ASK_AGAIN_MS },
    );
    for (const { url } of [first, second]) {
      for (const holder of holders) {
        const payments = await ask(url, holder, "v1/income", { incomeType: "FUNDING_FEE" });
        expect(payments).toMatchObject([{ time: at, symbol: SYMBOL }]);
      }
    }
  });
});

async function open(url: string, trader: Credentials, leverage: string): Promise<void> {
  const order = { symbol: SYMBOL, side: "BUY", type: "MARKET", quantity: 1_000, leverage };
  const { status, body } = await priced(() => signed(url, trader, "POST", "/fapi/v1/order", order));
  expect({ status, body }).toMatchObject({ status: 200, body: { status: "FILLED" } });
}

async function placeStop(url: string, trader: Credentials, price: number): Promise<void> {
  const leg = {
    ...{ symbol: SYMBOL, side: "SELL", type: "STOP_MARKET", closePosition: "true" },
    stopPrice: price.toFixed(5),
  };
  const { status, body } = await priced(() => signed(url, trader, "POST", "/fapi/v1/algoOrder", leg));
  expect({ status, body }).toMatchObject({ status: 200, body: { algoStatus: "NEW" } });
}

async function flat(url: string, trader: Credentials): Promise<void> {
  await eventually(
    "the position is gone",
    async () => (await ask(url, trader, "v3/positionRisk")).length === 0,
    { msMax: LATE_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
}

/** The types of all orders, in the order of their ids. */
async function typesOf(url: string, trader: Credentials): Promise<string[]> {
  const orders = await ask(url, trader, "v1/allOrders", { symbol: SYMBOL });
  return orders.map(({ type }: { type: string }) => type);
}

/** In, and out once. */
async function expectTwoTrades(url: string, trader: Credentials): Promise<void> {
  const trades = await ask(url, trader, "v1/userTrades", { symbol: SYMBOL });
  expect(trades).toMatchObject([
    { buyer: true, qty: "1000" },
    { buyer: false, qty: "1000" },
  ]);
}

async function ask(url: string, trader: Credentials, path: string, parameters = {}) {
  const { status, body } = await signed(url, trader, "GET", `/fapi/${path}`, parameters);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}
