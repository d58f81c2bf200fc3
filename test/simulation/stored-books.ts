// What the database says of a strategy, held against its journal: the events are the truth, and everything else must follow
// from them.
import type { DomainEvent } from "../../src/domain/event.ts";
import type { Order, Trade } from "../../src/domain/order.ts";
import { apply } from "../../src/engine/apply.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";
import { encodeOrder, encodeTrade } from "../../src/store/codec.ts";
import type { JournalEntry, Store } from "../../src/store/store.ts";
import { checkChange, stateOf } from "./invariants.ts";
import { SYMBOLS } from "./random-market.ts";

/** More rows than a walk makes on one symbol. */
const ROWS_MAX = 1_000_000;

/** Throws unless the journal replays to the row, the orders and the trades. Answers the journal. */
export async function checkStored(store: Store, strategyId: string): Promise<readonly JournalEntry[]> {
  const entries = await store.listEntries(strategyId);
  entries.forEach(({ version }, index) => {
    if (version !== index + 1) throw new Error(`versions count from one without a gap: ${version}`);
  });
  const keys = entries.flatMap(({ key }) => key ?? []);
  if (new Set(keys).size !== keys.length) throw new Error("one idempotency key, one execution");

  const { state, orders, trades } = replay(strategyId, entries);
  const loaded = await store.loadAccount(strategyId);
  if (loaded?.version !== entries.length) throw new Error("the row's version is that of the last entry");
  if (stateOf(loaded.account) !== state) throw new Error("replaying the journal gives the stored state");
  checkSame("order", await stored(store.listOrders, strategyId, encodeOrder), orders.map(encodeOrder));
  checkSame("trade", await stored(store.listTrades, strategyId, encodeTrade), trades.map(encodeTrade));
  if (new Set(orders.map(({ clientOrderId }) => clientOrderId)).size !== orders.length)
    throw new Error("one client id, one order");
  return entries;
}

/** What follows from a journal alone. */
function replay(strategyId: string, entries: readonly JournalEntry[]) {
  const [first, ...events] = entries.flatMap((entry): readonly DomainEvent[] => entry.events);
  const { account, event } = openStrategy(strategyId, "SPOT", first?.at ?? 0);
  if (first?.type !== event.type) throw new Error("a journal begins with the opening of its strategy");
  const orders = new Map<number, Order>();
  const trades: Trade[] = [];
  for (const each of events) {
    const order = apply(account, each);
    if (each.type === "OrderFilled") trades.push(each.trade);
    if (order === null) continue;
    const earlier = orders.get(order.orderId);
    if (earlier !== undefined) checkChange(earlier, order);
    orders.set(order.orderId, order);
  }
  return { state: stateOf(account), orders: [...orders.values()], trades };
}

async function stored<Row>(
  list: (strategyId: string, query: { symbol: string; limit: number }) => Promise<readonly Row[]>,
  strategyId: string,
  encode: (row: Row) => string,
): Promise<string[]> {
  const rows = await Promise.all(SYMBOLS.map((symbol) => list(strategyId, { symbol, limit: ROWS_MAX })));
  return rows.flat().map(encode);
}

function checkSame(what: string, found: readonly string[], expected: readonly string[]): void {
  const missing = expected.find((row) => !found.includes(row));
  if (missing !== undefined) throw new Error(`the journal's ${what} is not stored: ${missing}`);
  if (found.length !== expected.length)
    throw new Error(`there are ${found.length} of what is ${expected.length} in the journal: ${what}`);
}
