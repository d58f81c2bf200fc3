// A PostgreSQL database that is lost for good while a commit waits: the program ends, and says why. It waits
// for the database for a minute first.
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startGateway } from "../support/servers/gateway.ts";
import { hasPostgresPrograms, PASSWORD, postgresTitle, startPostgres } from "../support/servers/postgres.ts";
import { MARKET_BUY, spotTrader, symbol } from "../support/spot-trader.ts";

const TITLE = "a gateway stops, with the reason, when the database is lost under a commit";
/** The gateway waits for its database for a minute of it, ms. */
const TEST_MS_MAX = 240_000;

test.skipIf(!hasPostgresPrograms)(postgresTitle(TITLE), { timeout: TEST_MS_MAX }, async () => {
  const database = await startPostgres();
  if (database === null) throw new Error("where there are programs there is a server");
  onTestFinished(() => database.stop());
  const url = await database.newDatabase();
  const gateway = await startGateway({ env: { DATABASE_URL: url } });
  onTestFinished(() => gateway.kill());
  const strategy = gateway.seed();
  const [holder, watcher] = [await connect(url), await connect(url)];
  await holder.query("BEGIN");
  await holder.query("SELECT 1 FROM strategies WHERE id = $1 FOR UPDATE", [strategy.strategyId]);
  const placed = spotTrader(gateway.url, strategy)
    .place(MARKET_BUY)
    .catch(() => null);
  await eventually("the commit waits", async () => {
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    return (await watcher.query(waiting)).rowCount === 1;
  });
  await database.kill();
  expect(await gateway.exited).toBe(1);
  expect((await placed)?.status ?? 503).toBe(503);
  expect(gateway.output()).toMatch(/a commit failed: .*the store failed; stopping/s);
  expect(gateway.output()).not.toContain(PASSWORD);

  await database.restart();
  const next = await startGateway({ dataDir: gateway.dataDir, env: { DATABASE_URL: url } });
  onTestFinished(() => next.kill());
  const trader = spotTrader(next.url, strategy);
  expect((await trader.myTrades({ symbol })).body).toEqual([]);
  expect(await trader.place(MARKET_BUY)).toMatchObject({ status: 200, body: { orderId: 1 } });
});

/** A connection that is lost with its server. */
async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
