// The cost of a mark price with many positions: one that hits nothing, and one that hits one of them, whose
// liquidation is decided and applied.
import type { Account } from "../../src/domain/account.ts";
import { MarketStub } from "../../src/engine/testing/market-stub.ts";
import type { Price } from "../../src/money/decimal.ts";
import { TriggerIndex } from "../../src/triggers/trigger-index.ts";
import { carryOut } from "./decisions.ts";
import { CONTRACT, entryOf, liquidationOf, withPosition } from "./positions.ts";

export const POSITIONS = 100_000;
/** Ticks of one measurement that reach one position each. */
const LIQUIDATED = 1_000;
const IDLE_TICKS = 1_000_000;
const AT = 1_790_000_000_000;

export class MarkTicks {
  readonly #list = new TriggerIndex();
  readonly #circumstances = { market: new MarketStub([CONTRACT]), at: AT };
  /** Those that the next ticks reach, in the order in which they do. */
  readonly #next: { readonly account: Account; readonly price: Price }[] = [];

  /** Adds the positions; the number of measurements of hits is bounded by them. */
  constructor(measurements: number) {
    for (let number = POSITIONS - 1; number >= 0; number -= 1) {
      const { account } = withPosition(`s${number}`, AT, number);
      const trigger = liquidationOf(account);
      this.#list.add(trigger);
      if (this.#next.length < LIQUIDATED * measurements) this.#next.push({ account, price: trigger.price });
    }
  }

  /** A tick that hits nothing, ns. */
  idleNs(): number {
    const highest = entryOf(POSITIONS);
    let reached = 0;
    const start = performance.now();
    for (let count = 0; count < IDLE_TICKS; count += 1) {
      reached += this.#list.takeAtMark(CONTRACT.symbol, (highest + BigInt(count & 15)) as Price).length;
    }
    const elapsedMs = performance.now() - start;
    if (reached > 0) throw new Error("these ticks reach nothing");
    return (elapsedMs * 1_000_000) / IDLE_TICKS;
  }

  /** A tick that liquidates one position, µs. */
  liquidatingUs(): number {
    const ticks = this.#next.splice(0, LIQUIDATED);
    if (ticks.length < LIQUIDATED) throw new Error("there are positions left to liquidate");
    const start = performance.now();
    for (const { account, price } of ticks) {
      const [one, ...others] = this.#list.takeAtMark(CONTRACT.symbol, price);
      if (one?.trigger.strategyId !== account.strategyId || others.length > 0) {
        throw new Error("these ticks reach one position each");
      }
      const command = { type: "LiquidatePosition", symbol: CONTRACT.symbol, seen: one.seen } as const;
      if (!carryOut(account, command, this.#circumstances)) throw new Error("what is reached is liquidated");
    }
    return ((performance.now() - start) * 1_000) / LIQUIDATED;
  }
}
