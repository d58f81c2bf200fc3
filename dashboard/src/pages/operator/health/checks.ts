// What the readings of the service mean: whether each is normal, and what to do if it is not.
import type { HealthJson } from "../../../../../src/dashboard-api/schemas.ts";
import { durationInWords, latencyInWords } from "../../../ui/figures/duration.ts";

export type HealthCheck = {
  readonly name: string;
  readonly state: "FINE" | "WATCH" | "BAD";
  readonly reading: string;
  readonly normal: string;
  /** Null where nothing is to be done. */
  readonly action: string | null;
};

/** Prices of this age are stale, ms: orders that need a price are then rejected. */
const FEED_STALE_MS = 5_000;
const SYMBOLS_NAMED = 5;
const STORE_SLOW_MS = 50;
const STORE_BAD_MS = 1_000;
const SWEEP_LATE_MS = 5_000;
const SWEEP_BAD_MS = 60_000;
const LOOP_SLOW_MS = 50;
const LOOP_BAD_MS = 500;
const MEBIBYTE = 1_048_576;
const RESIDENT_LARGE = 1_536 * MEBIBYTE;

const TYPE_NAMES = { SPOT: "Spot", FUTURES: "Futures" } as const;

const UNTRADABLE = {
  RECORDING_ENDED: {
    reading: "The recording has ended",
    action: "Restart the server to replay it, or choose another market. Orders are rejected until then.",
  },
  MARK_PRICES_MISSING: {
    reading: "The recording has no mark prices",
    action:
      "Choose a recording with mark prices, or another market. Orders on contracts are rejected until then.",
  },
} as const;

/** In the order in which they are worth looking at. `now` is when they were read, Unix ms. */
export function checksOf(health: HealthJson, now: number): readonly HealthCheck[] {
  return [
    ...health.feeds.map((feed) => feedCheck(feed, now)),
    storeCheck(health.store),
    sweepCheck(health),
    loopCheck(health.eventLoopDelayMs),
    memoryCheck(health.memoryBytes),
  ];
}

export function worstOf(checks: readonly HealthCheck[]): HealthCheck["state"] {
  return (["BAD", "WATCH"] as const).find((state) => checks.some((each) => each.state === state)) ?? "FINE";
}

function feedCheck(feed: HealthJson["feeds"][number], now: number): HealthCheck {
  const { family: type, symbols, isConnected, lastMessageAt, dataAgeMs, isLate } = feed;
  const { pausedUntil, staleSymbols, connects, untradable } = feed;
  const fixed = {
    name: `${TYPE_NAMES[type]} prices`,
    normal: "Connected, prices less than 5 s old, no symbol without prices",
  };
  if (untradable !== null) return { ...fixed, state: "BAD", ...UNTRADABLE[untradable] };
  const found = (state: HealthCheck["state"], reading: string, action: string | null = null) => ({
    ...fixed,
    state,
    reading,
    action,
  });
  if (pausedUntil > now) {
    return found(
      "WATCH",
      `The exchange accepts no requests for another ${durationInWords((pausedUntil - now) / 1_000)}`,
      "Wait. If it happens again, find out what else uses the exchange from this address.",
    );
  }
  if (symbols === 0) {
    return found("FINE", "Idle: no strategy needs a price");
  }
  if (!isConnected) {
    return found(
      "BAD",
      `Not connected${lastMessageAt === 0 ? "" : `, last message ${ago(lastMessageAt, now)}`}`,
      "Check the server's network connection to the exchange; its log has the reason. It reconnects automatically.",
    );
  }
  if (isLate) {
    return found(
      "BAD",
      `Prices arrive ${durationInWords((dataAgeMs ?? 0) / 1_000)} late`,
      "Market orders are rejected until prices arrive in time. Check the network between the server and the exchange, and the server's load.",
    );
  }
  if (lastMessageAt === 0 || (dataAgeMs ?? 0) >= FEED_STALE_MS) {
    return found(
      "BAD",
      lastMessageAt === 0 ? "Connected, no message yet" : `Last message ${ago(lastMessageAt, now)}`,
      "Market orders are rejected until messages arrive. Check the server's network and the exchange's status.",
    );
  }
  if (staleSymbols.length > 0) {
    return found(
      "WATCH",
      `No prices: ${named(staleSymbols)}`,
      "Check whether they are halted at the exchange. Strategies that hold them close only when prices arrive.",
    );
  }
  return found(
    "FINE",
    `Last message ${ago(lastMessageAt, now)}, connected ${connects === 1 ? "once" : `${connects} times`}`,
  );
}

