// Backups of the real program under load, restored into a gateway of their own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { contentsOf } from "../../src/store/backup/testing/lines.ts";
import { follow, openToCopiers } from "../../src/store/contract/copying/records.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { awaitFills, checkAll } from "../campaigns/crash/settle.ts";
import { isBody, Trader } from "../campaigns/crash/trader.ts";
import { journalFaults } from "../campaigns/harness/journal.ts";
import { chooseMarkets, HEEDS_ADDRESSES, pricesBetween, quotesOf } from "../campaigns/harness/markets.ts";
import { recomputedFaults } from "../campaigns/harness/recomputed.ts";
import { type CrashedStore, makeStore, type StoreName } from "../campaigns/harness/stores.ts";
import { SYMBOL } from "../campaigns/harness/ticks.ts";
import { untilPriced } from "../support/prices.ts";
import { seededRandom } from "../support/random.ts";
import { testSeed } from "../support/seed.ts";
import { newDirectory, startGateway } from "../support/servers/gateway.ts";
import { hasPostgresPrograms, postgresTitle } from "../support/servers/postgres.ts";
import { signed } from "../support/signed-client.ts";
import { seedMany } from "../support/strategies.ts";

const ROOT = join(import.meta.dirname, "../..");

/** One in three of futures. */
const TRADERS = 24;
/** Actions of each trader before the backup begins, and at most: a key may place 50 orders in ten seconds. */
const ACTS_BEFORE = 12;
const ACTS_MAX = 40;
/** How many act side by side while it is taken; each round has the next ones. */
const ACTING_AT_ONCE = 6;

/** From each, and to each. */
const ways: readonly (readonly [from: StoreName, to: StoreName])[] = [
  ...(hasPostgresPrograms ? [] : [["sqlite", "sqlite"] as const]),
  ["sqlite", "postgres"],
  ["postgres", "sqlite"],
];

describe("a backup that is taken while orders are placed", () => {
  for (const [from, to] of ways) {
    const isMissing = !hasPostgresPrograms && [from, to].includes("postgres");
    const title = `restored from ${from} to ${to}, has everything that was acknowledged before it began`;
    test.skipIf(isMissing)([from, to].includes("postgres") ? postgresTitle(title) : title, async () => {
      await backUpAndRestore(from, to, testSeed());
    });
  }
});

async function backUpAndRestore(from: StoreName, to: StoreName, seed: number): Promise<void> {
  const source = await made(from);
  const target = await made(to);
  const markets = await chooseMarkets();
  const file = join(newDirectory(), "lyrebird.backup");
  const gateway = await startOn(source, markets.dear.seed);
  try {
    const prices = pricesBetween(await quotesOf(gateway.url), markets);
    const traders = await makeTraders(source, seed);
    // Without prices most of what the traders do would be refused.
    for (const key of await seedOn(source, ["SPOT", "FUTURES"]))
      await untilPriced(gateway.url, key, key.type, SYMBOL);
    for (let act = 0; act < ACTS_BEFORE; act += 1) {
      await Promise.all(traders.map((trader) => trader.act(gateway.url, prices)));
    }
    const views = traders.map((trader) => viewOf(trader, seed));
    const backup = lyrebird(["backup", file, "--data", source.dataDir], source.env);
    let isDone = false;
    void backup.finally(() => {
      isDone = true;
    });
    let acts = 0;
    while (!isDone && acts < TRADERS * (ACTS_MAX - ACTS_BEFORE)) {
      const first = acts % TRADERS;
      const atOnce = traders.slice(first, first + ACTING_AT_ONCE);
      await Promise.all(atOnce.map((trader) => trader.act(gateway.url, prices)));
      acts += ACTING_AT_ONCE;
    }
    expect(await backup).toMatchObject({ status: 0 });
    // More than one round was over before it was.
    expect(acts).toBeGreaterThan(ACTING_AT_ONCE);
    await gateway.kill();
    traders.forEach((trader, index) => {
      bringUpToDate(views[index] ?? trader, trader);
    });

    copyFileSync(join(source.dataDir, "master.key"), join(target.dataDir, "master.key"));
    const restored = await lyrebird(["restore", file, "--data", target.dataDir], target.env);
    expect(restored).toMatchObject({ status: 0 });
    expect(restored.stdout).toMatch(/the right one: the server can start/);
    const again = `${file}.again`;
    expect(await lyrebird(["backup", again, "--data", target.dataDir], target.env)).toMatchObject({
      status: 0,
    });
    expect(contentsOf(again)).toEqual(contentsOf(file));
    await goOn(target, { views, marketSeed: markets.cheap.seed });
  } catch (error) {
    throw new Error(`seed ${seed}:\n${gateway.output()}`, { cause: error });
  } finally {
    await gateway.kill();
    await source.close();
    await target.close();
  }
}

