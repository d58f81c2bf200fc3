// Two real servers on one PostgreSQL database, one of which is taken out as docs/operations.md says: behind a
// load balancer with orders under way, so that no request of a client may fail, and after it has lost its
// market. The load balancer is HAProxy with the configuration of that page, and one of the test's own that
// checks in the same way.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { SLOTS } from "../../src/domain/strategy.ts";
import { createMasterKey, readMasterKey } from "../../src/keys/master-key.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { roundTripMsMax } from "../../src/market/client/symbols/exchange-clock.ts";
import { makePerson } from "../../src/people/made-people.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { endedFaults, startTraders } from "../campaigns/crash/insistent-trader.ts";
import { seedBothProfiles } from "../campaigns/harness/receipts.ts";
import { openSteeredMarket, type SteeredMarket } from "../campaigns/harness/steered-market.ts";
import { openRows } from "../campaigns/harness/stored-rows.ts";
import { Browser } from "../support/dashboard/client.ts";
import { eventually } from "../support/eventually.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  startGateway,
} from "../support/servers/gateway.ts";
import {
  type Databases,
  freePort,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../support/servers/postgres.ts";
import { send, signed } from "../support/signed-client.ts";
import { symbol } from "../support/spot-trader.ts";

const TRADERS = 8;
/** Acknowledged orders of all traders before the drain, after it and after the return. */
const ORDERS_EACH_TIME = 24;
/**
 * Faster than in docs/operations.md: checks, and a drain that outlasts two failed ones. A check fails when it
 * takes longer than this interval, and `/readyz` waits up to a second for the store.
 */
const CHECK_MS = 1_500;
const CHECKS_FAILED = 2;
const DRAIN_SECONDS = "20";
/** Of the traders: a request that waits on a busy machine is not refused for that. */
const RECV_WINDOW_MS = 30_000;
/** Leaves most of the budgets unused while waiting. */
const ASK_AGAIN_MS = 400;
/** Enough that each server surely owns one of them. */
const HOLDERS = 20;
const OPERATIONS = join(import.meta.dirname, "../../docs/operations.md");

const hasHaproxy = spawnSync("haproxy", ["-v"]).status === 0;

type Servers = readonly [string, string];

describe.skipIf(!hasPostgres)(postgresTitle("a server behind a load balancer"), () => {
  let databases: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("there are programs, so there is a server");
    databases = opened;
  });
  afterAll(() => databases?.stop());

  test("is taken out and comes back without an error of any client", async () => {
    await withoutError(balancedHere);
  });

  test.skipIf(!hasHaproxy)(
    `is taken out and comes back without an error of any client of HAProxy, and people sign in through it${hasHaproxy ? "" : " (skipped: no HAProxy; Debian: haproxy)"}`,
    async () => {
      const { store, url } = await withoutError(balancedByHaproxy);
      const [email, password] = ["ada@example.org", "seven lyrebirds sing at dusk"];
      await makePerson(
        store.people,
        { email, name: "Ada", role: "PERSON", profile: "TRADER", kyc: "APPROVED" },
        { password, who: { kind: "SERVICE" }, what: "SIGNED_UP", at: Date.now() },
      );
      const browser = new Browser(url, { wallNow: () => Date.now(), pass: () => {} });
      await browser.signIn(email, password);
      expect(browser.cookies()).not.toBe("");
    },
  );

  /**
   * `balance` answers where clients send requests, which may change, given the servers and the address that
   * they name as their own. Answers the database's store and that address.
   */
  async function withoutError(balance: (servers: Servers, url: string) => Promise<readonly string[]>) {
    const url = `http://127.0.0.1:${await freePort()}`;
    const databaseUrl = await databases.newDatabase();
    const [dataDir, otherDir] = [newDirectory(), newDirectory()];
    createMasterKey(join(dataDir, "master.key"));
    copyFileSync(join(dataDir, "master.key"), join(otherDir, "master.key"));
    const store = await openPostgresStore(databaseUrl);
    onTestFinished(() => store.close());
    const types = Array.from({ length: TRADERS }, () => "SPOT" as const);
    const master = readMasterKey(join(dataDir, "master.key"));
    const strategies = await seedBothProfiles(store, master, types);
    const env = {
      ...{ DATABASE_URL: databaseUrl, SIM_SEED: "7" },
      ...{ PUBLIC_URL: url, TRUSTED_PROXY_HOPS: "1", DRAIN_SECONDS },
    };
    // A server says that it listens on PUBLIC_URL.
    const start = async (directory: string, port: number): Promise<GatewayProcess> => {
      const server = await startGateway({ dataDir: directory, env, args: ["--port", `${port}`] });
      onTestFinished(() => server.kill());
      return { ...server, url: `http://127.0.0.1:${port}` };
    };
    const [port, otherPort] = [await freePort(), await freePort()];
    const [first, second] = await Promise.all([start(dataDir, port), start(otherDir, otherPort)]);
    const traders = await startTraders(strategies, await balance([first.url, second.url], url), {
      recvWindow: RECV_WINDOW_MS,
    });
    const failed = traders.working.then(() => {
      throw new Error("the traders have stopped");
    });
    const isSo = (what: string, holds: () => boolean | Promise<boolean>) =>
      Promise.race([eventually(what, holds, { askAgainMs: ASK_AGAIN_MS }), failed]);
    const areAcknowledged = async () => {
      const before = traders.orders();
      await isSo("orders are acknowledged", () => traders.orders() >= before + ORDERS_EACH_TIME);
    };
    await areAcknowledged();
    // A load balancer may have found one of them too slow in the beginning.
    for (const { url } of [first, second])
      await isSo("each gets orders", async () => (await placementsAt(url)) > 0);

    const unpriced = traders.unpriced();
    first.process.kill("SIGTERM");
    expect(await Promise.race([first.exited, failed])).toBe(0);
    await isSo("the other has all slots", async () => (await slotsAt(second)).own === SLOTS);
    await areAcknowledged();
    // Only a server that has just started may lack prices.
    expect(traders.unpriced()).toBe(unpriced);

    const again = await start(dataDir, port);
    await isSo("it gets orders again", async () => (await placementsAt(again.url)) > 0);
    await areAcknowledged();
    await traders.stop();
    expect(traders.takeCounts()).toEqual({ acknowledged: traders.orders(), sentAgain: 0 });
    const db = openRows({ dataDir, databaseUrl });
    onTestFinished(() => db.destroy());
    expect([...endedFaults([second, again]), ...(await traders.check({ store, db })).faults]).toEqual([]);
    return { store, url };
  }
});

