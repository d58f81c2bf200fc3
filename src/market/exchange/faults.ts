/**
 * Outages on demand, for tests: silent streams and refused REST requests, each for everything, a type or a
 * symbol. A symbol means the spot pair and the perpetual of that name.
 */
import type { Family } from "./source.ts";

/** `"all"`, `"spot"`, `"futures"` or a symbol. */
export type FaultTarget = "all" | Family | (string & {});

export type Faults = {
  strike(target: FaultTarget): void;
  /** Ends what was struck under the same name; `"all"` ends everything. */
  lift(target: FaultTarget): void;
  /** Whether a symbol of a family is hit; without a symbol only what hits the family as a whole counts. */
  hits(family: Family, symbol?: string): boolean;
};

export function createFaults(): Faults {
  const struck = new Set<FaultTarget>();
  return {
    strike(target) {
      struck.add(target);
    },
    lift(target) {
      if (target === "all") struck.clear();
      else struck.delete(target);
    },
    hits(family, symbol) {
      if (struck.size === 0) return false;
      return struck.has("all") || struck.has(family) || (symbol !== undefined && struck.has(symbol));
    },
  };
}
