// How fast one order is mirrored to many copies: from the strategy's commit until the venue has answered the
// last of them, and what that costs other traders. Each round measures in sequence: orders of other traders
// while nothing is copied; as many placements by a bare sender to the same venue; then the copied order, with
// orders of others in parallel. Real are the gateway on the embedded database with its copier thread, the
// executors and the mirror log; the venue is simulated (copy-venue.ts). Nothing is pinned.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { StrategyType } from "../../src/domain/account.ts";
import type { Options } from "../options.ts";
import {
  type CopySender,
  type CopyVenue,
  memoryOf,
  startCopySender,
  startCopyVenue,
  startGateway,
} from "../processes/processes.ts";
import { quantile } from "../statistics.ts";
import { MeasurementFailed } from "../trial.ts";
import type { Credentials } from "../wire/requests.ts";
import { prepareCopies } from "./copies.ts";
import { type Answered, CopyTrader } from "./trader.ts";

export type CopyRound = {
  /**
   * From the commit to the venue's answer, by the copies: the middle one, the slowest but one in a hundred,
   * and the last, ms.
   */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lastMs: number;
  /** The bare sender's time for as many, ms. */
  readonly bareMs: number;
  /**
   * Latencies of traders' orders, ms: of a strategy without copies while idle, beside the bare sender, and
   * during copying, and of the copied one.
   */
  readonly quiet: readonly number[];
  readonly beside: readonly number[];
  readonly during: readonly number[];
  readonly followedMs: number;
};

export type CopiesMeasured = {
  readonly copies: number;
  readonly rounds: readonly CopyRound[];
  /** Latency of the first order after the start to its last copy, ms. */
  readonly firstMs: number;
  /** Signed requests to the venue for each order that was mirrored there, placements among them. */
  readonly requestsPerOrder: number;
  /** Resident bytes of the gateway; null without Linux. */
  readonly residentBytes: { readonly started: number | null; readonly copied: number | null };
};
export type CopyingMeasured = {
  readonly few: CopiesMeasured;
  readonly many: readonly CopiesMeasured[];
  readonly weighed: readonly CopiesWeighed[];
};

/** From the strategy's commit to the venue's answer, by the copies, ms. */
export type Mirroring = { readonly p50Ms: number; readonly p99Ms: number; readonly lastMs: number };
/** An entry, and the exit some seconds later, at a venue that counts weight by address. */
export type CopiesWeighed = {
  readonly type: StrategyType;
  readonly copies: number;
  readonly exitAfterMs: number;
  /** From the gateway's start until each account had been polled once, ms. */
  readonly polledMs: number;
  readonly rounds: readonly { readonly entry: Mirroring; readonly exit: Mirroring }[];
  /** Requests that the venue refused because the weight was used up. */
  readonly limited: number;
};

const ASK_AGAIN_MS = 5;
/** Time limit for mirroring an order to all copies, ms. */
const MIRRORED_MS_MAX = 120_000;
/** Time after the placements in which their entries are written and the thread becomes idle, ms. */
const REST_MS = 500;
/**
 * Time limit for one poll of each account at a venue that counts weight, ms, and the interval of the check.
 */
const POLLED_MS_MAX = 900_000;
const ASK_POLLED_MS = 500;
/** Strategies without copies: enough that none reaches its budget of orders. */
const OTHERS = 60;

export async function measureCopying(
  directory: string,
  options: Options,
  say: (text: string) => void,
): Promise<CopyingMeasured> {
  const measure = async (copies: number) => {
    say(`copying to ${copies} copies`);
    return await measureCopies(mkdtempSync(join(directory, "copying-")), copies, options, say);
  };
  const few = await measure(options.copying.few);
  const many: CopiesMeasured[] = [];
  for (const copies of options.copying.many) many.push(await measure(copies));
  const weighed: CopiesWeighed[] = [];
  // It takes as long as the exchange's weights make it.
  const types = options.isCopyingOnly || options.isQuick ? (["SPOT", "FUTURES"] as const) : [];
  for (const type of types) {
    say(`copying to ${options.copying.weighed.copies} copies at a venue that counts weight, ${type}`);
    weighed.push(await measureWeighed(mkdtempSync(join(directory, "weighed-")), type, options, say));
  }
  return { few, many, weighed };
}

/**
 * Copying from one address at a venue with the exchange's own limits: an order is copied to many, and some
 * seconds later the closing one, while the bookkeeping of the first goes on.
 */
async function measureWeighed(
  dataDir: string,
  type: StrategyType,
  { copying: { weighed } }: Options,
  say: (text: string) => void,
): Promise<CopiesWeighed> {
  const { copies, rounds, exitAfterMs } = weighed;
  const place = { dataDir, databaseUrl: null };
  const venue = await startCopyVenue(null, { countsWeights: true });
  const origin = `http://127.0.0.1:${venue.port}`;
  const { lead } = await prepareCopies(place, { copies, others: 0, origin, type });
  const gateway = await startGateway(place, null, { env: { COPY_VENUES: origin } });
  let trader: CopyTrader | null = null;
  try {
    const began = performance.now();
    for (let polled = 0; polled < copies; polled = (await venue.run("TAKE")).polled) {
      if (performance.now() - began > POLLED_MS_MAX)
        throw new MeasurementFailed(`copying: ${polled} of ${copies} accounts were polled`);
      await wait(ASK_POLLED_MS);
    }
    const polledMs = performance.now() - began;
    say(`  each account was polled once after ${Math.round(polledMs / 1_000)} s`);
    // An idle connection is closed.
    trader = await CopyTrader.open(gateway.port, type);
    const measured: { entry: Mirroring; exit: Mirroring }[] = [];
    let limited = 0;
    while (measured.length < rounds) {
      const entry = await mirror({ trader, venue, copies }, lead, async () => []);
      await wait(Math.max(0, exitAfterMs - entry.lastMs));
      const exit = await mirror({ trader, venue, copies }, lead, async () => []);
      limited += entry.limited + exit.limited;
      measured.push({ entry, exit });
      const texts = [entry, exit].map(
        ({ p50Ms, lastMs }) => `${Math.round(p50Ms)} to ${Math.round(lastMs)} ms`,
      );
      say(`  ${measured.length} of ${rounds}: entry ${texts[0]}, exit ${texts[1]}, ${limited} refused`);
      await wait(exitAfterMs);
    }
    return { type, copies, exitAfterMs, polledMs, rounds: measured, limited };
  } finally {
    trader?.close();
    await gateway.stop();
    venue.stop();
  }
}

