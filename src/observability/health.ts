// The health of the service for operators and monitoring: feeds, store, pending work, process.
import type { Timers } from "../concurrency/time.ts";
import { systemTimers } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Store } from "../store/store.ts";
import type { EventLoop } from "./event-loop.ts";

/** How long a result of the store check is reused, ms. */
const STORE_KEPT_MS = 1_000;
/** The store is not ready if a small read takes longer, ms. */
const STORE_ANSWER_MS_MAX = 1_000;

type HealthParts = {
  readonly store: Store;
  readonly storeKind: "SQLite" | "PostgreSQL";
  readonly markets: { readonly [T in StrategyType]: Pick<MarketFeed, "status" | "rules"> };
  readonly desk: { isBehind(): boolean };
  readonly eventLoop: EventLoop;
  readonly wallNow: () => number;
  readonly monotonicNow?: () => number;
  readonly after?: Timers["after"];
};

export class Health {
  readonly #parts: HealthParts;
  /** The last check of the store and its start, ms of the monotonic clock. */
  #asked: { readonly at: number; isPending: boolean; readonly answer: Promise<string> } | null = null;

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  /** The present health. Rejects if the store cannot be read. */
  async report() {
    const { store, storeKind, markets, desk, eventLoop, wallNow } = this.#parts;
    const answersInMs = await this.#storeAnswersInMs();
    const [pending, people, waitsForStandby] = await Promise.all([
      store.countPendingSignals(),
      store.people.countPeople(),
      store.waitsForStandby(),
    ]);
    const { heapUsed, rss } = process.memoryUsage();
    const { count, oldestReceivedAt } = pending;
    return {
      feeds: feedsOf(markets),
      /**
       * How long a small read takes, and whether commits wait for a standby; null for the embedded database.
       */
      store: { kind: storeKind, answersInMs, isBehind: desk.isBehind(), waitsForStandby },
      /** How long the oldest pending signal waits, ms; null if none does. */
      sweepLagMs: oldestReceivedAt === null ? null : Math.max(0, wallNow() - oldestReceivedAt),
      pendingSignals: count,
      eventLoopDelayMs: eventLoop.delay(),
      memoryBytes: { heapUsed, resident: rss },
      people,
    };
  }

  /**
   * Whether the service can do its work: of each part "ok", or what is wrong with it. Never rejects, and
   * takes no longer than `STORE_ANSWER_MS_MAX`.
   */
  async readiness() {
    const { SPOT, FUTURES } = this.#parts.markets;
    const store = await this.#storeStanding();
    return { store, spotMarket: standingOf(SPOT), futuresMarket: standingOf(FUTURES) };
  }

  async #storeAnswersInMs(): Promise<number> {
    const { store, monotonicNow = () => performance.now() } = this.#parts;
    const askedAt = monotonicNow();
    // A look-up that finds nothing.
    await store.people.findPerson("");
    return Math.round((monotonicNow() - askedAt) * 1_000) / 1_000;
  }

  /** While a check is pending no second one is started. */
  #storeStanding(): Promise<string> {
    const { store, monotonicNow = () => performance.now(), after = systemTimers.after } = this.#parts;
    const now = monotonicNow();
    if (this.#asked !== null && (this.#asked.isPending || now - this.#asked.at < STORE_KEPT_MS)) {
      return this.#asked.answer;
    }
    const answer = new Promise<string>((resolve) => {
      const cancel = after(STORE_ANSWER_MS_MAX, () => resolve(`no answer within ${STORE_ANSWER_MS_MAX} ms`));
      const settle = (standing: string) => {
        asked.isPending = false;
        cancel();
        resolve(standing);
      };
      store.people.findPerson("").then(
        () => settle("ok"),
        () => settle("cannot be reached"),
      );
    });
    const asked = { at: now, isPending: true, answer };
    this.#asked = asked;
    return answer;
  }
}

/**
 * Market data is fresh while every connection is open and not all symbols in use are silent. A symbol that is
 * not trading may be silent.
 */
function standingOf(market: Pick<MarketFeed, "status" | "rules">): string {
  const { connected, isLate, symbols, silentSymbols } = market.status();
  if (!connected) return "not connected";
  if (isLate) return "its data comes too late";
  const isSilent =
    silentSymbols.length === symbols &&
    silentSymbols.some((symbol) => market.rules(symbol)?.status === "TRADING");
  return isSilent ? "no symbol in use has a quote" : "ok";
}

/** The present state of the feeds. */
export function feedsOf(
  markets: {
    readonly [T in StrategyType]: Pick<MarketFeed, "status">;
  },
) {
  return (["SPOT", "FUTURES"] as const).map((type) => {
    const status = markets[type].status();
    const { connected, lastMessageAt, dataAgeMs, isLate, symbols, streams, connects } = status;
    const { silentSymbols, pausedUntil, untradable } = status;
    return {
      family: type,
      isConnected: connected,
      /** Unix ms; 0 before the first. */
      lastMessageAt,
      /** How old the newest market data is, ms; null while nothing is streamed. */
      dataAgeMs,
      /** Whether messages arrive too late to trade by. */
      isLate,
      symbols,
      streams,
      connects,
      staleSymbols: silentSymbols,
      /** Until when upstream takes no requests, Unix ms; 0 if it takes them. */
      pausedUntil,
      /** Why no order can be taken until another market is chosen; null where prices may be expected. */
      untradable,
    };
  });
}
