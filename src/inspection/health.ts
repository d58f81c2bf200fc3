// How the service fares: its feeds, its store, what waits, and its process. Asked for by operators and by what watches the service.
import type { StrategyType } from "../domain/account.ts";
import type { KycStatus } from "../domain/person.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Store } from "../store/store.ts";
import type { EventLoop, EventLoopDelay } from "./event-loop.ts";

export type FeedHealth = {
  readonly family: StrategyType;
  readonly isConnected: boolean;
  /** Unix ms; 0 before the first. */
  readonly lastMessageAt: number;
  readonly symbols: number;
  readonly streams: number;
  readonly connects: number;
  readonly staleSymbols: readonly string[];
  /** Until when upstream wants no requests, Unix ms; 0 when it takes them. */
  readonly pausedUntil: number;
};

export type HealthReport = {
  readonly feeds: readonly FeedHealth[];
  readonly store: {
    readonly kind: "SQLite" | "PostgreSQL";
    /** How long a small read takes, ms. */
    readonly answersInMs: number;
    readonly isBehind: boolean;
  };
  /** How long the oldest pending signal waits, ms; null if none does. */
  readonly sweepLagMs: number | null;
  readonly pendingSignals: number;
  readonly eventLoopDelayMs: EventLoopDelay;
  readonly memoryBytes: { readonly heapUsed: number; readonly resident: number };
  readonly people: { readonly [S in KycStatus]: number };
};

type HealthParts = {
  readonly store: Store;
  readonly storeKind: "SQLite" | "PostgreSQL";
  readonly markets: { readonly [T in StrategyType]: Pick<MarketFeed, "status"> };
  readonly desk: { isBehind(): boolean };
  readonly eventLoop: EventLoop;
  readonly wallNow: () => number;
  readonly monotonicNow?: () => number;
};

export class Health {
  readonly #parts: HealthParts;

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  /** How everything stands now. Rejects if the store cannot be asked. */
  async report(): Promise<HealthReport> {
    const { store, storeKind, markets, desk, eventLoop, wallNow } = this.#parts;
    const answersInMs = await this.#storeAnswersInMs();
    const [pending, people] = await Promise.all([store.countPendingSignals(), store.people.countPeople()]);
    const { heapUsed, rss } = process.memoryUsage();
    const { count, oldestReceivedAt } = pending;
    return {
      feeds: feedsOf(markets),
      store: { kind: storeKind, answersInMs, isBehind: desk.isBehind() },
      sweepLagMs: oldestReceivedAt === null ? null : Math.max(0, wallNow() - oldestReceivedAt),
      pendingSignals: count,
      eventLoopDelayMs: eventLoop.delay(),
      memoryBytes: { heapUsed, resident: rss },
      people,
    };
  }

  async #storeAnswersInMs(): Promise<number> {
    const { store, monotonicNow = () => performance.now() } = this.#parts;
    const askedAt = monotonicNow();
    // A look-up by its key that finds nothing.
    await store.people.findPerson("");
    return Math.round((monotonicNow() - askedAt) * 1_000) / 1_000;
  }
}

/** How the feeds stand. */
export function feedsOf(
  markets: {
    readonly [T in StrategyType]: Pick<MarketFeed, "status">;
  },
): readonly FeedHealth[] {
  return (["SPOT", "FUTURES"] as const).map((family) => {
    const status = markets[family].status();
    const { connected, lastMessageAt, symbols, streams, connects, silentSymbols, pausedUntil } = status;
    return {
      family,
      isConnected: connected,
      lastMessageAt,
      symbols,
      streams,
      connects,
      staleSymbols: silentSymbols,
      pausedUntil,
    };
  });
}
