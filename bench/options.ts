// The flags of `npm run bench`.
import {
  anyText,
  aSwitch,
  flagLines,
  number,
  OptionError,
  oneOf,
  readFlags,
} from "../test/campaigns/harness/flags.ts";
import type { ServersOptions } from "./servers/servers.ts";
import { STORE_NAMES, type StoreName } from "./stores.ts";

const FULL = {
  /** The length of each measurement. */
  seconds: 1.25,
  /** Load before each measurement, not counted. */
  warmSeconds: 0.25,
  /** How often each measurement is repeated. */
  rounds: 4,
  /**
   * How many strategies of each type are traded on: enough that none reaches its limits of 50 orders in 10
   * seconds and a weight of 1,200 a minute.
   */
  strategies: 10_000,
  /**
   * The first runs of each kind are the compiler's, not counted. The gateway has more to compile, in the same
   * core.
   */
  firstSeconds: { echo: 1, gateway: 4 },
  /** `warmSeconds` are not counted: until every request that waits has waited as long as it will. */
  overload: { seconds: 2.5, rounds: 2, warmSeconds: 1 },
  /** How often everything that runs in process is repeated, the first time for the compiler. */
  repeats: 7,
  starts: 5,
  /** How many idle strategies memory is measured with: many, against few. */
  memory: { few: 1_000, many: [10_000, 100_000] },
  /** How many positions the ticks that liquidate one in a hundred are measured with. */
  positions: 100_000,
  /** How many connections a snapshot is broadcast to; memory is measured with many, against few. */
  streams: { connections: 250, few: 250, many: 2_250 },
  sockets: {
    /** How many connections a trade is broadcast to. */
    connections: 250,
    /**
     * Accounts that are traded on, others that only listen, and those whose orders are timed to their events.
     */
    ...{ traders: 2_500, others: 1_000, probes: 500 },
    /** How many user data connections memory is measured with: many, against few. */
    ...{ few: 250, many: 5_250 },
    /** How many connections come back at the same time. */
    returning: 1_000,
  },
  copying: {
    /** How many copies an order is sent to; memory is measured with the most against few. */
    few: 100,
    many: [1_000, 10_000],
    rounds: 6,
    /** Orders of other traders in a round, before and while it is sent. */
    orders: 150,
    /** Copies of an entry and of an exit some seconds later, at a venue that counts weight; and how often. */
    weighed: { copies: 1_000, rounds: 3, exitAfterMs: 5_000 },
  },
  /** How long the gateway without load is watched. */
  restSeconds: 2,
  /** Whether the figures mean nothing. */
  isQuick: false,
};

type Sizes = typeof FULL;

export type Options = Readonly<Sizes> & {
  readonly stores: readonly StoreName[];
  /** Whether only this is measured: how orders are copied, or the exchange's sockets. */
  readonly isCopyingOnly: boolean;
  readonly isSocketsOnly: boolean;
  /** Whether only servers that share a database are measured, and with how many of what. */
  readonly servers: ServersOptions | null;
  readonly isJson: boolean;
};

/** Everything runs, but the figures mean nothing. */
const QUICK: Sizes = {
  seconds: 0.2,
  rounds: 1,
  strategies: 6_000,
  firstSeconds: { echo: 0.1, gateway: 0.4 },
  warmSeconds: 0.05,
  overload: { seconds: 0.4, rounds: 1, warmSeconds: 0.2 },
  repeats: 1,
  starts: 1,
  restSeconds: 0.2,
  memory: { few: 100, many: [1_000] },
  positions: 1_000,
  streams: { connections: 50, few: 20, many: 120 },
  sockets: {
    ...{ connections: 50, traders: 500, others: 50, probes: 50 },
    ...{ few: 20, many: 120, returning: 50 },
  },
  copying: {
    few: 10,
    many: [50, 100],
    rounds: 1,
    orders: 5,
    weighed: { copies: 20, rounds: 1, exitAfterMs: 1_000 },
  },
  isQuick: true,
};

/** Longer, and keys would run into their own weight limits. */
const SECONDS_MAX = 15;
const ROUNDS_MAX = 100;

/** The sizes of a run are what is usual in it. */
function flagsOf(sizes: Sizes) {
  return {
    store: oneOf([...STORE_NAMES, "both"], "sqlite, postgres or both   (both)"),
    seconds: number("length of each measurement", {
      ...{ usual: sizes.seconds, least: 0.2, most: SECONDS_MAX },
      isWhole: false,
    }),
    rounds: number("repeats of each measurement", { usual: sizes.rounds, most: ROUNDS_MAX }),
    copying: aSwitch("only how an order is copied to many, in a quarter of an hour"),
    sockets: aSwitch("only the exchange's own sockets, in four minutes"),
    servers: anyText("1,2,4,8", "only servers that share a PostgreSQL database, so many, one after another"),
    orders: number("with --servers: orders of each measurement", { usual: 2_000, least: 100, most: 100_000 }),
    openOrders: number("with --servers: open orders while a second of the market is measured", {
      ...{ usual: 100_000, least: 100, most: 1_000_000 },
    }),
    quick: aSwitch("everything once and short, in a minute: shows that the bench works, and nothing else"),
    json: aSwitch("JSON instead of tables"),
  };
}

export const HELP = `Usage: npm run bench -- [options]

Measures the real program against bare ceilings on this machine and prints tables of ratios (Markdown).
Takes about 15 minutes and 2 GB in the system's temporary directory (TMPDIR).

Options:
${flagLines(flagsOf(FULL))}
PostgreSQL is a server of the bench's own; where its programs are missing (Debian: the package postgresql)
the report says so. Progress goes to standard error, the result to standard output. Exits 0, 1 if a
measurement failed, 2 on a bad flag.
`;

/** Reads the flags, or returns "help" if that is requested. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const sizes = args.includes("--quick") ? QUICK : FULL;
  const values = readFlags(args, flagsOf(sizes));
  if (values === "help") return "help";
  const { store, seconds, rounds, copying, sockets, servers, orders, openOrders, json } = values;
  return {
    ...sizes,
    seconds,
    rounds,
    stores: store === null || store === "both" ? STORE_NAMES : [store],
    isCopyingOnly: copying,
    isSocketsOnly: sockets,
    servers:
      servers === null ? null : { counts: countsOf(servers), orders, openOrders, idleSeconds: IDLE_SECONDS },
    isJson: json,
  };
}

/** How long servers without load are measured, s. */
const IDLE_SECONDS = 10;
const SERVERS_MAX = 16;

/** Numbers of servers, such as 1,2,4. Throws OptionError. */
function countsOf(text: string): number[] {
  const counts = text.split(",").map(Number);
  if (counts.every((count) => Number.isInteger(count) && count >= 1 && count <= SERVERS_MAX)) return counts;
  throw new OptionError(`--servers is no list of numbers from 1 to ${SERVERS_MAX}: ${JSON.stringify(text)}`);
}
