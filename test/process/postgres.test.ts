// The real program on a PostgreSQL database: DATABASE_URL is all it takes, what was answered is there after a
// restart, and a database that goes away costs answers, never a trade.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { Client, escapeIdentifier } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { botClient } from "../support/bot-client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, newDirectory, runNode, startGateway } from "../support/servers/gateway.ts";
import {
  hasPostgresPrograms,
  PASSWORD,
  type PostgresServer,
  postgresTitle,
  startPostgres,
} from "../support/servers/postgres.ts";
import { MARKET_BUY, restingPriceOf, spotTrader, symbol } from "../support/spot-trader.ts";

const RETRY_AFTER = /^[1-9][0-9]*$/;
/**
 * A database that is back is asked again with the next request; a busy machine may take a while to start it.
 */
const BACK_MS_MAX = 20_000;
/** One request a second, so that a wait leaves most of the budgets. */
const ASK_AGAIN_MS = 1_000;

describe.skipIf(!hasPostgresPrograms)(postgresTitle("a gateway on PostgreSQL"), () => {
  let database: PostgresServer;
  let url: string;
  const start = async (options: { readonly dataDir?: string } = {}): Promise<GatewayProcess> => {
    const gateway = await startGateway({ ...options, env: { DATABASE_URL: url } });
    onTestFinished(() => gateway.kill());
    return gateway;
  };

  beforeAll(async () => {
    const started = await startPostgres();
    if (started === null) throw new Error("where there are programs there is a server");
    database = started;
  });
  beforeEach(async () => {
    url = await database.newDatabase();
  });
  afterAll(() => database.stop());

  test("has its trades after a restart, and open orders stay open", async () => {
    const first = await start();
    await eventually("the demo's keys are printed", () => /apiKey {2}lyre_bot_/.test(first.output()));
    const strategy = first.seed();
    const trader = spotTrader(first.url, strategy);
    const bought = await trader.place({ ...MARKET_BUY, newClientOrderId: "mine" });
    expect(bought).toMatchObject({ status: 200, body: { status: "FILLED", orderId: 1 } });
    const price = await restingPriceOf(first.url);
    const rests = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price };
    expect(await trader.place(rests)).toMatchObject({ status: 200, body: { status: "NEW", orderId: 2 } });
    const before = (await trader.account()).body.balances;
    expect(await first.stop()).toBe(0);

    const second = await start({ dataDir: first.dataDir });
    expect(second.output()).toContain("Lyrebird listens on");
    const metrics = await (await fetch(`${second.url}/metrics`)).text();
    expect(metrics).toMatch(/^lyrebird_database_waits_for_standby 0$/m);
    expect(metrics).toMatch(/^lyrebird_slots_own 256$/m);
    expect(metrics).toMatch(/^lyrebird_slots_unloaded 0$/m);
    await eventually("the start says what rests", () => /Watching +1 order$/m.test(second.output()));
    const again = spotTrader(second.url, strategy);
    expect((await again.account()).body.balances).toEqual(before);
    expect((await again.myTrades({ symbol })).body).toMatchObject([{ orderId: 1, isBuyer: true }]);
    expect((await again.openOrders({ symbol })).body).toMatchObject([{ orderId: 2 }]);
    const repeated = await again.place({ ...MARKET_BUY, newClientOrderId: "mine" });
    expect(repeated).toMatchObject({ status: 200, body: { orderId: 1 } });
    expect(await second.stop()).toBe(0);
  });

  test("needs the database's own master key, and makes none beside it", async () => {
    const first = await start();
    await first.stop();
    const dataDir = newDirectory();
    const serve = () => runNode(["src/main.ts", "--port", "0", "--data", dataDir], { DATABASE_URL: url });
    // Twice: the first refusal must have left no key behind.
    for (const refused of [serve(), serve()]) {
      expect(refused.status).toBe(2);
      expect(refused.stderr).toMatch(/has been used with a master key.*copy it from the server/);
      expect(refused.stderr).not.toContain(PASSWORD);
    }
    copyFileSync(join(first.dataDir, "master.key"), join(dataDir, "master.key"));
    const second = await start({ dataDir });
    expect(await second.stop()).toBe(0);
  });

  test("is looked after by the operator's commands, which make no tables in a database that is not ours", async () => {
    const gateway = await start();
    const { apiKey } = gateway.seed();
    const lyrebird = (...args: string[]) =>
      runNode(["src/cli.ts", ...args, "--data", gateway.dataDir], { DATABASE_URL: url });
    expect(lyrebird("keys", "list").stdout).toContain(apiKey);
    expect(lyrebird("keys", "revoke", apiKey)).toMatchObject({ status: 0, stderr: "" });
    expect(lyrebird("audit").stdout).toMatch(new RegExp(`KEY_REVOKED +${apiKey}`));
    const unknown = lyrebird("keys", "revoke", "nobody's");
    expect(unknown.stderr).toMatch(/no such key in the database 127\.0\.0\.1:\d+\/lyrebird/);
    const other = await database.newDatabase();
    const looked = runNode(["src/cli.ts", "keys", "list"], { DATABASE_URL: other });
    expect(looked).toMatchObject({ status: 2, stdout: "" });
    expect(looked.stderr).toMatch(/holds nothing of Lyrebird/);
    expect(unknown.stderr + looked.stderr).not.toContain(PASSWORD);
  });

  test("answers 503 while the database is away, and needs no restart when it is back", async () => {
    const gateway = await start();
    const trader = spotTrader(gateway.url, gateway.seed());
    expect(await trader.place(MARKET_BUY)).toMatchObject({ status: 200 });
    onTestFinished(() => database.restart());
    await database.kill();
    for (const answer of [await trader.account(), await trader.place(MARKET_BUY)]) {
      expect(answer).toMatchObject({ status: 503, body: { code: -1008 } });
      expect(answer.headers.get("retry-after")).toMatch(RETRY_AFTER);
    }
    await database.restart();
    const isBack = async () => (await trader.account()).status === 200;
    await eventually("the account is read again", isBack, { msMax: BACK_MS_MAX, askAgainMs: ASK_AGAIN_MS });
    expect(await trader.place(MARKET_BUY)).toMatchObject({ status: 200, body: { orderId: 2 } });
    expect((await trader.myTrades({ symbol })).body).toHaveLength(2);
    expect(gateway.output()).not.toContain(PASSWORD);
    expect(await gateway.stop()).toBe(0);
  });

  test("serves reads and answers writes 503 while the database is read-only, and needs no restart when it is not", async () => {
    const gateway = await start();
    const strategy = gateway.seed();
    const trader = spotTrader(gateway.url, strategy);
    expect(await trader.place(MARKET_BUY)).toMatchObject({ status: 200 });
    const bot = botClient(gateway.url, strategy);
    const order = { symbol, tradeType: "BUY", orderType: "MARKET", quantity: "0.0001" };

    const little = { ...MARKET_BUY, quantity: "0.0001" };
    await setReadOnly(true);
    const isRead = async () => (await trader.account()).status === 200;
    await eventually("reads go on", isRead, { msMax: BACK_MS_MAX, askAgainMs: ASK_AGAIN_MS });
    for (let round = 0; round < 2; round += 1) {
      const refused = await trader.place({ ...MARKET_BUY, newClientOrderId: "again" });
      expect(refused).toMatchObject({ status: 503, body: { code: -1008 } });
      expect(refused.headers.get("retry-after")).toMatch(RETRY_AFTER);
      expect(await bot.submit(order, "a key")).toMatchObject({ status: 503, body: { status: false } });
      expect(await trader.account()).toMatchObject({ status: 200 });
      expect((await trader.myTrades({ symbol })).body).toHaveLength(1);
      expect((await bot.signals()).body).toMatchObject({ status: true, data: [] });
    }
    // A server that is started during the outage serves reads as well.
    const second = await start({ dataDir: copyOfKey(gateway) });
    const elsewhere = spotTrader(second.url, strategy);
    expect((await elsewhere.myTrades({ symbol })).body).toHaveLength(1);
    expect(await elsewhere.place(little)).toMatchObject({ status: 503, body: { code: -1008 } });

    await setReadOnly(false);
    const place = () => trader.place({ ...MARKET_BUY, newClientOrderId: "again" });
    const isBack = async () => (await place()).status === 200;
    await eventually("orders are taken again", isBack, { msMax: BACK_MS_MAX, askAgainMs: ASK_AGAIN_MS });
    expect(await place()).toMatchObject({ status: 200, body: { orderId: 2 } });
    await eventually(
      "signals are taken again",
      async () => (await bot.submit(order, "a key")).body.status === "EXECUTED",
      { msMax: BACK_MS_MAX, askAgainMs: ASK_AGAIN_MS },
    );
    expect((await elsewhere.myTrades({ symbol })).body).toHaveLength(3);
    await eventually(
      "the other server takes orders",
      async () => (await elsewhere.place(little)).status === 200,
      {
        msMax: BACK_MS_MAX,
        askAgainMs: ASK_AGAIN_MS,
      },
    );
    expect(gateway.output()).not.toMatch(/the store failed/);
    expect(await gateway.stop()).toBe(0);
    expect(await second.stop()).toBe(0);
  });

  /**
   * As a managed service does whose disk is nearly full; it ends the sessions, since a session keeps what it
   * began with, and resolves when they have ended.
   */
  async function setReadOnly(isReadOnly: boolean): Promise<void> {
    const admin = await connect(database.url);
    const name = new URL(url).pathname.slice(1);
    await admin.query(
      `ALTER DATABASE ${escapeIdentifier(name)} SET default_transaction_read_only = ${isReadOnly ? "on" : "off"}`,
    );
    if (isReadOnly) {
      const { rows } = await admin.query(
        "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
        [name],
      );
      const pids = rows.map(({ pid }) => pid);
      await eventually("the sessions have ended", async () => {
        const left = await admin.query("SELECT FROM pg_stat_activity WHERE pid = ANY($1)", [pids]);
        return left.rowCount === 0;
      });
    }
    await admin.end();
  }

  function copyOfKey({ dataDir }: GatewayProcess): string {
    const copy = newDirectory();
    copyFileSync(join(dataDir, "master.key"), join(copy, "master.key"));
    return copy;
  }
});

/** A connection that is lost with its server. */
async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
