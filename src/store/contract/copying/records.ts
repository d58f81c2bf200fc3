// Venue accounts, leads, copies and entries, as the cases make them.
import type { AuditAction, NewAuditRecord } from "../../../domain/audit.ts";
import {
  type Copy,
  type CopyBook,
  type CopySettings,
  type CopyStatus,
  EMPTY_BOOK,
  EXACT_SETTINGS,
  type LeadAction,
  type LeadState,
  type MirrorEntry,
  type OrderIntent,
  type VenueAccount,
} from "../../../domain/copying.ts";
import { decimal } from "../../../money/decimal.ts";
import type { CopyProgress } from "../../ports/copies.ts";
import type { Store } from "../../store.ts";
import { auditOf } from "../people/people-records.ts";
import { createdOf, firstOf, HUGE, TINY } from "../records.ts";

/** When everything happens, unless a case says otherwise: wall time, Unix ms. */
export const COPIED_AT = 1_795_228_304_525;
/** Who works at leads, unless a case says otherwise. */
export const HOLDER = "one process";
export const VENUE = "https://api.example.com";

/**
 * A record of what somebody did to a copy, an account or a switch: which of them does not matter to any case.
 */
export function auditedAs(what: AuditAction, personId = "ann"): NewAuditRecord {
  return auditOf(what, personId);
}

/** An account of the person of that name, called like them. */
export function venueAccountOf(personId: string, terms: Partial<VenueAccount> = {}): VenueAccount {
  return {
    accountId: `account-of-${personId}`,
    personId,
    type: "SPOT",
    venue: VENUE,
    label: `${personId}, with "quotes" and ’umlauts’ äöü`,
    keyHint: "abcd",
    sealed: `seal2 of ${personId}`,
    status: "CONNECTED",
    failure: null,
    createdAt: COPIED_AT,
    checkedAt: COPIED_AT,
    disconnectedAt: null,
    ...terms,
  };
}

export const SETTINGS: CopySettings = {
  share: decimal("0.5"),
  maxPerOrder: decimal(HUGE),
  stopLoss: decimal(TINY),
  takeProfit: decimal("1.5"),
  size: { by: "FIXED_RATIO", ratio: decimal(TINY) },
  budget: decimal(HUGE),
  leverageMax: 5,
  positionMax: decimal("2"),
  exposureMax: decimal("5"),
  ordersPerMinuteMax: 30,
  lossPerDayMax: decimal("0.1"),
  symbols: ["ETHUSDT", "BTCUSDT"],
  slippageMax: { major: decimal("0.005"), other: decimal("0.015") },
  copyExisting: true,
  closeAfterSeconds: 60,
};

export const OTHER_SETTINGS: CopySettings = EXACT_SETTINGS;

/** The copy of a strategy by a person, on their account, called like both. */
export function copyOf(
  personId: string,
  strategyId: string,
  terms: Partial<Copy> = {},
): Omit<Copy, "fromVersion" | "doneSeq" | "revision"> {
  return {
    copyId: `${personId}-${strategyId}`,
    personId,
    strategyId,
    accountId: `account-of-${personId}`,
    type: "SPOT",
    settings: SETTINGS,
    status: "FOLLOWING",
    reason: null,
    startedAt: COPIED_AT,
    endedAt: null,
    book: EMPTY_BOOK,
    ...terms,
  };
}

/**
 * A book with something in every part, the largest and the smallest decimals, and symbols in no order of
 * their own.
 */
export const FULL_BOOK: CopyBook = {
  holdings: new Map([
    ["ETHUSDT", { quantity: decimal(`-${HUGE}`), cost: decimal(TINY) }],
    ["1000", { quantity: decimal("0.5"), cost: decimal(HUGE) }],
  ]),
  realized: decimal(`-${TINY}`),
  fees: decimal("0.1"),
  startEquity: decimal("1000"),
  startShare: decimal("0.75"),
  startBudget: decimal("1333.33"),
  stopBase: decimal("640.5"),
  snapshot: {
    at: COPIED_AT,
    wallet: decimal(HUGE),
    available: decimal("0"),
    equity: decimal("-3"),
    held: new Map([
      ["ETHUSDT", decimal(`-${TINY}`)],
      ["1000", decimal("7")],
    ]),
  },
  nextEntryId: 4_000_000_001,
};

const LEAD_STATE: LeadState = {
  wallet: decimal(HUGE),
  held: new Map([
    ["ETH", decimal(TINY)],
    ["7", decimal("-2")],
  ]),
  lastPrices: new Map([["ETHUSDT", decimal("2000.5")]]),
  promised: new Map([["ETHUSDT", decimal(TINY)]]),
};

/** The action of that number, which a limit order is unless a case says otherwise. */
export function actionOf(seq: number, version: number, intent: OrderIntent = placementOf(seq)): LeadAction {
  return { seq, version, at: COPIED_AT + seq, lead: LEAD_STATE, ...intent };
}

export function placementOf(orderId: number): OrderIntent {
  return {
    kind: "PLACE",
    symbol: "BTCUSDT",
    orderId,
    collectiveId: `collective-${orderId}`,
    side: "BUY",
    orderType: "LIMIT",
    quantity: decimal("0.5"),
    price: decimal(HUGE),
    stopPrice: decimal("0"),
    reduceOnly: false,
    leverage: null,
    filled: null,
  };
}

