// Two real gateways on one PostgreSQL database, with one master key and the same simulated market: each
// answers for what the other has done, and watches the orders of its slots; nothing happens twice.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import type { FillProfile } from "../../src/domain/fill-profile.ts";
import { slotOf } from "../../src/domain/strategy.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { createSimulatedSources } from "../../src/market/simulated/source.ts";
import { eventually } from "../support/eventually.ts";
import { balancesAfter, type Fill, farBelow, units } from "../support/exact.ts";
import { priced } from "../support/prices.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  runNode,
  startGateway,
} from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import { send, signed } from "../support/signed-client.ts";

/** A price that is coming lies this far ahead, ms: time to place an order, to kill and to cut. */
const AHEAD_MS_MIN = 4_000;
const AHEAD_MS_MAX = 40_000;
const SAMPLE_MS = 100;
/**
 * How long after its price an order may be filled, ms: the lease of a killed server (6 s) and the next
 * renewal (2 s), a second until the trades are known and one repeated request (5 s); doubled for a busy
 * machine.
 */
const LATE_MS_MAX = 30_000;
/** Two prices one after the other, as late as they may be, and servers that start, ms. */
const TWO_ORDERS_MS_MAX = 240_000;
/** Of what a server has printed this much is shown when a test fails, characters. */
const SHOWN_MAX = 4_000;
/** How soon a server that joins has its share of the slots, ms: in 10 s; the rest is for a busy machine. */
const SHARED_MS_MAX = 45_000;
const MINUTE_MS = 60_000;
/** Leaves most of the budgets unused while waiting. */
const ASK_AGAIN_MS = 400;
/** The same where a request has twenty times the weight. */
const COMPARED_AGAIN_MS = 2_000;

/** Pairs enough that one of them is about to get cheaper, and quantities that cost some ten dollars. */
const QUANTITIES: Readonly<Record<string, string>> = {
  ...{ BTCUSDT: "0.0002", ETHUSDT: "0.008", BNBUSDT: "0.025", XRPUSDT: "15", DOGEUSDT: "200", ADAUSDT: "90" },
  ...{ TRXUSDT: "45", LINKUSDT: "1.8", AVAXUSDT: "2.2", ARBUSDT: "160", UNIUSDT: "4" },
};

/** The tests take about two minutes, and six on a slow machine, ms. */
const TESTS_MS_MAX = 720_000;
const LOOK_EVERY_MS = 2_000;

/**
 * The simulated market is a function of its seed and of time: the first seed by which some pair always gets
 * cheaper soon.
 */
const SEED = seedWithLows(Date.now());
const { SPOT: MARKET } = createSimulatedSources(SEED);

function seedWithLows(now: number): string {
  for (let seed = 7; ; seed += 1) {
    const { SPOT: spot } = createSimulatedSources(String(seed));
    let at = now;
    while (at < now + TESTS_MS_MAX && nextLow(spot, at) !== null) at += LOOK_EVERY_MS;
    if (at < now + TESTS_MS_MAX) continue;
    console.log(`seed ${seed} of the simulated market, at ${now}`);
    return String(seed);
  }
}

type Pair = {
  readonly first: GatewayProcess;
  readonly second: GatewayProcess;
  readonly databaseUrl: string;
  /** Starts another one, as the first was. */
  restartFirst(): Promise<GatewayProcess>;
  startThird(): Promise<GatewayProcess>;
  newStrategies(count: number, profile?: FillProfile): Promise<Credentials[]>;
};

