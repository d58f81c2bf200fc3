// The load that is recorded: traders at work on the real gateway through three of its lives.
//
//   first recording    from a database in order; killed, and the power cut at the same moment
//   second recording   from what that power cut left; killed; started again and stopped in order
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SeededStrategy } from "../../../../src/keys/seed.ts";
import { untilPriced } from "../../../support/prices.ts";
import { seededRandom } from "../../../support/random.ts";
import { newDirectory } from "../../../support/servers/gateway.ts";
import { seedMany } from "../../../support/strategies.ts";
import { GatewayFault } from "../../harness/faults.ts";
import { pricesBetween, type Quotes, quotesOf } from "../../harness/markets.ts";
import { SYMBOL } from "../../harness/ticks.ts";
import { type Trader, tradersOn } from "../trader.ts";
import { Disk, layOut } from "./disk.ts";
import { hear, noPromises, type Promises } from "./promises.ts";
import { dataDirIn, RecordedGateway, type Recording } from "./recorded-gateway.ts";
import type { Expectation } from "./stored-books.ts";

/** A recording, and the promises made before it began. */
export type RecordedLoad = Omit<Expectation, "promises"> & {
  readonly recording: Recording;
  readonly told: Promises;
};

/** Of spot and of futures. */
const TRADERS = { SPOT: 8, FUTURES: 4 } as const;
/** Requests that a trader has in flight. */
const WORKERS = 2;
/** What a trader does in a life: a key may place 50 orders in ten seconds. */
const ACTIONS_PER_LIFE = 12;

/** So long a write-ahead log, in pages, is soon copied into the database. */
export const PAGES_AHEAD = 4_000;

/**
 * Records two lives of a gateway. With `pagesAhead` its write-ahead log begins with that many pages, so that
 * the recording contains a checkpoint and the restart of the log.
 */
export async function recordLoad(
  seed: number,
  { pagesAhead = 0 }: { readonly pagesAhead?: number } = {},
): Promise<RecordedLoad[]> {
  const draw = seededRandom(seed);
  const folder = newDirectory();
  const prepared = join(folder, "prepared");
  const traders = await newTraders(prepared, seed);
  const spare = [...(await seedMany(prepared, 1, "SPOT")), ...(await seedMany(prepared, 1, "FUTURES"))];
  const load = { traders, spare };
  moveWithLog(prepared, dataDirIn(join(folder, "1")), pagesAhead);
  const first = new RecordedGateway(join(folder, "1"));
  await live(first, load, draw);
  const recording = first.recording();

  const disk = new Disk(recording.found, { namesLast: "UNORDERED" });
  const told = noPromises();
  for (const record of recording.records) {
    disk.take(record);
    hear(told, record);
  }
  layOut(disk.afterPowerCut(draw), dirname(first.dataDir), dirname(dataDirIn(join(folder, "2"))));
  const second = new RecordedGateway(join(folder, "2"));
  await live(second, load, draw);
  await live(second, load, null);
  const recordings = [recording, second.recording()];
  rmSync(folder, { recursive: true });
  return recordings.map((each, index) => ({
    recording: each,
    told: index === 0 ? noPromises() : told,
    ...expectedOf(traders),
  }));
}

/**
 * One life under load: killed at a drawn moment, or without one stopped in order. With the spare strategies,
 * one of each type, prices are awaited first.
 */
async function live(
  recorded: RecordedGateway,
  { traders, spare }: { readonly traders: readonly Trader[]; readonly spare: readonly SeededStrategy[] },
  draw: (() => number) | null,
): Promise<void> {
  const gateway = await recorded.start();
  const killAfter =
    draw === null ? Number.POSITIVE_INFINITY : traders.length * ACTIONS_PER_LIFE * (0.5 + draw() * 0.4);
  try {
    // Without prices most of what the traders do would be refused.
    for (const key of spare) await untilPriced(gateway.url, key, key.type, SYMBOL);
    await work(gateway.url, traders, { killAfter, kill: () => recorded.killAtNextRecord() });
    if (draw === null) await gateway.stop();
    else await gateway.exited;
  } finally {
    await gateway.kill();
  }
}