test.skipIf(!hasPostgres)(
  postgresTitle(
    "a server that alone has lost its market says so, keeps its slots until it is stopped, and leaves nothing unfilled",
  ),
  async () => {
    const databases = await openPostgres();
    if (databases === null) throw new Error("there are programs, so there is a server");
    onTestFinished(() => databases.stop());
    const databaseUrl = await databases.newDatabase();
    const [lostDir, otherDir] = [newDirectory(), newDirectory()];
    const [lost, market] = [await openSteeredMarket(), await openSteeredMarket()];
    onTestFinished(() => market.close());
    const [present, limit, reached] = [shownAt("100000"), "99000.00", shownAt("98000")];
    for (const each of [lost, market]) each.setPrice(symbol, present);
    const start = async (dataDir: string, { env }: SteeredMarket) => {
      const server = await startGateway({ dataDir, env: { DATABASE_URL: databaseUrl, ...env } });
      onTestFinished(() => server.kill());
      return server;
    };
    createMasterKey(join(lostDir, "master.key"));
    copyFileSync(join(lostDir, "master.key"), join(otherDir, "master.key"));
    const [first, second] = await Promise.all([start(lostDir, lost), start(otherDir, market)]);
    await eventually("each has half of the slots", async () => {
      const owned = await Promise.all([first, second].map(slotsAt));
      return owned.every(({ own, unloaded }) => own === SLOTS / 2 && unloaded === 0);
    });
    const store = await openPostgresStore(databaseUrl);
    onTestFinished(() => store.close());
    const types = Array.from({ length: HOLDERS }, () => "SPOT" as const);
    const master = readMasterKey(join(lostDir, "master.key"));
    const orders: { readonly strategy: Credentials; readonly orderId: number }[] = [];
    for (const strategy of await seedStrategies(store, master, types, Date.now())) {
      const terms = {
        symbol,
        side: "BUY",
        type: "LIMIT",
        timeInForce: "GTC",
        quantity: "0.001",
        price: limit,
      };
      const { status, body } = await signed(second.url, strategy, "POST", "/api/v3/order", terms);
      expect({ status, body }).toMatchObject({ status: 200, body: { status: "NEW" } });
      orders.push({ strategy, orderId: body.orderId });
    }
    const statuses = async () => {
      const ask = async ({ strategy, orderId }: (typeof orders)[number]) =>
        (await signed(second.url, strategy, "GET", "/api/v3/order", { symbol, orderId })).body.status;
      return await Promise.all(orders.map(ask));
    };
    await lost.close();
    await eventually("it says that it is not ready", async () => {
      const { status, body } = await send(first.url, "GET", "/readyz");
      return status === 503 && body.checks.spotMarket === "not connected";
    });
    market.setPrice(symbol, reached);
    const isOneFilled = async () => (await statuses()).includes("FILLED");
    await eventually("the other fills its orders", isOneFilled, { askAgainMs: ASK_AGAIN_MS });
    // A server's market time is wrong by half of this at most: trades follow even the orders that seem late.
    const until = Date.now() + roundTripMsMax;
    await eventually("trades follow all orders", () => Date.now() > until, { askAgainMs: ASK_AGAIN_MS });
    market.setPrice(symbol, present);
    const connected = 'lyrebird_feed_connected{family="SPOT"}';
    expect([await gauge(first.url, connected), await gauge(second.url, connected)]).toEqual([0, 1]);
    expect(await slotsAt(first)).toEqual({ own: SLOTS / 2, unloaded: 0 });
    expect(await statuses()).toContain("NEW");
    expect(await first.stop()).toBe(0);
    const areFilled = async () => (await statuses()).every((status) => status === "FILLED");
    await eventually("all orders are filled", areFilled, { askAgainMs: ASK_AGAIN_MS });
    await eventually("the other has loaded all slots", async () => {
      const { own, unloaded } = await slotsAt(second);
      return own === SLOTS && unloaded === 0;
    });
  },
);

