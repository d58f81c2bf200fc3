// The market-data coverage log: until when every trigger on a symbol, in the slots of this server, has been
// checked against the market. The store has it as a watermark, from which the next process continues, so it
// contains only what is certain: every commit until `knownUntil` is known here; a triggered order counts as
// uncovered until its command is committed; a trigger that became known late moves the watermark back to its
// creation until its past is checked; a silent symbol is covered at most until it fell silent.
import type { Logger } from "pino";
import type { StrategyType } from "../domain/account.ts";
import type { Store } from "../store/store.ts";

/**
 * The watermark stays this far behind the time, ms: a symbol that is not silent had a message, and a new
 * order was committed, well within it. Applying a range of prices twice does no harm.
 */
const LAG_MS = 5_000;
/** The market keeps the ticks of ten seconds; one second less, since the request may be a little later. */
const TICKS_KEPT_MS = 9_000;
/** Maximum difference between the clocks of two servers, ms. */
const CLOCKS_APART_MS_MAX = 1_000;

/** Coverage of a subscribed symbol. Times are market time, Unix ms. */
export type SymbolCoverage = {
  /** When the subscription began. */
  readonly begunAt: number;
  /** Start of this process's complete market data; null before the first message of the symbol. */
  completeSince: number | null;
  /**
   * Start of the earliest interval that no live server has checked for pending triggers; null if there is
   * none.
   */
  uncoveredSince: number | null;
  /** Until when it was covered when watermarks were last stored and it was not silent; null before that. */
  heardUntil: number | null;
};

/** A moment of market time, Unix ms, and the market's sequence number at that moment. */
export type Checkpoint = { readonly at: number; readonly sequence: number };

/** What else decides until when a symbol is covered. Times are market time, Unix ms. */
export type CoverageState = {
  readonly now: number;
  /** Until when every commit of every process is known. */
  readonly knownUntil: number;
  /** Whether the symbol has had no message for a while. */
  readonly isSilent: boolean;
  /** Since when gaps and dispatches of the symbol are unfinished; null for none. */
  readonly pendingSince: readonly (number | null)[];
};

export class CoverageLog {
  readonly #type: StrategyType;
  readonly #store: Pick<Store, "noteHeard" | "forgetHeard" | "listHeard">;
  readonly #log: Pick<Logger, "error">;
  readonly #symbols = new Map<string, SymbolCoverage>();
  /** Symbols that have a watermark in the store. */
  readonly #noted = new Set<string>();
  /**
   * Symbols without triggers whose watermark may be stored: the next owner would take it for that of its own.
   */
  readonly #ended = new Set<string>();
  /** Those of the last seconds, oldest first. */
  #checkpoints: readonly Checkpoint[] = [];
  /** During the initial load: the stored watermark of each symbol, market time. */
  #storedBefore: ReadonlyMap<string, number> = new Map();

  constructor(deps: {
    type: StrategyType;
    store: Pick<Store, "noteHeard" | "forgetHeard" | "listHeard">;
    log: Pick<Logger, "error">;
  }) {
    this.#type = deps.type;
    this.#store = deps.store;
    this.#log = deps.log;
  }

  /** Loads the stored watermarks, less a margin, for triggers that become known until `endResume`. */
  async beginResume(marginMs = 0): Promise<void> {
    const stored = await this.#store.listHeard(this.#type);
    this.#storedBefore = new Map(stored.map(({ symbol, at }) => [symbol, at - marginMs]));
    for (const { symbol } of stored) this.#noted.add(symbol);
  }

  endResume(): void {
    this.#storedBefore = new Map();
  }

  /** During the initial load: until when a symbol was covered, market time in Unix ms; else null. */
  storedUntil(symbol: string): number | null {
    return this.#storedBefore.get(symbol) ?? null;
  }

  /** Begins the coverage of a subscribed symbol at a market time, Unix ms. */
  begin(symbol: string, begunAt: number): SymbolCoverage {
    const coverage = { begunAt, completeSince: null, uncoveredSince: null, heardUntil: null };
    this.#symbols.set(symbol, coverage);
    this.#ended.delete(symbol);
    return coverage;
  }

