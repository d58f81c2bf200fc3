/**
 * Outages on demand, for tests: silent streams and refused REST requests, each for everything, a type or a
 * symbol. A symbol means the spot pair and the perpetual of that name.
 */
import type { StrategyType } from "../../domain/account.ts";

/** All, the symbols of a type, or one symbol. */
export type FaultTarget = "all" | StrategyType | (string & {});

export type Faults = ReturnType<typeof createFaults>;

export function createFaults() {
  const struck = new Set<FaultTarget>();
  return {
    strike(target: FaultTarget) {
      struck.add(target);
    },
    /** Ends what was struck under the same name; `"all"` ends everything. */
    lift(target: FaultTarget) {
      if (target === "all") struck.clear();
      else struck.delete(target);
    },
    /** Whether a symbol of a type is hit; without a symbol only what hits the type as a whole counts. */
    hits(type: StrategyType, symbol?: string): boolean {
      if (struck.size === 0) return false;
      return struck.has("all") || struck.has(type) || (symbol !== undefined && struck.has(symbol));
    },
  };
}
