// Journal entries of a spot strategy as events of its user data stream: a report for each step of an order,
// then one event with the balances that the entry has changed. Figures are those of the REST bodies.
// Source: reference sockets, sections 6.4 to 6.6.
import { createHash } from "node:crypto";
import type { Account } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { ExpiryReason } from "../../domain/order.ts";
import { isOpen, type Order, type Trade } from "../../domain/order.ts";
import { apply } from "../../engine/apply.ts";
import { expiryReasonOf, presentOrder, presentTrade } from "../../http/present/spot.ts";
import { formatDecimal, ZERO } from "../../money/decimal.ts";
import {
  type AppliedEntry,
  type Translate,
  type TranslationContext,
  type UserEvent,
  userEvent,
} from "./event.ts";

type ExecutionType = "NEW" | "TRADE" | "CANCELED" | "EXPIRED";

/** Which of an account's executions a report is about. */
type Execution = {
  readonly type: ExecutionType;
  readonly at: number;
  /** Unique within the strategy, and the same on every server. */
  readonly executionId: number;
  readonly trade?: Trade;
  readonly expiry?: ExpiryReason;
};

/** Execution ids of one entry: more than any entry has events. */
const EXECUTIONS_PER_ENTRY = 65_536;
const CANCEL_ID_LENGTH = 22;

export const spotEvents: Translate = (account, entry, context) => {
  const sent: UserEvent[] = [];
  const assets = new Set<string>();
  entry.events.forEach((event, index) => {
    const { order } = apply(account, event);
    for (const { asset } of event.postings) assets.add(asset);
    const execution = executionOf(event, entry, index);
    if (order === null || execution === null) return;
    assets.add(order.reservedAsset);
    sent.push(executionReport(account, order, execution, context));
  });
  if (assets.size > 0) sent.push(accountPosition(account, assets, context));
  return sent;
};

function executionOf(event: DomainEvent, { version }: AppliedEntry, index: number): Execution | null {
  const common = { at: event.at, executionId: version * EXECUTIONS_PER_ENTRY + index };
  switch (event.type) {
    case "OrderPlaced":
    // A stop whose price was reached is reported as new once more, now as an order on the book.
    case "OrderTriggered":
      return { ...common, type: "NEW" };
    case "OrderFilled":
      return { ...common, type: "TRADE", trade: event.trade };
    case "OrderCanceled":
      return { ...common, type: "CANCELED" };
    case "OrderExpired":
      return { ...common, type: "EXPIRED", expiry: event.reason };
    default:
      return null;
  }
}

function executionReport(
  { strategyId }: Account,
  order: Order,
  { type, at, executionId, trade, expiry }: Execution,
  { now }: TranslationContext,
): UserEvent {
  const shown = presentOrder(strategyId, order);
  const fill = trade === undefined ? null : presentTrade(trade);
  const isCancel = type === "CANCELED";
  const zero = formatDecimal(ZERO);
  return userEvent({
    e: "executionReport",
    E: Math.max(now, at),
    s: shown.symbol,
    c: isCancel ? cancelId(strategyId, order) : shown.clientOrderId,
    S: shown.side,
    o: shown.type,
    f: shown.timeInForce,
    q: shown.origQty,
    p: shown.price,
    P: shown.stopPrice,
    F: shown.icebergQty,
    g: shown.orderListId,
    C: isCancel ? shown.clientOrderId : "",
    x: type,
    X: shown.status,
    r: "NONE",
    i: shown.orderId,
    l: fill?.qty ?? zero,
    z: shown.executedQty,
    L: fill?.price ?? zero,
    n: fill?.commission ?? "0",
    N: fill?.commissionAsset ?? null,
    T: at,
    t: fill?.id ?? -1,
    I: executionId,
    w: isOpen(order) && shown.isWorking,
    m: fill?.isMaker ?? false,
    M: fill?.isBestMatch ?? false,
    O: shown.time,
    Z: shown.cummulativeQuoteQty,
    Y: fill?.quoteQty ?? zero,
    Q: shown.origQuoteOrderQty,
    ...(shown.isWorking && { W: shown.workingTime }),
    V: shown.selfTradePreventionMode,
    ...(expiry !== undefined && { eR: expiryReasonOf(expiry) }),
  });
}

/** The balances of some assets after the entry. */
function accountPosition(
  account: Account,
  assets: ReadonlySet<string>,
  { now }: TranslationContext,
): UserEvent {
  return userEvent({
    e: "outboundAccountPosition",
    E: Math.max(now, account.updatedAt),
    u: account.updatedAt,
    B: [...assets].map((asset) => {
      const { free = ZERO, locked = ZERO } = account.balances.get(asset) ?? {};
      return { a: asset, f: formatDecimal(free), l: formatDecimal(locked) };
    }),
  });
}

/** An id for the cancel: what the client called it is not recorded. The same on every server. */
function cancelId(strategyId: string, { orderId }: Order): string {
  const digest = createHash("sha256").update(`cancel:${strategyId}:${orderId}`).digest("hex");
  return digest.slice(0, CANCEL_ID_LENGTH);
}
