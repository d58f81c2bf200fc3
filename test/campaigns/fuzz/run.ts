// A run: the real gateway on the simulated market, requests drawn from a seed, each answer judged, and what
// it did to its strategy read from the database; at the end everybody's books.
//
// The same seed means the same requests, except for what has to be of the moment: timestamps, prices near the
// market, and the ids of orders that a strategy has placed. How the answers interleave is up to the machine.
import { performance } from "node:perf_hooks";
import { type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { bookFaults } from "../harness/books.ts";
import { fewAtATime } from "../harness/patience.ts";
import { openRows, readStored } from "../harness/stored-rows.ts";
import { createActors } from "./actors.ts";
import { answerFaults } from "./books.ts";
import { episodesOf } from "./episodes.ts";
import { Ledger, type Snapshot } from "./ledger.ts";
import { Pairs } from "./pairs.ts";
import { type Fixture, type Played, playEpisode } from "./play.ts";
import { Tally } from "./tally.ts";
import { Wire } from "./wire.ts";

export type RunOptions = {
  readonly requests: number;
  readonly seed: number;
  /** A new data directory. */
  readonly dataDir: string;
  /** Called with the progress of the run. */
  readonly say: (text: string) => void;
};

export type RunReport = Awaited<ReturnType<typeof run>>;

/** Requests in flight: one for each running episode. */
const IN_FLIGHT = 24;
const PROGRESS_EVERY = 10_000;

/** Runs to the end, or until there are too many faults. Rejects if the gateway does not start. */
export async function run({ requests, seed, dataDir, say }: RunOptions) {
  const episodes = episodesOf(requests);
  say(`making ${episodes.length} strategies`);
  const actors = await createActors(dataDir, episodes);
  const gateway = await startGateway({ dataDir, env: { TRUSTED_PROXY_HOPS: "1" } });
  const wire = new Wire(gateway.url, IN_FLIGHT);
  const ledger = new Ledger(dataDir);
  const tally = new Tally();
  try {
    const pairs = await Pairs.read(wire);
    const { bystanders: ofTypes, unbound, revoked } = actors.others;
    const bystanders = [...ofTypes.SPOT, ...ofTypes.FUTURES, ...unbound, ...revoked].map(({ strategyId }) =>
      ledger.read(strategyId),
    );
    const started = performance.now();
    const onAnswer = (answered: number) => {
      if (answered % PROGRESS_EVERY > 0) return;
      const perSecond = Math.round(answered / ((performance.now() - started) / 1_000));
      say(`${answered} of ${requests}, ${perSecond} a second, ${tally.faultCount()} faults`);
    };
    const fixture: Fixture = { url: gateway.url, seed, actors, wire, pairs, ledger, tally, onAnswer };
    const played = await fewAtATime(episodes, (episode) => playEpisode(fixture, episode), IN_FLIGHT);
    const seconds = (performance.now() - started) / 1_000;
    await stop(gateway, tally);
    say("checking the books");
    await checkBooks({ dataDir, pairs, ledger, tally, played, bystanders });
    const orders = played.reduce((sum, each) => sum + each.orders.size, 0);
    const legs = played.reduce((sum, each) => sum + each.legs.size, 0);
    return {
      seed,
      tally,
      /** From the first request to the last answer. */
      seconds,
      strategies: played.length,
      /** Placements that were answered 200, each counted once. */
      orders,
      legs,
      /** Fills of orders that rested, triggers of stops and of legs. */
      marketMoves: ledger.marketMoves(),
    };
  } finally {
    wire.close();
    ledger.close();
    if (gateway.process.exitCode === null) await gateway.kill();
  }
}

/**
 * Ends the gateway in order; it must still be there, and never have had to say that something is wrong with
 * itself.
 */
async function stop(gateway: GatewayProcess, tally: Tally): Promise<void> {
  const exitCode = gateway.process.exitCode ?? (await gateway.stop());
  const troubles = gateway
    .output()
    .split("\n")
    .filter((line) => /"level":(50|60)/.test(line));
  if (exitCode !== 0) troubles.push(`the gateway ended with ${exitCode}`);
  for (const what of troubles) {
    tally.add({ kind: "SERVER_ERROR", what, requestNumber: null, strategyId: "(any)", exchange: "" });
  }
}

async function checkBooks(parts: {
  readonly dataDir: string;
  readonly pairs: Pairs;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly played: readonly Played[];
  /** The strategies of keys that are good for nothing, or only for the other type. */
  readonly bystanders: readonly Snapshot[];
}): Promise<void> {
  const { ledger, tally } = parts;
  const blame = (strategyId: string, faults: readonly string[]) => {
    for (const what of faults) {
      tally.add({ kind: "STATE_CHANGED", what, requestNumber: null, strategyId, exchange: "" });
    }
  };
  const assetsOf = (symbol: string) => {
    const assets = parts.pairs.assets.get(symbol);
    if (assets === undefined) throw new Error(`only what is listed is traded: ${symbol}`);
    return assets;
  };
  const rows = openRows({ dataDir: parts.dataDir, databaseUrl: null });
  try {
    for (const { strategy, type, orders, legs, last } of parts.played) {
      const { strategyId } = strategy;
      blame(strategyId, ledger.follow(last, undefined).faults);
      const stored = await readStored(rows, strategyId);
      blame(strategyId, bookFaults(stored, type, assetsOf));
      blame(strategyId, answerFaults(stored, { orders: orders.values(), legs: legs.values() }));
    }
    for (const before of parts.bystanders) blame(before.row.id, ledger.follow(before, undefined).faults);
  } finally {
    await rows.destroy();
  }
}
