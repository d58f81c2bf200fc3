// The audit after the fire: compares what the database holds of each strategy with what its bot sent and
// received. Nothing changes while it runs.
import { emptyAccount } from "../../../src/domain/account.ts";
import { signalKey } from "../../../src/domain/command.ts";
import type { DomainEvent } from "../../../src/domain/event.ts";
import type { Order } from "../../../src/domain/order.ts";
import type { Signal } from "../../../src/domain/signal.ts";
import type { JournalEntry } from "../../../src/domain/strategy.ts";
import { apply } from "../../../src/engine/apply.ts";
import { encodeOrder } from "../../../src/store/codec.ts";
import { journalFaults } from "../harness/journal.ts";
import { recomputedFaults } from "../harness/recomputed.ts";
import type { Beside, CrashedStore } from "../harness/stores.ts";
import { type Bot, isTerminal, type ShownSignal } from "./bot.ts";
import type { FireFault, FireFaultKind } from "./fire.ts";

export type Audit = Readonly<typeof NO_AUDIT>;

export const NO_AUDIT = {
  // Signals of all strategies, and by their states.
  ...{ recorded: 0, executed: 0, rejected: 0, pending: 0 },
  orders: 0,
  /** Accounts that were recomputed, and journals that were replayed. */
  accounts: 0,
  faults: [] as readonly FireFault[],
};

/** What the database holds of a strategy. */
export type Records = {
  readonly signals: readonly Signal[];
  readonly entries: readonly JournalEntry[];
  readonly orders: readonly { readonly orderId: number; readonly clientOrderId: string }[];
};

/** More than any bot sends. */
const SIGNALS_MAX = 500;

/** Looks at everything. */
export async function auditAll(beside: Beside, store: CrashedStore, bots: readonly Bot[]): Promise<Audit> {
  const faults: FireFault[] = [];
  const counts = { ...NO_AUDIT };
  for (const what of await store.damage(beside)) faults.push({ kind: "DAMAGED", what });
  for (const bot of bots) {
    const { strategyId } = bot.credentials;
    const records = await readRecords(beside, strategyId);
    const { signals, orders } = records;
    counts.recorded += signals.length;
    counts.executed += signals.filter(({ state }) => state.status === "EXECUTED").length;
    counts.rejected += signals.filter(({ state }) => state.status === "REJECTED").length;
    counts.pending += signals.filter(({ state }) => !isTerminal(state)).length;
    counts.orders += orders.length;
    counts.accounts += 1;
    faults.push(...faultsOf(bot, records));
    faults.push(...(await journalFaults(beside.store, strategyId)));
    faults.push(...(await recomputedFaults(beside, strategyId, "SPOT")));
  }
  return { ...counts, faults };
}

async function readRecords({ store, db }: Beside, strategyId: string): Promise<Records> {
  const rows = await db.selectFrom("orders").select("body").where("strategy_id", "=", strategyId).execute();
  return {
    signals: await store.listSignals(strategyId, { limit: SIGNALS_MAX }),
    entries: await store.listEntries(strategyId),
    orders: rows.map(({ body }) => JSON.parse(body)),
  };
}

