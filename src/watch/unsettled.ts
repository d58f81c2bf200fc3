// Since when the market has reached those who are not settled yet: their commands are under way, or could not be carried out
// and are tried again. A process that comes after must look at the market from there on.
import { nameOf, type Waiting } from "./waiting.ts";

export class Unsettled {
  /** By name. */
  readonly #reached = new Map<string, { readonly symbol: string; readonly at: number }>();

  /** The market has reached one who waits, market time; only the first time counts. */
  begin(waiting: Waiting, at: number): void {
    const name = nameOf(waiting);
    if (!this.#reached.has(name)) this.#reached.set(name, { symbol: waiting.symbol, at });
  }

  /** What had reached it is committed, or is known not to concern it. */
  end(waiting: Waiting): void {
    this.#reached.delete(nameOf(waiting));
  }

  /** The earliest time at which the market has reached one of the symbol that is not settled; null if all are. */
  since(symbol: string): number | null {
    let earliest: number | null = null;
    for (const reached of this.#reached.values()) {
      if (reached.symbol === symbol) earliest = Math.min(reached.at, earliest ?? reached.at);
    }
    return earliest;
  }
}
