// Two real gateways on one PostgreSQL database, and a browser that is connected to one of them: it receives
// the other's commits, also those that leave no open order, which the servers do not announce to each other.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { makePerson } from "../../src/people/made-people.ts";
import { Browser } from "../support/dashboard/client.ts";
import { farBelow } from "../support/exact.ts";
import { priced } from "../support/prices.ts";
import { newDirectory, startGateway } from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import { send, signed } from "../support/signed-client.ts";
import { openStream } from "../support/sockets/stream-client.ts";

const EMAIL = "ada@example.org";
const PASSWORD = "seven lyrebirds sing at dusk";
const ALL_PARTS = ["account", "orders", "legs", "positions", "trades", "signals", "status"];

describe.skipIf(!hasPostgres)(postgresTitle("a browser and two servers on one PostgreSQL database"), () => {
  let server: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("there are programs, so there is a server");
    server = opened;
  });
  afterAll(() => server?.stop());

  test("an order that the other filled at once is announced, and so is an open one", async () => {
    const databaseUrl = await server.newDatabase();
    const [firstDir, secondDir] = [newDirectory(), newDirectory()];
    const start = async (dataDir: string) => {
      const gateway = await startGateway({ dataDir, env: { DATABASE_URL: databaseUrl, SIM_SEED: "7" } });
      onTestFinished(() => gateway.kill());
      return gateway;
    };
    const first = await start(firstDir);
    copyFileSync(join(firstDir, "master.key"), join(secondDir, "master.key"));
    const second = await start(secondDir);
    const bot = await traderOf(firstDir, databaseUrl);

    const browser = new Browser(first.url, { wallNow: () => Date.now(), pass: () => {} });
    await browser.signIn(EMAIL, PASSWORD);
    const headers = { cookie: browser.cookies(), origin: first.url };
    const client = openStream(
      first.url,
      "/dashboard",
      { apiKey: "", apiSecret: "" },
      { auth: null, headers },
    );
    onTestFinished(() => client.close());
    await client.next("connect");
    const { strategyId } = bot;
    expect(await client.socket.emitWithAck("watch", { strategyId })).toBeNull();

    const order = { symbol: "DOGEUSDT", side: "BUY", quantity: "60" };
    const buyAt = (url: string) =>
      priced(() => signed(url, bot, "POST", "/api/v3/order", { ...order, type: "MARKET" }));
    const filled = await buyAt(second.url);
    expect(filled.body).toMatchObject({ status: "FILLED" });
    expect(await client.next("changed")).toEqual({ strategyId, what: ALL_PARTS });
    const { body: ticker } = await send(second.url, "GET", "/api/v3/ticker/price?symbol=DOGEUSDT");
    const resting = await signed(second.url, bot, "POST", "/api/v3/order", {
      ...{ ...order, quantity: "200", type: "LIMIT", timeInForce: "GTC", price: farBelow(ticker.price) },
    });
    expect(resting.body).toMatchObject({ status: "NEW" });
    expect(await client.next("changed")).toEqual({ strategyId, what: ALL_PARTS });
    const own = await buyAt(first.url);
    expect(own.body).toMatchObject({ status: "FILLED" });
    const { what } = await client.next("changed");
    expect(what).toEqual(expect.arrayContaining(["account", "orders", "trades"]));
  });
});

/** A trader with a spot strategy, made by a third process with the master key of the others. */
async function traderOf(masterKeyOf: string, databaseUrl: string) {
  const directory = newDirectory();
  copyFileSync(join(masterKeyOf, "master.key"), join(directory, "master.key"));
  const { store, master } = await openDataDirectory(directory, null, databaseUrl);
  try {
    const at = Date.now();
    const ownerId = await makePerson(
      store.people,
      { email: EMAIL, name: "Ada", role: "PERSON", profile: "TRADER", kyc: "APPROVED" },
      { password: PASSWORD, who: { kind: "SERVICE" }, what: "SIGNED_UP", at },
    );
    const [bot] = await seedStrategies(store, master, ["SPOT"], at, { ownerId });
    if (bot === undefined) throw new Error("one strategy was asked for");
    return bot;
  } finally {
    await store.close();
  }
}