/** Everything that is wrong with the signals of a bot. */
export function faultsOf(bot: Pick<Bot, "name" | "signals">, records: Records): FireFault[] {
  const faults: FireFault[] = [];
  const add = (kind: FireFaultKind, what: string) => faults.push({ kind, what: `${bot.name}: ${what}` });
  const { signals, entries, orders } = records;
  const byKey = new Map(signals.map((signal) => [signal.idempotencyKey, signal]));
  if (byKey.size !== signals.length) add("DOUBLED", "one key is several signals");
  for (const sent of bot.signals.values()) {
    const stored = byKey.get(sent.key);
    if (sent.shown !== null && stored?.signalId !== sent.shown.signalId)
      add(
        "LOST",
        `${JSON.stringify(sent.shown)} was acknowledged, and there is ${stored?.signalId ?? "nothing"}`,
      );
    if (sent.isHopeless && stored?.state.status === "EXECUTED")
      add("UNASKED", `nobody takes ${JSON.stringify(sent.body)}`);
    if (sent.shown !== null && isTerminal(sent.shown) && stored !== undefined && !tellsOf(sent.shown, stored))
      add("CHANGED", `${JSON.stringify(sent.shown)} was told of ${stateText(stored)}`);
  }
  for (const { idempotencyKey } of signals)
    if (!bot.signals.has(idempotencyKey)) add("UNASKED", `nobody sent ${idempotencyKey}`);

  const settled = settledBy(entries);
  for (const signal of signals) {
    const { signalId, state } = signal;
    const own = orders.filter(({ clientOrderId }) => clientOrderId === signalId);
    const ends = settled.get(signalId) ?? [];
    const name = `${signal.idempotencyKey} (${stateText(signal)})`;
    if (own.length > 1) add("DOUBLED", `${name} has ${own.length} orders`);
    if (ends.length > 1) add("DOUBLED", `${name} has ${ends.length} ends in the journal`);
    if (state.status === "EXECUTED" && own.length === 0) add("LOST", `${name} has no order`);
    if (state.status !== "EXECUTED" && own.length > 0) add("UNASKED", `${name} has an order`);
    const [end] = ends;
    if (end !== undefined && endText(end) !== endText(state))
      add("CHANGED", `${name} is in the journal as ${endText(end)}`);
    if (end === undefined && state.status === "EXECUTED") add("JOURNAL", `${name} has no end in the journal`);
    if (end === undefined && state.status === "REJECTED") add("JOURNAL", `${name} has no end in the journal`);
    if (end !== undefined && end.key !== signalKey(signalId))
      add("JOURNAL", `${name} has the key ${end.key}`);
  }
  const ids = new Set(signals.map(({ signalId }) => signalId));
  for (const { orderId, clientOrderId } of orders)
    if (!ids.has(clientOrderId)) add("UNASKED", `order ${orderId} is of no signal: ${clientOrderId}`);
  for (const signalId of settled.keys())
    if (!ids.has(signalId)) add("LOST", `the journal has ended a signal that is not there: ${signalId}`);
  return faults;
}

/** How the journal ended a signal: with its order as the entry left it, or with a reason. */
type End = { readonly key: string | null } & (
  | { readonly status: "EXECUTED"; readonly order: Order | null; readonly processedAt: number }
  | { readonly status: "REJECTED"; readonly reason: object; readonly processedAt: number }
);

/** The ends of all signals, by id, found by replaying the journal. */
function settledBy(entries: readonly JournalEntry[]): Map<string, End[]> {
  const found = new Map<string, End[]>();
  const account = emptyAccount("audit", "SPOT");
  for (const { key, events } of entries) {
    const orders = new Map<number, Order>();
    for (const event of events) {
      const { order } = apply(account, event);
      if (order !== null) orders.set(order.orderId, order);
    }
    for (const event of events) {
      const end = endOf(event, key, orders);
      if (end !== null) found.set(end.signalId, [...(found.get(end.signalId) ?? []), end]);
    }
  }
  return found;
}

function endOf(
  event: DomainEvent,
  key: string | null,
  orders: ReadonlyMap<number, Order>,
): (End & { readonly signalId: string }) | null {
  if (event.type === "SignalExecuted") {
    const { signalId, orderId, processedAt } = event;
    return { signalId, key, status: "EXECUTED", order: orders.get(orderId) ?? null, processedAt };
  }
  if (event.type === "SignalRejected") {
    const { signalId, reason, processedAt } = event;
    return { signalId, key, status: "REJECTED", reason, processedAt };
  }
  return null;
}

function endText(end: End | Signal["state"]): string {
  if (end.status === "EXECUTED")
    return `EXECUTED ${end.processedAt} ${end.order === null ? "without an order" : encodeOrder(end.order)}`;
  if (end.status === "REJECTED") return `REJECTED ${end.processedAt} ${JSON.stringify(end.reason)}`;
  return end.status;
}

/** Whether a terminal answer says what is stored: of an executed signal the order as it was at first. */
function tellsOf({ status, result, processedAt, receivedAt }: ShownSignal, stored: Signal): boolean {
  const { state } = stored;
  if (state.status !== status || new Date(stored.receivedAt).toISOString() !== receivedAt) return false;
  if (state.status !== "EXECUTED" && state.status !== "REJECTED") return false;
  if (new Date(state.processedAt).toISOString() !== processedAt) return false;
  if (state.status === "REJECTED") return result.status === false && typeof result.message === "string";
  const { orderId, clientOrderId, status: orderStatus } = result.data;
  const { order } = state;
  return (
    result.status === true &&
    orderId === order.orderId &&
    clientOrderId === stored.signalId &&
    orderStatus === order.status
  );
}

function stateText({ state }: Signal): string {
  return state.status === "FAILED" ? JSON.stringify(state) : endText(state);
}