  end(symbol: string): void {
    if (!this.#symbols.delete(symbol)) return;
    this.#ended.add(symbol);
    this.#noted.delete(symbol);
  }

  /** The coverage of a symbol; null if it is not subscribed. */
  of(symbol: string): SymbolCoverage | null {
    return this.#symbols.get(symbol) ?? null;
  }

  /** Marks the market since a time as uncovered, for a trigger that became known late. */
  markUncovered(symbol: string, since: number): void {
    const coverage = this.#symbols.get(symbol);
    if (coverage === undefined) return;
    const from = Math.max(since, this.#storedBefore.get(symbol) ?? since);
    coverage.uncoveredSince = Math.min(from, coverage.uncoveredSince ?? from);
  }

  addCheckpoint(checkpoint: Checkpoint): void {
    const kept = this.#checkpoints.filter(({ at }) => at >= checkpoint.at - TICKS_KEPT_MS);
    this.#checkpoints = [...kept, checkpoint];
  }

  /** Whether the market still has all ticks since this sequence number of it. */
  isRemembered(sequence: number): boolean {
    const [earliest] = this.#checkpoints;
    return earliest === undefined || earliest.sequence <= sequence;
  }

  /**
   * The sequence number since which the market still has all ticks of a symbol, taken before a trigger was
   * created by any server at `since`; null if there is none.
   */
  completeBefore(symbol: string, since: number, now: number): number | null {
    const completeSince = this.#symbols.get(symbol)?.completeSince ?? null;
    const time = since - CLOCKS_APART_MS_MAX;
    const before = this.#checkpoints.findLast(({ at }) => at <= time && at >= now - TICKS_KEPT_MS);
    if (completeSince === null || before === undefined || before.at < completeSince) return null;
    return before.sequence;
  }

  /** Until when a symbol is covered, market time in Unix ms; null while that is unknown. */
  until(symbol: string, { now, knownUntil, isSilent, pendingSince }: CoverageState): number | null {
    const coverage = this.#symbols.get(symbol);
    if (coverage === undefined || knownUntil < now - LAG_MS) return null;
    const { begunAt, completeSince, uncoveredSince, heardUntil } = coverage;
    if (completeSince === null && uncoveredSince !== null) return null;
    const unfinished = [...pendingSince, uncoveredSince].filter((time) => time !== null);
    // The stored watermark is that of the time before.
    if (isSilent && unfinished.length === 0) return null;
    const heard = isSilent ? (heardUntil ?? (completeSince ?? begunAt) - LAG_MS) : knownUntil - LAG_MS;
    return Math.min(heard, ...unfinished);
  }

  /**
   * The first watermark of a symbol while it is not known until when it is covered, market time in Unix ms;
   * null if it has one. Without one the next owner of the slots would go by a later one of its own.
   */
  #firstOf(symbol: string, { knownUntil, pendingSince }: CoverageState): number | null {
    const coverage = this.#symbols.get(symbol);
    if (coverage === undefined || this.#noted.has(symbol)) return null;
    const unfinished = [...pendingSince, coverage.uncoveredSince].filter((time) => time !== null);
    return Math.min(Math.min(coverage.begunAt, knownUntil) - LAG_MS, ...unfinished);
  }

  /** Stores the watermarks of symbols, given what else decides them. */
  async store(stateOf: (symbol: string) => CoverageState): Promise<void> {
    const watermarks = [...this.#symbols].flatMap(([symbol, coverage]) => {
      const state = stateOf(symbol);
      const until = this.until(symbol, state);
      if (!state.isSilent) coverage.heardUntil = until ?? coverage.heardUntil;
      const at = until ?? this.#firstOf(symbol, state);
      return at === null ? [] : [{ type: this.#type, symbol, at }];
    });
    const ended = [...this.#ended];
    this.#ended.clear();
    try {
      if (watermarks.length > 0) await this.#store.noteHeard(watermarks);
      for (const { symbol } of watermarks) if (this.#symbols.has(symbol)) this.#noted.add(symbol);
      if (ended.length > 0) await this.#store.forgetHeard(this.#type, ended);
    } catch (error) {
      // The old watermark remains: the next process requests more history than it needs.
      this.#log.error({ err: error }, "market-data coverage could not be stored");
    }
  }
}