/** An entry of a copy's log: an order that was filled, unless a case says otherwise. */
export function entryOf(copyId: string, entryId: number, terms: Partial<MirrorEntry> = {}): MirrorEntry {
  return {
    copyId,
    entryId,
    seq: entryId,
    requestId: null,
    collectiveId: `collective-${entryId}`,
    kind: "PLACE",
    symbol: "BTCUSDT",
    status: "FILLED",
    skip: null,
    side: "BUY",
    orderType: "LIMIT",
    leadQuantity: decimal("0.5"),
    leadPrice: decimal("100"),
    scale: { by: "EQUITY", ours: 10n ** 40n, theirs: -(10n ** 40n) - 1n },
    scaledQuantity: decimal(TINY),
    quantity: decimal(HUGE),
    price: decimal("100"),
    stopPrice: null,
    clientOrderId: `lyre${entryId}`,
    venueOrderId: "12",
    executedQuantity: decimal("0.25"),
    executedQuote: decimal("25"),
    fee: decimal(TINY),
    leadAt: COPIED_AT + entryId,
    sentAt: COPIED_AT,
    acknowledgedAt: COPIED_AT + 1,
    updatedAt: COPIED_AT + 2,
    sends: 1,
    queries: 0,
    ...terms,
  };
}

/** An entry that was skipped for want of quantity. */
export function skippedOf(copyId: string, entryId: number, terms: Partial<MirrorEntry> = {}): MirrorEntry {
  return entryOf(copyId, entryId, {
    status: "SKIPPED",
    skip: {
      reason: "BELOW_MIN_QUANTITY",
      filter: "LOT_SIZE",
      wanted: decimal("0.001"),
      had: decimal(TINY),
      unit: "BASE",
      venue: { code: -1013, message: "Filter failure: \0 LOT_SIZE" },
    },
    clientOrderId: null,
    venueOrderId: null,
    executedQuantity: decimal("0"),
    sentAt: null,
    acknowledgedAt: null,
    ...terms,
  });
}

/** What is handed over of a copy: nothing but that an action is dealt with, unless a case says otherwise. */
export function progressOf(copyId: string, doneSeq: number, terms: Partial<CopyProgress> = {}): CopyProgress {
  return { copyId, entries: [], book: EMPTY_BOOK, doneSeq, moves: null, finishes: [], ...terms };
}

/** Makes spot strategies that everybody may follow, of an owner called tom. */
export async function openToCopiers(store: Store, ...strategyIds: readonly string[]): Promise<void> {
  await store.createStrategies(strategyIds.map((id) => createdOf(id, { ownerId: "tom" })));
  for (const strategyId of strategyIds) {
    await store.copying.setOpenToCopiers(strategyId, true, auditedAs("STRATEGY_OPENED_TO_COPIERS", "tom"));
  }
}

/** Has people follow a strategy, each with an account of their own; answers the ids of their copies. */
export async function follow(
  store: Store,
  strategyId: string,
  ...people: readonly string[]
): Promise<readonly string[]> {
  const copyIds: string[] = [];
  for (const personId of people) {
    const account = venueAccountOf(personId);
    await store.copying.connectAccount(account, auditedAs("VENUE_ACCOUNT_CONNECTED", personId), {
      liveMax: 9,
    });
    const copy = copyOf(personId, strategyId);
    const outcome = await store.copying.createCopy(copy, auditedAs("COPY_STARTED", personId));
    if (outcome !== "CREATED") throw new Error(`a copy that nothing is in the way of is created: ${outcome}`);
    copyIds.push(copy.copyId);
  }
  return copyIds;
}

/**
 * Strategies one and two with copies, of ann and bob of the first, of cat of the second, under a claim of
 * `HOLDER`.
 */
export async function copiedByThree(store: Store): Promise<void> {
  await openToCopiers(store, "one", "two");
  await follow(store, "one", "ann", "bob");
  await follow(store, "two", "cat");
  await claim(store);
}

/** What moves a spot lead on to a version, by the last of these actions, for `HOLDER`. */
export function advanceOf(
  strategyId: string,
  [fromVersion, version]: readonly [number, number],
  actions: readonly LeadAction[],
) {
  const seq = actions.at(-1)?.seq ?? 0;
  const { account } = firstOf(strategyId);
  return { strategyId, type: "SPOT", account, holder: HOLDER, fromVersion, version, seq, actions } as const;
}

/** Has a copy that is followed be stopped by its owner, or left in another status. */
export function leave(
  { copying }: Pick<Store, "copying">,
  copyId: string,
  status: CopyStatus = "STOPPED",
  at = 1,
): Promise<boolean> {
  const change = { copyId, from: ["FOLLOWING"], status, reason: "COPIER", at } as const;
  return copying.changeCopy(change, auditedAs(status === "STOPPED" ? "COPY_STOPPED" : "COPY_PAUSED"));
}

/**
 * Claims every lead there is for `HOLDER`, at the time 1,000 until 2,000 unless a case says otherwise;
 * answers their ids.
 */
export async function claim(
  { copying }: Pick<Store, "copying">,
  terms: Partial<Parameters<Store["copying"]["claimLeads"]>[0]> = {},
): Promise<readonly string[]> {
  const claimed = await copying.claimLeads({
    holder: HOLDER,
    now: 1_000,
    until: 2_000,
    isAlone: false,
    ...terms,
  });
  return claimed.map(({ strategyId }) => strategyId);
}