describe.skipIf(!hasPostgres)(postgresTitle("two servers on one PostgreSQL database"), () => {
  let server: Databases;
  let pair: Pair;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("there are programs, so there is a server");
    server = opened;
    pair = await startPair(await server.newDatabase());
  });
  afterAll(async () => {
    await pair?.first.stop();
    await pair?.second.stop();
    await server?.stop();
  });

  test("an order of a server that is killed is filled by the other, once, and once it stays", {
    timeout: TWO_ORDERS_MS_MAX,
  }, async () => {
    const { first, second, databaseUrl, restartFirst, newStrategies } = await ownPair();
    const traders = await ofBothOwners(databaseUrl, newStrategies);
    const [trader] = traders;
    const orders: Placed[] = [];
    for (const each of traders) orders.push(await placeAhead(first.url, each));
    const [placed] = orders;
    if (trader === undefined || placed === undefined) throw new Error("each owner has a strategy");
    await first.kill();
    for (const [index, order] of orders.entries()) {
      const owner = traders[index] ?? trader;
      await filled(second.url, owner, order);
      await expectFilledOnce(second.url, owner, order);
    }
    const again = await restartFirst();
    onTestFinished(() => again.kill());
    for (const { url } of [second, again]) await expectFilledOnce(url, trader, placed);
    const { body } = await placeFarBelow(again.url, trader);
    expect(body).toMatchObject({ orderId: placed.orderId + 1, status: "NEW" });
  });

  test("a server that is stopped for longer than its lease repeats nothing when it goes on, and takes part again", {
    timeout: TWO_ORDERS_MS_MAX,
  }, async () => {
    const { first, second, databaseUrl, newStrategies } = await ownPair();
    const traders = await ofBothOwners(databaseUrl, newStrategies);
    const orders: Placed[] = [];
    for (const trader of traders) orders.push(await placeAhead(second.url, trader));
    const expectAllFilledOnce = async (url: string) => {
      for (const [index, trader] of traders.entries()) {
        const order = orders[index];
        if (order === undefined) throw new Error("every trader has placed an order");
        await filled(url, trader, order);
        await expectFilledOnce(url, trader, order);
      }
    };
    first.process.kill("SIGSTOP");
    await eventually("the other one owns all slots", async () => (await sharesOf(databaseUrl)).length === 1, {
      askAgainMs: ASK_AGAIN_MS,
    });
    const secondId = (await sharesOf(databaseUrl))[0]?.server;
    await expectAllFilledOnce(second.url);
    // It has the triggers of before, and learns at its next renewal what it has lost.
    first.process.kill("SIGCONT");
    const again = await ofBothOwners(databaseUrl, newStrategies);
    for (const { url } of [first, second]) await expectAllFilledOnce(url);
    expect(await rowsOf(databaseUrl, "SELECT FROM journal WHERE key LIKE 'fill:%'")).toHaveLength(2);
    // What it owns now it fills alone.
    const owners = await Promise.all(again.map((trader) => ownerOf(databaseUrl, trader)));
    const trader = again[owners.findIndex((owner) => owner !== secondId)];
    if (trader === undefined) throw new Error("each owner has a strategy");
    const order = await placeAhead(first.url, trader);
    await second.kill();
    await filled(first.url, trader, order);
    await expectFilledOnce(first.url, trader, order);
  });

  test("a server that joins has its share of the slots soon, and all are loaded", async () => {
    const { first, second, databaseUrl, newStrategies, startThird } = await ownPair();
    const traders = await ofBothOwners(databaseUrl, newStrategies);
    for (const trader of traders) await placeFarBelow(first.url, trader);
    const hasJoined = eventually(
      "there is a third server",
      async () => (await ask(databaseUrl, "SELECT FROM servers")) === 3,
    );
    const isShared = async () => {
      const shares = await sharesOf(databaseUrl);
      return shares.map(({ slots }) => slots).join() === "85,85,86";
    };
    const [third] = await Promise.all([
      startThird(),
      hasJoined.then(() =>
        eventually("each has its share", isShared, { msMax: SHARED_MS_MAX, askAgainMs: ASK_AGAIN_MS }),
      ),
    ]);
    onTestFinished(() => third.kill());
    const urls = [first, second, third].map(({ url }) => url);
    await eventually("all slots are loaded", async () => {
      const gauges = await Promise.all(urls.map(gaugesOf));
      return gauges.every(({ own, unloaded }) => own >= 85 && unloaded === 0);
    });
    for (const trader of traders) {
      expect((await signed(third.url, trader, "GET", "/api/v3/openOrders")).body).toHaveLength(1);
    }
  });

  test("orders in the slots of either are filled once", async () => {
    const { first, second } = pair;
    const traders = await pair.newStrategies(6);
    // One after another: finding a price that is coming takes time, and the price must still be ahead.
    const placed: Placed[] = [];
    for (const [index, trader] of traders.entries()) {
      placed.push(await placeAhead(index % 2 === 0 ? first.url : second.url, trader));
    }
    for (const [index, trader] of traders.entries()) {
      const order = placed[index];
      if (order === undefined) throw new Error("every trader has placed an order");
      await filled(second.url, trader, order);
      for (const { url } of [first, second]) await expectFilledOnce(url, trader, order);
    }
  });

  test("a disconnected listener reconnects, and learns what it missed", async () => {
    const { first, second, databaseUrl, newStrategies } = await ownPair();
    const [early, late] = await newStrategies(2);
    if (early === undefined || late === undefined) throw new Error("two strategies were made");
    await cutListeners(databaseUrl);
    const missed = await placeAhead(first.url, early);
    await eventually("both listen again", async () => (await listeners(databaseUrl)) === 2);
    const heard = await placeAhead(first.url, late);
    await first.kill();
    await filled(second.url, early, missed);
    await filled(second.url, late, heard);
    await expectFilledOnce(second.url, early, missed);
    await expectFilledOnce(second.url, late, heard);
    expect(second.process.exitCode).toBeNull();
  });

  test("orders of one strategy through both get every id once, and none is lost", async () => {
    const { first, second } = pair;
    const traders = await pair.newStrategies(4);
    const price = farBelow((await send(first.url, "GET", "/api/v3/ticker/price?symbol=DOGEUSDT")).body.price);
    const place = (trader: Credentials, index: number) =>
      priced(() =>
        signed((index % 2 === 0 ? first : second).url, trader, "POST", "/api/v3/order", {
          ...{ symbol: "DOGEUSDT", side: "BUY", quantity: "60", newClientOrderId: `c${index}` },
          ...(index % 4 < 2 ? { type: "LIMIT", timeInForce: "GTC", price } : { type: "MARKET" }),
        }),
      );
    await Promise.all(
      traders.map(async (trader) => {
        const ids: number[] = [];
        // Alternating: each finds that its cached account is outdated.
        for (let index = 0; index < 8; index += 1) ids.push((await place(trader, index)).body.orderId);
        expect(ids).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
        // And side by side.
        const rest = await Promise.all(Array.from({ length: 16 }, (_, index) => place(trader, 8 + index)));
        ids.push(...rest.map(({ body }) => body.orderId));
        ids.sort((one, other) => one - other);
        expect(ids).toEqual(ids.map((_, index) => index + 1));
        for (const { url } of [first, second]) await expectExactBooks(url, trader, ids.length);
      }),
    );
  });

  test("one client id sent to both at once is one order", async () => {
    const { first, second } = pair;
    const trader = await take(pair.newStrategies);
    for (let round = 1; round <= 10; round += 1) {
      const answers = await Promise.all(
        [first, second].map(({ url }) => placeFarBelow(url, trader, `twin-${round}`)),
      );
      expect(answers.map(({ status, body }) => [status, body.orderId])).toEqual([
        [200, round],
        [200, round],
      ]);
    }
    const open = await signed(second.url, trader, "GET", "/api/v3/openOrders", { symbol: "DOGEUSDT" });
    expect(open.body).toHaveLength(10);
  });

  test("an order is canceled at either, once", async () => {
    const { first, second } = pair;
    const trader = await take(pair.newStrategies);
    const { body } = await placeFarBelow(first.url, trader);
    const cancel = ({ url }: GatewayProcess) =>
      signed(url, trader, "DELETE", "/api/v3/order", { symbol: "DOGEUSDT", orderId: body.orderId });
    const answers = await Promise.all([cancel(second), cancel(first)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    await expectExactBooks(first.url, trader, 1);
  });

  test("an order under strict is compared with other terms once, and both say so", async () => {
    const { first, second, databaseUrl } = pair;
    const profile = strictProfile("SPOT", STRICT_DEFAULTS);
    if (profile === null) throw new Error("the first tier is always known");
    const compared = { symbol: "DOGEUSDT" } as const;
    // The server that receives an order compares it, also where the other one owns the strategy.
    for (const trader of await ofBothOwners(databaseUrl, pair.newStrategies, profile)) {
      const order = { ...compared, side: "BUY", type: "MARKET", quantity: "60" };
      const taken = await priced(() => signed(first.url, trader, "POST", "/api/v3/order", order));
      expect(taken).toMatchObject({ status: 200, body: { status: "FILLED" } });
      const open = await placeFarBelow(first.url, trader);
      const { orderId } = open.body;
      // The other server ends what the first one compares.
      expect(
        await signed(second.url, trader, "DELETE", "/api/v3/order", { ...compared, orderId }),
      ).toMatchObject({
        status: 200,
      });
      for (const id of [taken.body.orderId, orderId]) {
        const bodies = await Promise.all(
          [first, second].map(({ url }) => comparedAt(url, trader, { ...compared, orderId: id })),
        );
        expect(bodies[0]?.rows).toHaveLength(5);
        expect(bodies[1]).toEqual(bodies[0]);
      }
      const rows = `SELECT FROM counterfactuals WHERE strategy_id = '${trader.strategyId}'`;
      expect(await ask(databaseUrl, rows)).toBe(2);
    }
  });

  test("a key that is revoked is refused at both", async () => {
    const { first, second, databaseUrl } = pair;
    const trader = await take(pair.newStrategies);
    for (const { url } of [first, second]) {
      expect((await signed(url, trader, "GET", "/api/v3/account")).status).toBe(200);
    }
    const args = ["src/cli.ts", "keys", "revoke", trader.apiKey, "--data", second.dataDir];
    expect(runNode(args, { DATABASE_URL: databaseUrl })).toMatchObject({ status: 0 });
    for (const { url } of [first, second]) {
      const refused = await signed(url, trader, "GET", "/api/v3/account");
      expect(refused).toMatchObject({ status: 401, body: { code: -2015 } });
    }
  });

  test("what is charged at one counts at the other within a moment", async () => {
    const { first, second } = pair;
    const trader = await take(pair.newStrategies);
    const weightAt = async ({ url }: GatewayProcess) =>
      Number((await signed(url, trader, "GET", "/api/v3/account")).headers.get("x-mbx-used-weight-1m"));
    const each = await weightAt(first);
    let [minute, charged, asked] = [0, 0, 0];
    await eventually(
      "the other counts it too",
      async () => {
        const now = Math.floor(Date.now() / MINUTE_MS);
        // Counts begin again with each minute.
        if (now !== minute) [minute, charged, asked] = [now, await weightAt(first), 0];
        asked += 1;
        return (await weightAt(second)) >= charged + asked * each;
      },
      { askAgainMs: ASK_AGAIN_MS },
    );
  });

  /** Two servers that a test may kill. */
  async function ownPair(): Promise<Pair> {
    const own = await startPair(await server.newDatabase());
    onTestFailed(() => {
      for (const each of [own.first, own.second]) console.log(each.output().slice(-SHOWN_MAX));
    });
    onTestFinished(async () => {
      await own.first.kill();
      await own.second.kill();
    });
    return own;
  }
});

