// Until when the market of each watched symbol has been looked at, for everyone who waits on it, of every server. It is noted
// in the store again and again: a process that comes after goes on from there. So it holds only what is certain:
//
//   - All that was committed until `knownUntil` is known, and an order is committed well within the lag after it began to
//     wait. While what others commit is not heard, or not loaded, nothing is noted.
//   - What the market has reached is in the note's future until it is committed.
//   - One that was learned of late has the note go back to when it began to wait, until that is looked at.
//
// Of several servers the last note stands. Each is true by itself, so it does not matter whose it is.
import type { Logger } from "pino";
import type { StrategyType } from "../domain/account.ts";
import type { Store } from "../store/store.ts";

/**
 * A symbol that is not silent was last heard of within this time, ms: so long ago, and no later, is noted. To look at a
 * moment twice does no harm.
 */
const LAG_MS = 5_000;

/** What is known of a symbol while it is watched. Times are market time, Unix ms. */
export type Attention = {
  /** From when this process has heard everything; null before its first word of the symbol. */
  wholeSince: number | null;
  /** From when there is a market that nobody who is known to live has looked at for someone who waits; null if there is none. */
  unseenSince: number | null;
};

export class LookedAt {
  readonly #family: StrategyType;
  readonly #store: Pick<Store, "noteHeard" | "listHeard">;
  readonly #now: () => number;
  readonly #knownUntil: () => number;
  readonly #isSilent: (symbol: string) => boolean;
  readonly #pendingSince: readonly ((symbol: string) => number | null)[];
  readonly #log: Pick<Logger, "error">;
  readonly #symbols = new Map<string, Attention>();
  /** While everything is loaded at the start: when each symbol was last heard of before this process, market time. */
  #heardBefore: ReadonlyMap<string, number> = new Map();

  constructor(parts: {
    family: StrategyType;
    store: Pick<Store, "noteHeard" | "listHeard">;
    /** Market time, Unix ms. */
    now: () => number;
    /** Until when every commit of every process is known. */
    knownUntil: () => number;
    /** Whether a symbol has not been heard of for a while. */
    isSilent: (symbol: string) => boolean;
    /** Each tells since when something of a symbol is under way: a gap, or one who was reached; null if nothing is. */
    pendingSince: readonly ((symbol: string) => number | null)[];
    log: Pick<Logger, "error">;
  }) {
    this.#family = parts.family;
    this.#store = parts.store;
    this.#now = parts.now;
    this.#knownUntil = parts.knownUntil;
    this.#isSilent = parts.isSilent;
    this.#pendingSince = parts.pendingSince;
    this.#log = parts.log;
  }

  /** Reads what was noted, for those who are learned of while `load` is under way. */
  async goOnFromNotes(load: () => Promise<void>): Promise<void> {
    const heard = await this.#store.listHeard(this.#family);
    this.#heardBefore = new Map(heard.map(({ symbol, at }) => [symbol, at]));
    await load();
    this.#heardBefore = new Map();
  }

  /** A symbol is watched from now on. */
  begin(symbol: string): Attention {
    const attention = { wholeSince: null, unseenSince: null };
    this.#symbols.set(symbol, attention);
    return attention;
  }

  end(symbol: string): void {
    this.#symbols.delete(symbol);
  }

  /** What is known of a symbol; undefined if it is not watched. */
  of(symbol: string): Attention | undefined {
    return this.#symbols.get(symbol);
  }

  /** Of one who was learned of late: the market since a time may not have been looked at for it. */
  markUnseen(symbol: string, since: number): void {
    const attention = this.#symbols.get(symbol);
    if (attention === undefined) return;
    const from = Math.max(since, this.#heardBefore.get(symbol) ?? since);
    attention.unseenSince = Math.min(from, attention.unseenSince ?? from);
  }

  /** Until when a symbol's market has been looked at, market time in Unix ms; null while that cannot be told. */
  until(symbol: string): number | null {
    const attention = this.#symbols.get(symbol);
    const known = this.#knownUntil();
    if (attention === undefined || known < this.#now() - LAG_MS) return null;
    const { wholeSince, unseenSince } = attention;
    if (wholeSince === null && unseenSince !== null) return null;
    const bounds = [
      ...this.#pendingSince.map((since) => since(symbol)),
      unseenSince,
      this.#isSilent(symbol) ? null : known - LAG_MS,
    ].filter((time) => time !== null);
    return bounds.length === 0 ? null : Math.min(...bounds);
  }

  async note(): Promise<void> {
    const heard = [...this.#symbols.keys()].flatMap((symbol) => {
      const at = this.until(symbol);
      return at === null ? [] : [{ family: this.#family, symbol, at }];
    });
    if (heard.length === 0) return;
    try {
      await this.#store.noteHeard(heard);
    } catch (error) {
      // What was noted before stands: the next process looks further back than it needs to.
      this.#log.error({ err: error }, "it could not be noted when symbols were last heard of");
    }
  }
}