/** Without a standby that commits wait for, a failover loses the last of them. */
const STANDBY: Readonly<Record<string, string>> = {
  true: ". Commits wait for a standby",
  false: ". Commits do not wait for a standby (synchronous_standby_names is empty)",
};

function storeCheck({ kind, answersInMs, isBehind, waitsForStandby }: HealthJson["store"]): HealthCheck {
  const isBad = isBehind || answersInMs > STORE_BAD_MS;
  const isSlow = answersInMs > STORE_SLOW_MS;
  return {
    name: `Store (${kind})`,
    state: isBad ? "BAD" : isSlow ? "WATCH" : "FINE",
    reading: `Answers in ${latencyInWords(answersInMs)}${isBehind ? ", commits are behind" : ""}${STANDBY[String(waitsForStandby)] ?? ""}`,
    normal: `Below ${STORE_SLOW_MS} ms, commits not behind`,
    action:
      isBad || isSlow
        ? "Check the disk's load and free space, and the database's machine. Orders are rejected while commits are behind."
        : null,
  };
}

function sweepCheck({ sweepLagMs }: HealthJson): HealthCheck {
  const lag = sweepLagMs ?? 0;
  const state = lag > SWEEP_BAD_MS ? "BAD" : lag > SWEEP_LATE_MS ? "WATCH" : "FINE";
  return {
    name: "Signals",
    state,
    reading: sweepLagMs === null ? "None pending" : `The oldest has been pending for ${latencyInWords(lag)}`,
    normal: "None pending for more than 5 s",
    action:
      state === "FINE"
        ? null
        : "A symbol may have no prices, or a signal may fail repeatedly: the log names it.",
  };
}

function loopCheck({ p50, p99, max }: HealthJson["eventLoopDelayMs"]): HealthCheck {
  const state = p99 > LOOP_BAD_MS ? "BAD" : p99 > LOOP_SLOW_MS ? "WATCH" : "FINE";
  return {
    name: "Event loop",
    state,
    reading: `99 % below ${latencyInWords(p99)}, half below ${latencyInWords(p50)}, at most ${latencyInWords(max)}`,
    normal: `99 % below ${LOOP_SLOW_MS} ms`,
    action:
      state === "FINE"
        ? null
        : "The machine is short of CPU time: check what else runs on it, or move the server.",
  };
}

function memoryCheck({ heapUsed, resident }: HealthJson["memoryBytes"]): HealthCheck {
  const isLarge = resident > RESIDENT_LARGE;
  return {
    name: "Memory",
    state: isLarge ? "WATCH" : "FINE",
    reading: `${mebibytes(resident)} in total, ${mebibytes(heapUsed)} of it heap`,
    normal: `Below ${mebibytes(RESIDENT_LARGE)}, steady over days`,
    action: isLarge
      ? "Compare it with yesterday. If it keeps growing, restart the server and report it."
      : null,
  };
}

function ago(at: number, now: number): string {
  return `${durationInWords((now - at) / 1_000)} ago`;
}

function named(symbols: readonly string[]): string {
  const more = symbols.length - SYMBOLS_NAMED;
  return symbols.slice(0, SYMBOLS_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MEBIBYTE)} MiB`;
}