async function startPair(databaseUrl: string): Promise<Pair> {
  const [firstDir, secondDir] = [newDirectory(), newDirectory()];
  const env = { DATABASE_URL: databaseUrl, SIM_SEED: SEED };
  const start = (dataDir: string) => startGateway({ dataDir, env });
  const first = await start(firstDir);
  copyFileSync(join(firstDir, "master.key"), join(secondDir, "master.key"));
  const second = await start(secondDir);
  return {
    first,
    second,
    databaseUrl,
    restartFirst: () => start(firstDir),
    startThird: () => {
      const thirdDir = newDirectory();
      copyFileSync(join(firstDir, "master.key"), join(thirdDir, "master.key"));
      return start(thirdDir);
    },
    async newStrategies(count, profile) {
      const { store, master } = await openDataDirectory(secondDir, null, databaseUrl);
      try {
        const types = Array.from({ length: count }, () => "SPOT" as const);
        return await seedStrategies(store, master, types, Date.now(), { profile });
      } finally {
        await store.close();
      }
    },
  };
}

/** New strategies, of which each of the two servers owns one: as soon as slots are balanced. */
async function ofBothOwners(
  databaseUrl: string,
  newStrategies: Pair["newStrategies"],
  profile?: FillProfile,
): Promise<readonly Credentials[]> {
  await eventually(
    "each server owns half of the slots",
    async () => (await ask(databaseUrl, "SELECT FROM slots GROUP BY server HAVING count(*) = 128")) === 2,
  );
  const found = new Map<string, Credentials>();
  while (found.size < 2) {
    const trader = await take(newStrategies, profile);
    found.set(await ownerOf(databaseUrl, trader), trader);
  }
  return [...found.values()];
}

