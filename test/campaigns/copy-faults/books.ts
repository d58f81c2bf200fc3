// What is known of a copy once nothing moves any more: what its strategy did, what its mirror log says, and
// what the venue's own books have of its account.
import { mirrorClientId } from "../../../src/copy/executor/client-ids.ts";
import { actionsOf } from "../../../src/copy/leads/actions.ts";
import { type Account, emptyAccount } from "../../../src/domain/account.ts";
import type { Copy, LeadAction, MirrorEntry } from "../../../src/domain/copying.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Order } from "../../../src/domain/order.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Copier, Lead } from "../../copy/actors.ts";
import { SYMBOLS } from "./lead-trader.ts";

export type CopyBooks = {
  /** For the text of a fault. */
  readonly name: string;
  readonly copy: Copy;
  /** The strategy's actions, ascending. */
  readonly actions: readonly LeadAction[];
  /** The mirror log, ascending. */
  readonly entries: readonly MirrorEntry[];
  readonly venue: {
    readonly account: Account;
    /** Ascending; those that the service places for a leg that fires, or to liquidate, are not among them. */
    readonly orders: readonly Order[];
    readonly legs: readonly Leg[];
    /** What the venue has closed by itself. */
    readonly liquidations: readonly Order[];
  };
};

const PAGE = 1_000;

/** From the strategy's journal: what no copy needs any more the copiers have pruned. */
export async function readActions(leads: Store, strategyId: string): Promise<readonly LeadAction[]> {
  const loaded = await leads.loadAccount(strategyId);
  if (loaded === null) throw new Error("a strategy is never removed");
  const account = emptyAccount(strategyId, loaded.account.type);
  const actions: LeadAction[] = [];
  for (const entry of await leads.listEntries(strategyId))
    actions.push(...actionsOf(account, actions.at(-1) ?? null, entry));
  return actions;
}

export async function readEntries(leads: Store, copyId: string): Promise<readonly MirrorEntry[]> {
  const entries: MirrorEntry[] = [];
  for (;;) {
    const before = entries.at(-1)?.entryId;
    const page = await leads.copying.listMirrorEntries(copyId, { before, limit: PAGE });
    entries.push(...page);
    if (page.length < PAGE) return entries.toReversed();
  }
}

export async function readBooks(
  leads: Store,
  venue: Store,
  { lead, copier }: { readonly lead: Lead; readonly copier: Copier },
  actions: readonly LeadAction[],
): Promise<CopyBooks> {
  const copy = await leads.copying.findCopy(copier.copyId);
  const { strategyId } = copier.venue;
  const loaded = await venue.loadAccount(strategyId);
  if (copy === null || loaded === null) throw new Error("a copy and its account are never removed");
  const orders: Order[] = [];
  const legs: Leg[] = [];
  for (const { symbol } of SYMBOLS) {
    orders.push(...(await venue.listOrders(strategyId, { symbol, limit: PAGE * PAGE })));
    legs.push(...(await venue.listLegs(strategyId, { symbol, limit: PAGE * PAGE })));
  }
  return {
    name: `${lead.type} copy ${copier.copyId}`,
    copy,
    actions,
    entries: await readEntries(leads, copier.copyId),
    venue: {
      account: loaded.account,
      orders: orders
        .filter(({ type, closesPosition }) => type !== "LIQUIDATION" && closesPosition !== true)
        .sort((one, other) => one.orderId - other.orderId),
      legs,
      liquidations: orders.filter(({ type }) => type === "LIQUIDATION"),
    },
  };
}

/** An entry of a cancel may name the order that it is about. */
export function isOfCancel({ kind }: Pick<MirrorEntry, "kind">): boolean {
  return kind === "CANCEL" || kind === "CANCEL_LEG" || kind === "FILL" || kind === "SET_LEVERAGE";
}

/**
 * Of which row a client id is an attempt, in words. A row has the id of its last attempt only; what the venue
 * has may be of an earlier one.
 */
export function attemptOf({ copy, entries, actions }: CopyBooks, clientId: string): string {
  const { copyId } = copy;
  const sent = clientId.replace(REUSED, "");
  // An id that is also that of a cancel is of the order.
  for (const entry of entries.toSorted((one, other) => Number(isOfCancel(one)) - Number(isOfCancel(other)))) {
    const { entryId, kind, status, symbol, sends } = entry;
    const attempt = attemptsOf(entry).find((each) => attemptId(copyId, entry, each) === sent);
    if (attempt !== undefined)
      return `attempt ${attempt} of entry ${entryId} (${kind} ${symbol} ${status}, sent ${sends} times)`;
  }
  const action = actions.find((each) => {
    if (each.kind !== "PLACE" && each.kind !== "PLACE_LEG") return false;
    return attemptId(copyId, { ...each, entryId: 0 }, 1) === sent;
  });
  return action === undefined ? "an attempt of no entry" : `attempt 1 of action ${action.seq}, without entry`;
}

/** What the exchange puts behind a client id that was used again. */
export const REUSED = /x\d+$/;

/** The attempts that a row may have been sent as; a leg that replaces itself has the number of its row. */
function attemptsOf({ kind, entryId, sends }: MirrorEntry): readonly number[] {
  const counted = Array.from({ length: 2 * sends + 1 }, (_, index) => index + 1);
  return kind === "PLACE_LEG" ? [...counted, entryId] : counted;
}

/** The client id of an attempt, as the copier makes it. */
function attemptId(
  copyId: string,
  { kind, seq, collectiveId, entryId, symbol }: AttemptOf,
  attempt: number,
): string {
  const purpose = kind === "PLACE" ? "order" : kind === "PLACE_LEG" ? "leg" : "close";
  const isOwn = collectiveId === null || (kind === "PLACE" && seq === null);
  const origin = isOwn ? { requestId: `entry-${entryId}`, symbol: symbol ?? "" } : { collectiveId };
  return mirrorClientId({ ...origin, copyId, purpose, attempt });
}

type AttemptOf = Pick<MirrorEntry, "kind" | "seq" | "collectiveId" | "entryId" | "symbol">;

/** The lines of a copy's log on a symbol, with when each was sent and answered. */
export function logOf({ entries, copy }: CopyBooks, symbol: string): string {
  const lines = entries
    .filter((entry) => entry.symbol === symbol)
    .map(
      ({
        entryId,
        seq,
        kind,
        side,
        orderType,
        quantity,
        status,
        executedQuantity,
        clientOrderId,
        skip,
        sentAt,
        acknowledgedAt,
      }) =>
        `${entryId}/${seq} ${kind} ${side} ${orderType} ${quantity} ${status} ${executedQuantity} ${skip?.reason ?? ""} ${sentAt}+${(acknowledgedAt ?? 0) - (sentAt ?? 0)} ${clientOrderId?.slice(-4) ?? ""}`,
    );
  return [`${copy.status}, by its book ${copy.book.holdings.get(symbol)?.quantity ?? 0n}`, ...lines].join(
    "; ",
  );
}
