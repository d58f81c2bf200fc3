// What an account had at each moment, replayed from the journal of its gateway. Nothing of the code that
// copies is used.
import { type Account, closingSide, emptyAccount, type StrategyType } from "../../../src/domain/account.ts";
import { COPY_QUOTE_ASSET } from "../../../src/domain/copying.ts";
import type { Trade } from "../../../src/domain/order.ts";
import type { JournalEntry } from "../../../src/domain/strategy.ts";
import { apply } from "../../../src/engine/apply.ts";
import { ownedOf } from "../../../src/money/posting.ts";
import type { Store } from "../../../src/store/store.ts";

/** An account after an entry of its journal. All quantities in units of 1e-8. */
export type Moment = {
  readonly version: number;
  /** Market time, Unix ms. */
  readonly at: number;
  /** Of the quote asset: free, locked and isolated. */
  readonly wallet: bigint;
  /** By symbol: base units, negative for a short. What is not held is left out. */
  readonly held: ReadonlyMap<string, bigint>;
  /** The symbols whose position has a live stop. */
  readonly stops: ReadonlySet<string>;
  /** What the entry executed. */
  readonly trades: readonly Trade[];
};

export async function readHistory(
  store: Store,
  { strategyId, type }: Pick<Account, "strategyId" | "type">,
  symbols: readonly string[],
): Promise<readonly Moment[]> {
  return historyOf(await store.listEntries(strategyId), { strategyId, type }, symbols);
}

/** Ascending. */
export function historyOf(
  entries: readonly JournalEntry[],
  { strategyId, type }: Pick<Account, "strategyId" | "type">,
  symbols: readonly string[],
): readonly Moment[] {
  const account = emptyAccount(strategyId, type);
  return entries.map(({ version, at, events }) => {
    for (const event of events) apply(account, event);
    const held = symbols.map((symbol) => [symbol, heldOf(account, type, symbol)] as const);
    return {
      ...{ version, at, wallet: ownedOf(account.balances, COPY_QUOTE_ASSET) },
      held: new Map(held.filter(([, quantity]) => quantity !== 0n)),
      stops: new Set(symbols.filter((symbol) => hasStop(account, symbol))),
      trades: events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : [])),
    };
  });
}

function heldOf(account: Account, type: StrategyType, symbol: string): bigint {
  if (type === "FUTURES") return account.positions.get(symbol)?.quantity ?? 0n;
  return ownedOf(account.balances, symbol.slice(0, -COPY_QUOTE_ASSET.length));
}

function hasStop({ positions, openLegs }: Account, symbol: string): boolean {
  const position = positions.get(symbol);
  if (position === undefined) return false;
  return [...openLegs.values()].some(
    (leg) =>
      leg.symbol === symbol &&
      leg.type === "STOP_MARKET" &&
      leg.status === "NEW" &&
      leg.side === closingSide(position),
  );
}