/** The restored gateway fills the open orders, has consistent books, and takes new orders. */
async function goOn(
  target: CrashedStore,
  { views, marketSeed }: { readonly views: readonly Trader[]; readonly marketSeed: number },
): Promise<void> {
  const gateway = await startOn(target, marketSeed);
  try {
    const quotes = await quotesOf(gateway.url);
    expect(await awaitFills(gateway.url, views)).toBeGreaterThan(0);
    expect((await checkAll(gateway.url, views)).faults).toEqual([]);
    const prices = pricesBetween(quotes, { cheap: quotes, dear: quotes });
    await Promise.all(views.map((view) => view.act(gateway.url, prices)));
    const { faults, orders } = await checkAll(gateway.url, views);
    expect(faults).toEqual([]);
    expect(orders).toBeGreaterThan(TRADERS * ACTS_BEFORE * 0.5);
  } finally {
    await gateway.kill();
  }
  await target.beside(async (beside) => {
    for (const { type, credentials } of views) {
      expect(await journalFaults(beside.store, credentials.strategyId)).toEqual([]);
      expect(await recomputedFaults(beside, credentials.strategyId, type)).toEqual([]);
    }
  });
}

/** What a trader knows at this moment. */
function viewOf(trader: Trader, seed: number): Trader {
  const { name, type, credentials } = trader;
  const view = new Trader({ name, type, credentials, draw: seededRandom(seed) });
  for (const [id, placement] of trader.placements) view.placements.set(id, { ...placement });
  return view;
}

/** Actions after the backup's moment may be in it or not: their answers are no promises. */
function bringUpToDate(view: Trader, trader: Trader): void {
  for (const [id, placement] of trader.placements) {
    const { heard, ...known } = placement;
    const earlier = view.placements.get(id);
    const heardThen = earlier?.heard ?? (isBody(heard) ? null : heard);
    view.placements.set(id, { ...known, isCanceled: earlier?.isCanceled === true, heard: heardThen });
  }
}

async function made(name: StoreName): Promise<CrashedStore> {
  const store = await makeStore(name);
  if (store === null) throw new Error(`the programs of ${name} were found a moment ago`);
  return store;
}

async function makeTraders(source: CrashedStore, seed: number): Promise<Trader[]> {
  const wanted = Array.from(
    { length: TRADERS },
    (_, index): StrategyType => (index % 3 === 0 ? "FUTURES" : "SPOT"),
  );
  const strategies = await seedOn(source, wanted);
  return strategies.map(
    (credentials, index) =>
      new Trader({
        name: `t${index}`,
        type: credentials.type,
        credentials,
        draw: seededRandom(seed + index),
      }),
  );
}

function seedOn({ beside, master }: CrashedStore, types: readonly StrategyType[]) {
  return beside(({ store }) => seedStrategies(store, master, types, Date.now()));
}

function startOn({ dataDir, env }: CrashedStore, marketSeed: number) {
  return startGateway({ dataDir, env: { ...env, ...HEEDS_ADDRESSES, SIM_SEED: String(marketSeed) } });
}