/** The server that owns the slot of a strategy. */
async function ownerOf(databaseUrl: string, { strategyId }: Credentials): Promise<string> {
  const [owned] = await rowsOf<{ server: string }>(
    databaseUrl,
    `SELECT server FROM slots WHERE slot = ${slotOf(strategyId)}`,
  );
  if (owned === undefined) throw new Error("the database has all slots");
  return owned.server;
}

/** How many slots each server owns, in ascending order. */
async function sharesOf(databaseUrl: string) {
  return await rowsOf<{ server: string; slots: number }>(
    databaseUrl,
    "SELECT server, count(*)::int AS slots FROM slots GROUP BY server ORDER BY slots",
  );
}

/** What a server's metrics say of its slots. */
async function gaugesOf(url: string) {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const read = (name: string) =>
    Number(new RegExp(`^lyrebird_slots_${name} ([0-9]+)$`, "m").exec(metrics)?.[1]);
  return { own: read("own"), unloaded: read("unloaded") };
}

async function take(newStrategies: Pair["newStrategies"], profile?: FillProfile): Promise<Credentials> {
  const [strategy] = await newStrategies(1, profile);
  if (strategy === undefined) throw new Error("one strategy was made");
  return strategy;
}

type SimulatedMarket = ReturnType<typeof createSimulatedSources>["SPOT"];
type Ahead = { readonly symbol: string; readonly price: string; readonly reachedAt: number };
type Placed = Ahead & { readonly orderId: number };