async function measureCopies(
  dataDir: string,
  copies: number,
  { copying: { rounds, orders } }: Options,
  say: (text: string) => void,
): Promise<CopiesMeasured> {
  const place = { dataDir, databaseUrl: null };
  const venue = await startCopyVenue(null);
  const sender = startCopySender(null);
  const origin = `http://127.0.0.1:${venue.port}`;
  const prepared = await prepareCopies(place, { copies, others: OTHERS, origin });
  const env = { COPY_VENUES: origin };
  const gateway = await startGateway(place, null, { canBeInspected: true, env });
  const trader = await CopyTrader.open(gateway.port);
  try {
    const started = (await memoryOf(gateway)).residentBytes;
    // The first order starts cold: accounts are polled, connections opened, code compiled.
    const warm = await mirror({ trader, venue, copies }, prepared.lead, async () => []);
    say(`  the first order took ${Math.round(warm.lastMs)} ms`);
    await wait(REST_MS);
    const copied = (await memoryOf(gateway)).residentBytes;
    const measured: CopyRound[] = [];
    let requests = 0;
    const others = takeInTurns(prepared.others);
    const sendBareOnce = () => sendBare(sender, venue, copies);
    while (measured.length < rounds) {
      const quiet = await tradeMany(trader, others, orders);
      const bareMs = await sendBareOnce();
      const beside = await whileSending(sendBareOnce, () => tradeMany(trader, others, orders));
      const round = await mirror({ trader, venue, copies }, prepared.lead, () =>
        tradeMany(trader, others, orders),
      );
      requests += round.requests;
      measured.push({ ...round, quiet, beside, bareMs });
      say(`  ${measured.length} of ${rounds}: ${Math.round(round.lastMs)} ms, bare ${Math.round(bareMs)} ms`);
      await wait(REST_MS);
    }
    return {
      ...{ copies, rounds: measured, firstMs: warm.lastMs, residentBytes: { started, copied } },
      requestsPerOrder: requests / copies / rounds,
    };
  } finally {
    trader.close();
    await gateway.stop();
    sender.stop();
    venue.stop();
  }
}

type Mirrored = Omit<CopyRound, "quiet" | "beside" | "bareMs"> & {
  readonly requests: number;
  readonly limited: number;
};

/** Places an order of the followed strategy, and waits until the venue has answered all its copies. */
async function mirror(
  {
    trader,
    venue,
    copies,
  }: { readonly trader: CopyTrader; readonly venue: CopyVenue; readonly copies: number },
  lead: Credentials,
  measure: () => Promise<readonly number[]>,
): Promise<Mirrored> {
  let { limited } = await venue.run("TAKE");
  const followed = await trader.trade(lead);
  const during = await measure();
  const delays: number[] = [];
  let requests = 0;
  const deadline = performance.now() + MIRRORED_MS_MAX;
  while (delays.length < copies) {
    const taken = await venue.run("TAKE");
    if (taken.badSignatures > 0) throw new MeasurementFailed("copying: the venue found a wrong signature");
    delays.push(...taken.answeredAt.map((at) => at - followed.at));
    requests += taken.requests;
    limited += taken.limited;
    if (performance.now() > deadline) {
      throw new MeasurementFailed(`copying: ${delays.length} of ${copies} copies were sent their order`);
    }
    await wait(ASK_AGAIN_MS);
  }
  if (delays.length > copies)
    throw new MeasurementFailed(`copying: ${delays.length} orders for ${copies} copies`);
  return {
    p50Ms: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    lastMs: quantile(delays, 1),
    ...{ during, requests, limited, followedMs: followed.ms },
  };
}

async function tradeMany(
  trader: CopyTrader,
  others: () => Credentials,
  count: number,
): Promise<readonly number[]> {
  const answers: Answered[] = [];
  while (answers.length < count) answers.push(await trader.trade(others()));
  return answers.map(({ ms }) => ms);
}

async function sendBare(sender: CopySender, venue: CopyVenue, orders: number): Promise<number> {
  const { ms, failure } = await sender.run({ port: venue.port, orders });
  if (failure !== null) throw new MeasurementFailed(`copying, bare: ${failure}`);
  return ms;
}

/** Does something while the bare sender sends, again and again. */
async function whileSending<Answer>(
  send: () => Promise<number>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  let isOver = false;
  const sending = (async () => {
    while (!isOver) await send();
  })();
  try {
    return await work();
  } finally {
    isOver = true;
    await sending;
  }
}

function takeInTurns<Each>(all: readonly Each[]): () => Each {
  let taken = 0;
  return () => {
    const each = all[taken % all.length];
    taken += 1;
    if (each === undefined) throw new Error("there is one at least");
    return each;
  };
}
