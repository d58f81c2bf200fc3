// Times of unfinished dispatches: their commands are in flight, or failed and are retried. The next process
// must check the market from the earliest of them on.
import { nameOf, type Trigger } from "./trigger.ts";

export class UnfinishedDispatches {
  /** By name. */
  readonly #reached = new Map<string, { readonly symbol: string; readonly at: number }>();

  /** A trigger was hit at this market time; only the first time counts. */
  begin(trigger: Trigger, at: number): void {
    const name = nameOf(trigger);
    if (!this.#reached.has(name)) this.#reached.set(name, { symbol: trigger.symbol, at });
  }

  /** The trigger's command is committed, or does not apply any more. */
  end(trigger: Trigger): void {
    this.#reached.delete(nameOf(trigger));
  }

  /** The earliest hit of an unfinished dispatch on a symbol; null if there is none. */
  since(symbol: string): number | null {
    let earliest: number | null = null;
    for (const reached of this.#reached.values()) {
      if (reached.symbol === symbol) earliest = Math.min(reached.at, earliest ?? reached.at);
    }
    return earliest;
  }
}