/** Makes strategies in a data directory, and who trades on them. */
export async function newTraders(dataDir: string, seed: number): Promise<Trader[]> {
  const strategies = [
    ...(await seedMany(dataDir, TRADERS.SPOT, "SPOT")),
    ...(await seedMany(dataDir, TRADERS.FUTURES, "FUTURES")),
  ];
  return tradersOn(strategies, seed);
}

/** Whose books there must be, and which orders may be in them. */
export function expectedOf(traders: readonly Trader[]): Omit<Expectation, "promises"> {
  return {
    strategyIds: traders.map(({ credentials }) => credentials.strategyId),
    sent: new Map(
      traders.flatMap(({ credentials, placements }) =>
        [...placements.keys()].map((clientOrderId) => [clientOrderId, credentials.strategyId] as const),
      ),
    ),
  };
}

/**
 * Lets the traders loose; `kill` is called once they have done so many things, and from then on requests may
 * stay without an answer. After 0 they may from the beginning, and nobody is called. They stop early when
 * `isEnough`.
 */
export async function work(
  url: string,
  traders: readonly Trader[],
  {
    killAfter,
    kill,
    actionsEach = ACTIONS_PER_LIFE,
    isEnough = () => false,
  }: {
    readonly killAfter: number;
    readonly kill?: () => void;
    readonly actionsEach?: number;
    readonly isEnough?: () => boolean;
  },
): Promise<void> {
  const quotes = await quotesOf(url);
  const prices = pricesBetween(quotes, { cheap: timesAll(quotes, 0.9), dear: timesAll(quotes, 1.1) });
  let done = 0;
  let isOver = killAfter === 0;
  const worker = async (trader: Trader) => {
    for (let turn = 0; turn < actionsEach / WORKERS && !isEnough(); turn += 1) {
      try {
        await trader.act(url, prices);
      } catch (error) {
        // Without an answer, since the process is gone; anything else is a fault.
        if (!isOver || error instanceof GatewayFault) throw error;
        return;
      }
      done += 1;
      if (done < killAfter || isOver) continue;
      isOver = true;
      kill?.();
    }
  };
  await Promise.all(traders.flatMap((trader) => Array.from({ length: WORKERS }, () => worker(trader))));
}

/** The same market at other prices. */
function timesAll({ SPOT, FUTURES }: Quotes, factor: number): Quotes {
  const times = ({ bid, ask }: Quotes["SPOT"]) => ({
    bid: Math.round(bid * factor),
    ask: Math.round(ask * factor),
  });
  return { SPOT: times(SPOT), FUTURES: times(FUTURES) };
}

/**
 * Moves a database to another directory as a process leaves it that is killed: with a log of so many pages.
 */
export function moveWithLog(from: string, to: string, pages: number): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const file = join(from, "lyrebird.sqlite");
  const database = new DatabaseSync(file);
  database.exec("PRAGMA wal_autocheckpoint = 0; CREATE TABLE padding (body BLOB)");
  const { page_size: pageBytes } = database.prepare("PRAGMA page_size").get() as { page_size: number };
  const pad = database.prepare("INSERT INTO padding VALUES (zeroblob(?))");
  // The same few pages again and again: the log is long, and the database stays small.
  const pagesAtOnce = 64;
  for (let written = 0; written < pages; written += pagesAtOnce) {
    database.exec("BEGIN; DELETE FROM padding");
    for (let row = 0; row < pagesAtOnce; row += 1) pad.run(pageBytes - 200);
    database.exec("COMMIT");
  }
  database.exec("DROP TABLE padding");
  for (const name of ["lyrebird.sqlite", "lyrebird.sqlite-wal", "master.key"]) {
    copyFileSync(join(from, name), join(to, name));
  }
  database.close();
}