describe("lyrebird backup and restore", () => {
  test("lead from a server to its copy with nothing but what they say", async () => {
    const gateway = await startGateway();
    const trader = gateway.seed();
    const place = newDirectory();
    const file = join(place, "lyrebird.backup");
    const backup = await lyrebird(["backup", file, "--data", gateway.dataDir]);
    expect(backup).toMatchObject({ status: 0 });
    expect(backup.stdout).toContain(`keep ${join(gateway.dataDir, "master.key")} too, in another place`);
    await gateway.kill();

    const dataDir = join(place, "copy");
    const restored = await lyrebird(["restore", file, "--data", dataDir]);
    expect(restored).toMatchObject({ status: 0 });
    const [, whereTo = ""] = /copy the master key .* to (\S+), with mode 0600/.exec(restored.stdout) ?? [];
    await expect(startGateway({ dataDir })).rejects.toThrow(/has a database but no master.key/);
    copyFileSync(join(gateway.dataDir, "master.key"), whereTo);
    const copy = await startGateway({ dataDir });
    expect(await signed(copy.url, trader, "GET", "/api/v3/account")).toMatchObject({ status: 200 });
    await copy.kill();
  });

  test("stop the copies of what was not a planned move, and say how many", async () => {
    const place = newDirectory();
    const file = join(place, "lyrebird.backup");
    const source = join(place, "source");
    mkdirSync(source);
    const store = await openSqliteStore(join(source, "lyrebird.sqlite"));
    await openToCopiers(store, "lead");
    await follow(store, "lead", "ann", "bob");
    await store.close();
    await lyrebird(["backup", file, "--data", source]);
    const restored = await lyrebird(["restore", file, "--data", join(place, "after-a-loss")]);
    expect(restored).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^2 live copies were stopped/m),
    });
    const moved = await lyrebird(["restore", file, "--keep-copies", "--data", join(place, "moved")]);
    expect(moved).toMatchObject({ status: 0, stdout: expect.not.stringMatching(/copies/) });
    const live = async (name: string) => {
      const copied = await openSqliteStore(join(place, name, "lyrebird.sqlite"));
      const copies = await copied.copying.listCopiesOfStrategy("lead", { isLive: true });
      await copied.close();
      return copies.length;
    };
    expect([await live("after-a-loss"), await live("moved")]).toEqual([0, 2]);
  });

  test("say so if the master key beside the restored database is another's", async () => {
    const place = newDirectory();
    const file = join(place, "lyrebird.backup");
    const [dataDir, other] = [join(place, "one"), join(place, "other")];
    await seedMany(dataDir, 1);
    await seedMany(other, 1);
    for (const name of readdirSync(other)) if (name !== "master.key") rmSync(join(other, name));
    await lyrebird(["backup", file, "--data", dataDir]);
    const restored = await lyrebird(["restore", file, "--data", other]);
    expect(restored.status).toBe(0);
    expect(restored.stdout).toMatch(/Before the server starts, replace .*master\.key by the master key of/);
  });

  test("change nothing where there is a database, running or not, or what is left of one", async () => {
    const gateway = await startGateway();
    const place = newDirectory();
    const file = join(place, "lyrebird.backup");
    await lyrebird(["backup", file, "--data", gateway.dataDir]);
    expect(await lyrebird(["backup", file, "--data", gateway.dataDir])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/exists: a backup never overwrites/),
    });
    const refused = { status: 1, stderr: expect.stringMatching(/is in use, there is .*lyrebird\.sqlite/) };
    expect(await lyrebird(["restore", file, "--data", gateway.dataDir])).toMatchObject(refused);
    expect(await gateway.stop()).toBe(0);
    expect(await lyrebird(["restore", file, "--data", gateway.dataDir])).toMatchObject(refused);
    const remains = join(place, "remains");
    mkdirSync(remains);
    writeFileSync(join(remains, "lyrebird.sqlite-wal"), "");
    expect(await lyrebird(["restore", file, "--data", remains])).toMatchObject(refused);
  });

  test("make nothing of a file that was cut short", async () => {
    const place = newDirectory();
    const file = join(place, "lyrebird.backup");
    await seedMany(join(place, "one"), 3);
    await lyrebird(["backup", file, "--data", join(place, "one")]);
    writeFileSync(file, readFileSync(file).subarray(0, -20));
    const dataDir = join(place, "new");
    expect(await lyrebird(["restore", file, "--data", dataDir])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/is damaged or was cut short/),
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test.skipIf(process.platform === "win32")(
    "leave nothing where the disk has no room for a backup",
    async () => {
      const gateway = await startGateway();
      await seedMany(gateway.dataDir, 1_500);
      const place = newDirectory();
      // Room for what SQLite shares between processes beside its file, but not for the backup.
      const command = `ulimit -f 96 && exec "$0" src/cli.ts backup "$1" --data "$2"`;
      const full = await run("sh", [
        "-c",
        command,
        process.execPath,
        join(place, "a.backup"),
        gateway.dataDir,
      ]);
      expect(full).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/nothing is left of it: EFBIG/),
      });
      expect(readdirSync(place)).toEqual([]);
      await gateway.kill();
    },
  );

  test("say what they do, and what they leave out", async () => {
    for (const command of ["backup", "restore"]) {
      const { status, stdout } = await lyrebird([command, "--help"]);
      expect(status).toBe(0);
      expect(stdout).toMatch(/The master key is not in (it|a backup)/);
    }
  });

  test.each([
    [["backup"], /takes the name of one file/],
    [["restore"], /takes the name of one file/],
    [["backup", "one", "two"], /takes the name of one file/],
    [["backup", "one", "--data", "nowhere"], /holds no database: name the one that the server runs on/],
  ])("called wrongly, as in %j, they say how", async (args, why) => {
    expect(await lyrebird(args)).toMatchObject({ status: 2, stderr: expect.stringMatching(why) });
  });
});

/** Runs one of the operator's commands to its end, while this process continues. */
function lyrebird(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return run(process.execPath, ["src/cli.ts", ...args], env);
}

async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { status, stdout, stderr };
}