/** Places an order below the market, at a price that the market will reach some seconds later. */
async function placeAhead(url: string, trader: Credentials): Promise<Placed> {
  const now = Date.now();
  const ahead = nextLow(MARKET, now);
  if (ahead === null) throw new Error(`no pair gets cheaper soon: seed ${SEED}, at ${now}`);
  const { symbol, price } = ahead;
  const { status, body } = await signed(url, trader, "POST", "/api/v3/order", {
    ...{ symbol, price, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: QUANTITIES[symbol] ?? "" },
  });
  expect({ status, body }).toMatchObject({ status: 200, body: { status: "NEW" } });
  return { ...ahead, orderId: body.orderId };
}

/** The next ask that is lower than any before it, not too soon; null if there is none soon enough. */
function nextLow(market: SimulatedMarket, now: number): Ahead | null {
  const lows = Object.keys(QUANTITIES).flatMap((symbol): Ahead[] => {
    const askAt = (at: number) => {
      const ask = market.touch(symbol, at)?.ask[0];
      if (ask === undefined) throw new Error(`the simulated market trades ${symbol}`);
      return ask;
    };
    let lowest = units(askAt(now));
    for (let at = now; at < now + AHEAD_MS_MIN; at += SAMPLE_MS) {
      const ask = units(askAt(at));
      if (ask < lowest) lowest = ask;
    }
    for (let at = now + AHEAD_MS_MIN; at < now + AHEAD_MS_MAX; at += SAMPLE_MS) {
      const ask = askAt(at);
      // It must last for a while, so that it is streamed.
      if (units(ask) < lowest && askAt(at + SAMPLE_MS) === ask)
        return [{ symbol, price: ask, reachedAt: at }];
    }
    return [];
  });
  return lows.sort((one, other) => one.reachedAt - other.reachedAt)[0] ?? null;
}

