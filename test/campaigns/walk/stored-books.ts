// Compares the database's rows of a strategy with its journal: the events are the truth, and everything else
// must follow from them.
import type { DomainEvent } from "../../../src/domain/event.ts";
import type { Income } from "../../../src/domain/income.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Order, Trade } from "../../../src/domain/order.ts";
import type { JournalEntry } from "../../../src/domain/strategy.ts";
import { apply } from "../../../src/engine/apply.ts";
import { openStrategy } from "../../../src/engine/open-strategy.ts";
import { encodeLeg, encodeOrder, encodeTrade } from "../../../src/store/codec.ts";
import type { Store } from "../../../src/store/store.ts";
import { receiptFaults } from "../harness/receipts.ts";
import { checkChange, checkLegChange, stateOf } from "./invariants.ts";
import type { WalkSetup } from "./setups.ts";

/** More rows than a walk makes on one symbol. */
const ROWS_MAX = 1_000_000;

/**
 * Throws unless the journal replays to the row, the orders, the trades, the legs and the incomes. Answers the
 * journal.
 */
export async function checkStored(
  store: Store,
  strategyId: string,
  setup: WalkSetup,
): Promise<readonly JournalEntry[]> {
  const entries = await store.listEntries(strategyId);
  entries.forEach(({ version }, index) => {
    if (version !== index + 1) throw new Error(`versions count from one without a gap: ${version}`);
  });
  const keys = entries.flatMap(({ key }) => key ?? []);
  if (new Set(keys).size !== keys.length) throw new Error("one idempotency key, one execution");

  const { state, orders, trades, legs, incomes } = replay(strategyId, entries, setup);
  const loaded = await store.loadAccount(strategyId);
  if (loaded?.version !== entries.length) throw new Error("the row's version is that of the last entry");
  if (stateOf(loaded.account) !== state) throw new Error("replaying the journal gives the stored state");
  const symbols = setup.listings.map(({ rules }) => rules.symbol);
  const stored = async <Row>(list: (id: string, query: Query) => Promise<readonly Row[]>): Promise<Row[]> =>
    (await Promise.all(symbols.map((symbol) => list(strategyId, { symbol, limit: ROWS_MAX })))).flat();
  checkSame("order", (await stored(store.listOrders)).map(encodeOrder), orders.map(encodeOrder));
  checkSame("trade", (await stored(store.listTrades)).map(encodeTrade), trades.map(encodeTrade));
  checkSame("leg", (await stored(store.listLegs)).map(encodeLeg), legs.map(encodeLeg));
  const listed = await store.listIncomes(strategyId, { limit: ROWS_MAX, offset: 0 });
  checkSame("income", listed.map(textOf), incomes.map(textOf));
  checkUnique(orders.flatMap((order) => (order.closesPosition ? [] : order.clientOrderId)));
  checkUnique(legs.map(({ clientLegId }) => clientLegId));
  return entries;
}

type Query = { readonly symbol: string; readonly limit: number };

/** What follows from a journal alone. */
function replay(strategyId: string, entries: readonly JournalEntry[], { type }: WalkSetup) {
  const [first, ...events] = entries.flatMap((entry): readonly DomainEvent[] => entry.events);
  const profile = first?.type === "StrategyOpened" ? first.profile : undefined;
  const { account, event, incomes: seed } = openStrategy(strategyId, type, first?.at ?? 0, profile);
  if (first?.type !== event.type) throw new Error("a journal begins with the opening of its strategy");
  const orders = new Map<number, Order>();
  const legs = new Map<number, Leg>();
  const trades: Trade[] = [];
  const incomes: Income[] = [...seed];
  for (const each of events) {
    const applied = apply(account, each);
    if (each.type === "OrderFilled") trades.push(each.trade);
    incomes.push(...applied.incomes);
    if (applied.order !== null) replace(orders, applied.order.orderId, applied.order, checkChange);
    if (applied.leg !== null) replace(legs, applied.leg.legId, applied.leg, checkLegChange);
  }
  const [fault] = [...receiptFaults(trades, account), ...sharingFaults(trades)];
  if (fault !== undefined) throw new Error(fault);
  return { state: stateOf(account), orders: [...orders.values()], legs: [...legs.values()], trades, incomes };
}

/** One trade of the market fills no more of a strategy's orders than it was of. */
function sharingFaults(trades: readonly Trade[]): string[] {
  const filledBy = new Map<string, bigint>();
  return trades.flatMap(({ symbol, quantity, receipt }) => {
    if (receipt?.marketTrade == null) return [];
    const { aggregateId, quantity: traded } = receipt.marketTrade;
    const key = `${symbol} ${aggregateId}`;
    const filled = (filledBy.get(key) ?? 0n) + quantity;
    filledBy.set(key, filled);
    return filled > traded ? [`a trade of ${traded} fills no more than that: ${filled} by ${key}`] : [];
  });
}

function replace<T>(all: Map<number, T>, id: number, later: T, check: (earlier: T, later: T) => void): void {
  const earlier = all.get(id);
  if (earlier !== undefined) check(earlier, later);
  all.set(id, later);
}

function textOf({ incomeId, type, symbol, asset, amount, at, tradeId }: Income): string {
  return [incomeId, type, symbol, asset, amount, at, tradeId].join(" ");
}

function checkUnique(clientIds: readonly string[]): void {
  if (new Set(clientIds).size !== clientIds.length) throw new Error("one client id, one order or leg");
}

function checkSame(what: string, found: readonly string[], expected: readonly string[]): void {
  const missing = expected.find((row) => !found.includes(row));
  if (missing !== undefined) throw new Error(`the journal's ${what} is not stored: ${missing}`);
  if (found.length !== expected.length)
    throw new Error(`there are ${found.length} of what is ${expected.length} in the journal: ${what}`);
}