function shownAt(bid: string) {
  return { bid: `${bid}.00`, ask: `${bid}.01` };
}

async function slotsAt({ url }: GatewayProcess) {
  return {
    own: await gauge(url, "lyrebird_slots_own"),
    unloaded: await gauge(url, "lyrebird_slots_unloaded"),
  };
}

/** Checks servers as HAProxy does, and answers those that are ready: clients take them by turns. */
async function balancedHere(servers: Servers): Promise<readonly string[]> {
  const ready: string[] = [...servers];
  const failed = new Map<string, number>();
  const check = async (url: string) => {
    const answer = await fetch(`${url}/readyz`, { headers: { connection: "close" } }).catch(() => null);
    failed.set(url, answer?.status === 200 ? 0 : (failed.get(url) ?? 0) + 1);
    const up = servers.filter((each) => (failed.get(each) ?? 0) < CHECKS_FAILED);
    // Both are slow on a busy machine: there is no better one to send requests to.
    if (up.length > 0) ready.splice(0, servers.length, ...up);
  };
  const timer = setInterval(() => void Promise.all(servers.map(check)), CHECK_MS);
  onTestFinished(() => clearInterval(timer));
  return ready;
}

/** Starts HAProxy with the configuration of docs/operations.md for these servers, at an address. */
async function balancedByHaproxy(servers: Servers, url: string): Promise<readonly string[]> {
  const page = readFileSync(OPERATIONS, "utf8");
  const documented = /```\n(defaults\n[^`]*\nfrontend lyrebird\n[^`]*)```/.exec(page)?.[1];
  if (documented === undefined) throw new Error("docs/operations.md has a configuration of HAProxy");
  const started = page.match(/^ +PUBLIC_URL=http:\/\/127\.0\.0\.1:8080 .* --port 808\d/gm) ?? [];
  if (started.length !== 3) throw new Error("its servers are started with the load balancer's address");
  const address = new URL(url).host;
  const [first, second] = servers.map((url) => new URL(url).host);
  const changes = [
    ["bind 127.0.0.1:8080", `bind ${address}`],
    ["127.0.0.1:8081", first],
    ["127.0.0.1:8082", second],
    ["inter 5s", `inter ${CHECK_MS}ms`],
    [`fall ${CHECKS_FAILED}`, `fall ${CHECKS_FAILED}`],
    [/^ {2}server three.*\n/gm, ""],
  ] as const;
  let text = documented;
  for (const [from, to = ""] of changes) {
    if (text.search(from) < 0) throw new Error(`the documented configuration has ${from}`);
    text = text.replaceAll(from, to);
  }
  const file = join(newDirectory(), "haproxy.cfg");
  writeFileSync(file, text);
  const haproxy = spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  haproxy.stderr.on("data", (said) => {
    output += said;
  });
  const exited = once(haproxy, "exit");
  onTestFinished(async () => {
    haproxy.kill("SIGKILL");
    await exited;
  });
  await Promise.race([
    eventually("HAProxy forwards", async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok === true),
    exited.then(() => {
      throw new Error(`HAProxy has ended:\n${output}`);
    }),
  ]);
  return [url];
}

/** How many placements of orders a server has answered since its start. */
async function placementsAt(url: string): Promise<number> {
  return await gauge(
    url,
    'lyrebird_http_request_duration_seconds_count{method="POST",route="/api/v3/order",status="2xx"}',
  );
}

/** What a server's metrics say; 0 if they have no such line. */
async function gauge(url: string, name: string): Promise<number> {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0);
}