async function filled(
  url: string,
  trader: Credentials,
  { symbol, orderId, reachedAt }: Placed,
): Promise<void> {
  await eventually(
    `order ${orderId} of ${symbol} is filled, seed ${SEED}`,
    async () => {
      const { body } = await signed(url, trader, "GET", "/api/v3/order", { symbol, orderId });
      return body.status === "FILLED";
    },
    { msMax: Math.max(reachedAt - Date.now(), 0) + LATE_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
}

async function expectFilledOnce(url: string, trader: Credentials, placed: Placed): Promise<void> {
  const { symbol, orderId, price } = placed;
  const trades = (await signed(url, trader, "GET", "/api/v3/myTrades", { symbol })).body;
  expect(trades).toMatchObject([{ orderId, isMaker: true, isBuyer: true }]);
  expect(units(trades[0].price)).toBe(units(price));
  const { base, quote } = balancesAfter(trades as Fill[]);
  const asset = symbol.replace("USDT", "");
  expect(await balancesOf(url, trader)).toEqual({
    [asset]: { free: base, locked: "0.00000000" },
    USDT: { free: quote, locked: "0.00000000" },
  });
}

/** DOGE alone: every id up to the last one once, and balances that follow from fills and open orders. */
async function expectExactBooks(url: string, trader: Credentials, count: number): Promise<void> {
  const ask = async (path: string) =>
    (await signed(url, trader, "GET", `/api/v3/${path}`, { symbol: "DOGEUSDT", limit: 1_000 })).body;
  const orders = await ask("allOrders");
  expect(orders.map(({ orderId }: { orderId: number }) => orderId)).toEqual(
    Array.from({ length: count }, (_, index) => index + 1),
  );
  const trades: (Fill & { orderId: number })[] = await ask("myTrades");
  const filledIds = orders.flatMap(({ status, orderId }: { status: string; orderId: number }) =>
    status === "FILLED" ? [orderId] : [],
  );
  expect(trades.map(({ orderId }) => orderId).sort((one, other) => one - other)).toEqual(filledIds);
  let locked = 0n;
  for (const { status, price, origQty } of orders) {
    if (status === "NEW") locked += (units(price) * units(origQty)) / units("1");
  }
  const { base, quote } = balancesAfter(trades);
  const balances = await balancesOf(url, trader);
  expect(units(balances.DOGE?.free ?? "0")).toBe(units(base));
  expect(units(balances.USDT?.locked ?? "")).toBe(locked);
  expect(units(balances.USDT?.free ?? "") + locked).toBe(units(quote));
}

async function balancesOf(url: string, trader: Credentials) {
  const { body } = await signed(url, trader, "GET", "/api/v3/account", { omitZeroBalances: "true" });
  return Object.fromEntries(
    (body.balances as { asset: string; free: string; locked: string }[])
      .filter(({ free, locked }) => units(free) + units(locked) > 0n)
      .map(({ asset, free, locked }) => [asset, { free, locked }]),
  );
}

/** What an order would have done on other terms, once a server knows it. */
async function comparedAt(
  url: string,
  trader: Credentials,
  order: { readonly symbol: string; readonly orderId: number },
) {
  let body: { state?: string; rows?: unknown } = {};
  await eventually(
    `order ${order.orderId} is compared`,
    async () => {
      body = (await signed(url, trader, "GET", "/api/v3/platform/counterfactuals", order)).body;
      return body.state === "COMPLETE";
    },
    { askAgainMs: COMPARED_AGAIN_MS },
  );
  return body;
}

async function placeFarBelow(url: string, trader: Credentials, newClientOrderId = "far") {
  const price = farBelow((await send(url, "GET", "/api/v3/ticker/price?symbol=DOGEUSDT")).body.price);
  return await signed(url, trader, "POST", "/api/v3/order", {
    ...{ symbol: "DOGEUSDT", side: "BUY", type: "LIMIT", timeInForce: "GTC" },
    ...{ quantity: "60", price, newClientOrderId },
  });
}

/** Cuts the connections on which servers listen to each other, as a network or an operator would. */
async function cutListeners(databaseUrl: string): Promise<void> {
  const cut = await ask(
    databaseUrl,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lyrebird listener'",
  );
  expect(cut).toBe(2);
}

async function listeners(databaseUrl: string): Promise<number> {
  return await ask(
    databaseUrl,
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lyrebird listener'",
  );
}

/** How many rows a question has. */
async function ask(databaseUrl: string, question: string): Promise<number> {
  return (await rowsOf(databaseUrl, question)).length;
}

async function rowsOf<Row>(databaseUrl: string, question: string): Promise<Row[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query(question)).rows;
  } finally {
    await client.end();
  }
}
