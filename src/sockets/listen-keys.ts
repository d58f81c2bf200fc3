// Listen keys that connections use at present. A key leads to the API key that opened it, and so to the
// strategy that this manages. Keys in use are looked up once a second, since they are extended and closed
// over REST, on any server: one that has expired falls silent, one that was closed ends its connections, as
// does an API key that was revoked or a strategy that was closed. Source: reference sockets, sections 7.1 and
// 7.2.
import type { Logger } from "pino";
import { Batcher } from "../concurrency/batcher.ts";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Cancel, Timers } from "../concurrency/time.ts";
import { KEYS_CHECKED_EVERY_MS, type KeyChecks } from "../keys/key-checks.ts";
import type { ListenKey } from "../store/ports/keys.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";
import { LISTEN_KEYS_AT_ONCE, USER_STREAMS_PER_KEY_MAX } from "./limits.ts";
import type { UserEvent } from "./user-events/event.ts";
import type { UserFeed, UserStreams } from "./user-streams.ts";

export type ListenKeysParts = {
  readonly store: Pick<Store, "findKey" | "findListenKeys">;
  readonly userStreams: Pick<UserStreams, "open">;
  readonly keyChecks: Pick<KeyChecks, "add" | "streamsOf">;
  readonly every: Timers["every"];
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Pick<Logger, "error">;
};

/** Why a stream cannot be opened, or has ended. */
export type EndOfStream = "UNKNOWN" | "NOT_OPENED" | "TOO_MANY" | "CLOSED" | "KEY_ENDED" | "EVENTS_LOST";

/** What a connection does with the stream of a listen key. */
export type StreamUser = {
  onEvent(event: UserEvent): void;
  /** The key has expired, as was found at a time in Unix ms: nothing follows. */
  onExpired(at: number): void;
  /** The stream has ended: nothing follows. */
  onEnd(reason: EndOfStream): void;
};

/** A stream that is open: gives its events to a user from the call on, until canceled. */
export type OpenStream = (user: StreamUser) => Cancel;

/** A stream that has ended before its first event. */
export function endedStream(reason: EndOfStream): OpenStream {
  return (user) => {
    user.onEnd(reason);
    return () => {};
  };
}

/** The stream of a listen key on one connection. */
type Use = { readonly user: StreamUser; readonly stop: Cancel };
type InUse = { expiresAt: number; readonly uses: Set<Use> };

export class ListenKeys {
  readonly #parts: ListenKeysParts;
  readonly #inUse = new Map<string, InUse>();
  readonly #lookUps: Batcher<string, ListenKey | null>;
  readonly #checks: PeriodicTask;

  constructor(parts: ListenKeysParts) {
    this.#parts = parts;
    this.#lookUps = new Batcher((wanted) => this.#find(wanted), { sizeMax: LISTEN_KEYS_AT_ONCE });
    this.#checks = new PeriodicTask({
      every: parts.every,
      intervalMs: KEYS_CHECKED_EVERY_MS,
      task: () => this.check(),
      onError: (error) => parts.log.error({ err: error }, "listen keys in use could not be looked up"),
    });
  }

  /**
   * Opens the stream of a listen key: loads its strategy's account. The stream has to be used within
   * `UNHEARD_MS_MAX`, and is released by itself if it is not. Rejects if the store cannot be read.
   */
  async open(listenKey: string): Promise<OpenStream> {
    const { store, userStreams, wallNow } = this.#parts;
    const row = await this.#lookUps.add(listenKey);
    if (row === null || row.expiresAt <= wallNow()) return endedStream("UNKNOWN");
    const { apiKey } = row;
    const bound = await store.findKey(apiKey);
    const strategy = bound === null || bound.key.revokedAt !== null ? null : bound.strategy;
    if (strategy?.type !== "FUTURES" || strategy.status === "CLOSED") return endedStream("UNKNOWN");
    const feed = await userStreams.open(strategy.strategyId);
    return feed === null ? endedStream("UNKNOWN") : (user) => this.#use(row, feed, user);
  }

  #use({ listenKey, apiKey, expiresAt }: ListenKey, feed: UserFeed, user: StreamUser): Cancel {
    const { keyChecks } = this.#parts;
    if (keyChecks.streamsOf(apiKey) >= USER_STREAMS_PER_KEY_MAX) return endedStream("TOO_MANY")(user);
    const inUse = this.#inUse.get(listenKey) ?? { expiresAt, uses: new Set() };
    this.#inUse.set(listenKey, inUse);
    const cancels: Cancel[] = [];
    const stop = () => {
      for (const cancel of cancels) cancel();
      inUse.uses.delete(use);
      if (inUse.uses.size === 0 && this.#inUse.get(listenKey) === inUse) this.#inUse.delete(listenKey);
    };
    const end = (reason: EndOfStream) => () => {
      stop();
      user.onEnd(reason);
    };
    const use = { user, stop };
    inUse.uses.add(use);
    cancels.push(
      feed.listen((event) => user.onEvent(event), end("EVENTS_LOST")),
      keyChecks.add(apiKey, { strategyId: feed.strategyId, end: end("KEY_ENDED") }),
    );
    return stop;
  }

  /**
   * Looks up the keys in use, and ends those that have to. A database that is out of reach is asked again.
   */
  async check(): Promise<void> {
    if (this.#inUse.size === 0) return;
    const inUse = [...this.#inUse];
    const rows = await this.#find(inUse.map(([listenKey]) => listenKey)).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return null;
      throw error;
    });
    if (rows === null) return;
    const now = this.#parts.wallNow();
    inUse.forEach(([, known], index) => {
      const row = rows[index] ?? null;
      if (row !== null) known.expiresAt = row.expiresAt;
      const isExpired = known.expiresAt <= now;
      if (row !== null && !isExpired) return;
      for (const { user, stop } of [...known.uses]) {
        stop();
        if (isExpired) user.onExpired(now);
        else user.onEnd("CLOSED");
      }
    });
  }

  async close(): Promise<void> {
    await this.#checks.close();
  }

  /** What there is of these keys, each at its place. */
  async #find(wanted: readonly string[]): Promise<readonly (ListenKey | null)[]> {
    const rows = await this.#parts.store.findListenKeys(wanted);
    const byKey = new Map(rows.map((row) => [row.listenKey, row]));
    return wanted.map((listenKey) => byKey.get(listenKey) ?? null);
  }
}
