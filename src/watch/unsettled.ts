// Since when the market has reached orders that are not settled yet: their commands are under way, or could not be carried out
// and are tried again. A process that comes after must look at the market from there on.
import type { Waiting } from "./watch-list.ts";

export class Unsettled {
  /** By order. */
  readonly #reached = new Map<string, { readonly symbol: string; readonly at: number }>();

  /** The market has reached an order, market time; only the first time counts. */
  begin(waiting: Waiting, at: number): void {
    const name = nameOf(waiting);
    if (!this.#reached.has(name)) this.#reached.set(name, { symbol: waiting.symbol, at });
  }

  /** What had reached it is committed, or is known not to concern it. */
  end(waiting: Waiting): void {
    this.#reached.delete(nameOf(waiting));
  }

  /** The earliest time at which the market has reached an order of the symbol that is not settled; null if all are. */
  since(symbol: string): number | null {
    let earliest: number | null = null;
    for (const reached of this.#reached.values()) {
      if (reached.symbol === symbol) earliest = Math.min(reached.at, earliest ?? reached.at);
    }
    return earliest;
  }
}

/** The name of an order among those of all strategies. */
export function nameOf({ strategyId, orderId }: Waiting): string {
  return `${strategyId}:${orderId}`;
}
