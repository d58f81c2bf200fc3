// Market-data coverage: until when every trigger on a symbol, of every server, has been checked against the
// market. The store keeps it as a watermark, from which the next process continues, so it holds only what is
// certain:
// - every commit until `knownUntil` is known here; an order is committed well within LAG_MS after its
//   creation
// - a triggered order counts as uncovered until its command is committed
// - a trigger that became known late moves the watermark back to its creation until its past is checked
// Several servers overwrite each other's watermark; each one is true by itself.
import type { Logger } from "pino";
import type { StrategyType } from "../domain/account.ts";
import type { Store } from "../store/store.ts";

/**
 * The watermark stays this far behind the time, ms: a symbol that is not silent had a message within it.
 * Applying a span twice does no harm.
 */
const LAG_MS = 5_000;

/** CoverageLog of a subscribed symbol. Times are market time, Unix ms. */
export type SymbolCoverage = {
  /** Start of this process's complete market data; null before the first message of the symbol. */
  completeSince: number | null;
  /**
   * Start of the earliest interval that no live server has checked for pending triggers; null if there is
   * none.
   */
  uncoveredSince: number | null;
};

export class CoverageLog {
  readonly #family: StrategyType;
  readonly #store: Pick<Store, "noteHeard" | "listHeard">;
  readonly #now: () => number;
  readonly #knownUntil: () => number;
  readonly #isSilent: (symbol: string) => boolean;
  readonly #pendingSince: readonly ((symbol: string) => number | null)[];
  readonly #log: Pick<Logger, "error">;
  readonly #symbols = new Map<string, SymbolCoverage>();
  /** During the initial load: the stored watermark of each symbol, market time. */
  #storedBefore: ReadonlyMap<string, number> = new Map();

  constructor(parts: {
    family: StrategyType;
    store: Pick<Store, "noteHeard" | "listHeard">;
    /** Market time, Unix ms. */
    now: () => number;
    /** Until when every commit of every process is known. */
    knownUntil: () => number;
    /** Whether a symbol has had no message for a while. */
    isSilent: (symbol: string) => boolean;
    /** Each returns since when a gap or a dispatch of a symbol is unfinished; null if none is. */
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

  /** Uses the stored watermarks for triggers that become known during `load`. */
  async resumeFromStore(load: () => Promise<void>): Promise<void> {
    const heard = await this.#store.listHeard(this.#family);
    this.#storedBefore = new Map(heard.map(({ symbol, at }) => [symbol, at]));
    await load();
    this.#storedBefore = new Map();
  }

  /** Begins the coverage of a subscribed symbol. */
  begin(symbol: string): SymbolCoverage {
    const coverage = { completeSince: null, uncoveredSince: null };
    this.#symbols.set(symbol, coverage);
    return coverage;
  }

  end(symbol: string): void {
    this.#symbols.delete(symbol);
  }

  /** The coverage of a symbol; undefined if it is not subscribed. */
  of(symbol: string): SymbolCoverage | undefined {
    return this.#symbols.get(symbol);
  }

  /** Marks the market since a time as uncovered, for a trigger that became known late. */
  markUncovered(symbol: string, since: number): void {
    const coverage = this.#symbols.get(symbol);
    if (coverage === undefined) return;
    const from = Math.max(since, this.#storedBefore.get(symbol) ?? since);
    coverage.uncoveredSince = Math.min(from, coverage.uncoveredSince ?? from);
  }

  /** Until when a symbol is covered, market time in Unix ms; null while that is unknown. */
  until(symbol: string): number | null {
    const coverage = this.#symbols.get(symbol);
    const known = this.#knownUntil();
    if (coverage === undefined || known < this.#now() - LAG_MS) return null;
    const { completeSince, uncoveredSince } = coverage;
    if (completeSince === null && uncoveredSince !== null) return null;
    const bounds = [
      ...this.#pendingSince.map((since) => since(symbol)),
      uncoveredSince,
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
      // The old watermark remains: the next process requests more history than it needs.
      this.#log.error({ err: error }, "it could not be noted when symbols were last heard of");
    }
  }
}
