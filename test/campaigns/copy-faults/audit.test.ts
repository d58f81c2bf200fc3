// The audit finds what it is there to find: books that are in order, and then each fault in them.
import { describe, expect, test } from "vitest";
import { mirrorClientId } from "../../../src/copy/executor/client-ids.ts";
import { emptyAccount, type Position } from "../../../src/domain/account.ts";
import {
  type Copy,
  EMPTY_BOOK,
  type Holding,
  type LeadAction,
  type LeadState,
  type MirrorEntry,
  skipOf,
} from "../../../src/domain/copying.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Order } from "../../../src/domain/order.ts";
import { decimal } from "../../../src/money/decimal.ts";
import { emptyLedgerAccounts } from "../../../src/money/posting.ts";
import { settingsOf } from "../../copy/actors.ts";
import { auditCopy } from "./audit.ts";
import type { CopyBooks } from "./books.ts";
import { COPIER_READY } from "./copying.ts";
import { type CopyFault, clusterLines, type FaultPlace } from "./faults.ts";

const SYMBOL = "DOGEUSDT";
const LEAD: LeadState = {
  wallet: decimal("200"),
  held: new Map(),
  lastPrices: new Map(),
  promised: new Map(),
};

const ACTIONS: readonly LeadAction[] = [
  placement(1, 5, "before"),
  { ...placement(2, 6, "bought"), filled: { quantity: decimal("100"), price: decimal("0.1") } },
  placement(3, 7, "rested"),
  placement(4, 8, "tiny"),
  {
    ...{ seq: 5, version: 9, at: 9, lead: LEAD, kind: "CANCEL", symbol: SYMBOL, orderId: 7 },
    ...{ collectiveId: "rested", because: "CANCELED" },
  },
];
const BOUGHT = entryOf(1, 2, "bought", { status: "FILLED", executedQuantity: decimal("100") });
const RESTED = entryOf(2, 3, "rested", { status: "CANCELED" });
const SKIPPED = entryOf(3, 4, "tiny", {
  ...{ status: "SKIPPED", clientOrderId: null, venueOrderId: null, sentAt: null },
  skip: {
    reason: "BELOW_MIN_NOTIONAL",
    filter: "NOTIONAL",
    wanted: null,
    had: null,
    unit: null,
    venue: null,
  },
});
const CANCEL: MirrorEntry = { ...entryOf(4, 5, "rested", { status: "DONE" }), kind: "CANCEL" };
const ORDERS: readonly Order[] = [
  orderOf(1, "bought", { status: "FILLED", executedQuantity: decimal("100") }),
  orderOf(2, "rested", { status: "CANCELED" }),
];
const BOOKS: CopyBooks = {
  name: "a copy",
  copy: copyOf(5, "100"),
  actions: ACTIONS,
  entries: [BOUGHT, RESTED, SKIPPED, CANCEL],
  venue: { account: accountOf("100"), orders: ORDERS, legs: [], liquidations: [] },
};

describe("the audit of a copy", () => {
  test("finds nothing where all is well", () => {
    expect(kindsOf(BOOKS)).toEqual([]);
  });

  test.each<[string, string, Partial<CopyBooks>]>([
    ["an action without an entry", "LOST", { entries: [BOUGHT, RESTED, CANCEL] }],
    [
      "an entry whose order is not at the venue",
      "LOST",
      { venue: { ...BOOKS.venue, orders: ORDERS.slice(0, 1) } },
    ],
    ["an order that no entry tells of", "DOUBLED", withOrders(orderOf(3, "again", { status: "CANCELED" }))],
    [
      "two entries for one action",
      "DOUBLED",
      { entries: [BOUGHT, { ...BOUGHT, entryId: 9 }, RESTED, SKIPPED] },
    ],
    ["a cursor that is not at the end", "LATE", { copy: copyOf(4, "100") }],
    [
      "an entry for what began before the copy",
      "UNEXPLAINED",
      withEntries(entryOf(9, 1, "before", { status: "DONE" })),
    ],
    [
      "a skip without a reason",
      "UNEXPLAINED",
      { entries: [BOUGHT, RESTED, { ...SKIPPED, skip: null }, CANCEL] },
    ],
    [
      "an order that is said to be skipped",
      "UNEXPLAINED",
      { entries: [{ ...BOUGHT, status: "SKIPPED", skip: SKIPPED.skip }, RESTED, SKIPPED, CANCEL] },
    ],
    [
      "another size than the log says",
      "CHANGED",
      { entries: [{ ...BOUGHT, quantity: decimal("99") }, RESTED, SKIPPED] },
    ],
    ["a fill that is not told", "CHANGED", { entries: [{ ...BOUGHT, status: "RESTING" }, RESTED, SKIPPED] }],
    [
      "orders of a symbol the other way round",
      "DISORDERED",
      {
        venue: {
          ...BOOKS.venue,
          orders: [orderOf(1, "rested", { status: "CANCELED" }), orderOf(2, "bought", ORDERS[0] ?? {})],
        },
      },
    ],
    [
      "an order that its cancel has missed",
      "DISORDERED",
      {
        entries: [BOUGHT, { ...RESTED, status: "RESTING" }, SKIPPED, CANCEL],
        venue: { ...BOOKS.venue, orders: [ORDERS[0] ?? never(), orderOf(2, "rested", { status: "NEW" })] },
      },
    ],
    [
      "an entry that is not done at the end",
      "LATE",
      { entries: [BOUGHT, RESTED, ofStatus(SKIPPED, "NEW"), CANCEL] },
    ],
    [
      "an unknown outcome of an order that is there",
      "UNEXPLAINED",
      { entries: [ofStatus(BOUGHT, "UNCONFIRMED"), RESTED, SKIPPED, CANCEL] },
    ],
    ["a book that holds more than the account", "UNBALANCED", { copy: copyOf(5, "101") }],
    ["a book that holds less than the account", "UNBALANCED", { copy: copyOf(5, "99") }],
  ])("finds %s: %s", (_what, kind, changed) => {
    expect(kindsOf({ ...BOOKS, ...changed })).toContain(kind);
  });

  test("finds nothing in an order that was open at the strategy and lets a later one go first", () => {
    const [bought = never(), rested = never()] = ORDERS;
    const later = [orderOf(1, "rested", rested), orderOf(2, "bought", bought)];
    const actions = ACTIONS.map((action) => (action.seq === 2 ? placement(2, 6, "bought") : action));
    expect(kindsOf({ ...BOOKS, actions, venue: { ...BOOKS.venue, orders: later } })).toEqual([]);
  });

  test("finds nothing in an unknown outcome of an order that never came to be", () => {
    const entries = [ofStatus(BOUGHT, "UNCONFIRMED"), RESTED, SKIPPED, CANCEL];
    const venue = { ...BOOKS.venue, account: accountOf("0"), orders: ORDERS.slice(1) };
    expect(kindsOf({ ...BOOKS, copy: copyOf(5, "0"), entries, venue })).toEqual([]);
  });

  test.each([
    ["nothing in one that was given up and came to nothing", RESTED, []],
    ["one that was given up and executed", BOUGHT, ["UNEXPLAINED", "DOUBLED"]],
  ])("finds %s", (_what, { collectiveId }, kinds) => {
    const givenUp = (entry: MirrorEntry): MirrorEntry =>
      entry.kind === "PLACE" && entry.collectiveId === collectiveId
        ? { ...entry, status: "SKIPPED", skip: skipOf("UNCONFIRMED") }
        : entry;
    const entries = BOOKS.entries.map(givenUp);
    expect(kindsOf({ ...BOOKS, entries })).toEqual(kinds);
  });

  test.each([
    ["100", false],
    ["0", true],
  ])("finds a leg that was left as the last stop only where nothing is held: %s held", (held, isFound) => {
    const leg = { clientLegId: "rested", symbol: SYMBOL, side: "SELL", type: "STOP_MARKET", status: "NEW" };
    const left: MirrorEntry = { ...RESTED, kind: "PLACE_LEG", status: "RESTING" };
    const cancel: MirrorEntry = { ...CANCEL, kind: "CANCEL_LEG", skip: skipOf("PROTECTS") };
    const entries = [BOUGHT, left, SKIPPED, { ...cancel, status: "SKIPPED" as const }];
    const venue = { ...BOOKS.venue, orders: ORDERS.slice(0, 1), legs: [leg as Leg] };
    const kinds = kindsOf({ ...BOOKS, copy: copyOf(5, held), entries, venue });
    expect(kinds.includes("DISORDERED")).toBe(isFound);
  });

  test.each([
    ["1", true],
    ["0", false],
  ])(
    "finds nothing in a leg that waits in the place of its successor where something is held: %s",
    (held, waits) => {
      const waiting = { orderType: "STOP_MARKET", side: "SELL", status: "RESTING" } as const;
      const leg = entryOf(9, 9, "leg", { ...waiting, kind: "PLACE_LEG", seq: null, clientOrderId: null });
      const position: Pick<Position, "quantity"> = { quantity: decimal(held) };
      const account = { ...accountOf("100"), positions: new Map([[SYMBOL, position as Position]]) };
      const found = kindsOf({ ...BOOKS, ...withEntries(leg), venue: { ...BOOKS.venue, account } });
      expect(found).toEqual(waits ? [] : ["LOST"]);
    },
  );

  test.each([
    ["an earlier attempt of the lost row", "bought", 3, "attempt 3 of entry 1 ("],
    ["an attempt of another row", "rested", 1, "attempt 1 of entry 2 ("],
    ["an attempt of none", "somebody's", 1, "an attempt of no entry"],
  ])("says of a stray order that it is %s", (_what, collectiveId, attempt, said) => {
    const stray = mirrorClientId({ collectiveId, copyId: "copy", purpose: "order", attempt });
    const [bought = never(), rested = never()] = ORDERS;
    const venue = { ...BOOKS.venue, orders: [orderOf(1, stray, bought), rested] };
    const found = auditCopy({ ...BOOKS, venue }, new Map());
    expect(found.map(({ kind }) => kind)).toEqual(["LOST", "DOUBLED"]);
    for (const { what } of found) expect(what).toContain(said);
  });

  test("finds an order that the venue has accepted twice", () => {
    const accepted = new Map([
      ["bought", 2],
      ["rested", 1],
    ]);
    expect(auditCopy(BOOKS, accepted).map(({ kind }) => kind)).toEqual(["DOUBLED"]);
  });
});

test("a copier's name is what it claims by, without what follows it", () => {
  const line = "Lyrebird copies as copier-0123456789abcdef, on the database 127.0.0.1:5432/lyrebird";
  expect(COPIER_READY.exec(line)?.[1]).toBe("copier-0123456789abcdef");
});

test("faults are summed up by what they are of, and by how long after what they began", () => {
  const fault = (kind: "NAKED" | "MISSIZED" | "LOST", place: Partial<FaultPlace>): CopyFault => ({
    ...{ kind, what: "" },
    place: { from: 0, until: 0, type: "FUTURES", ...place },
  });
  const faults = [
    fault("NAKED", { from: 105_000, until: 120_000 }),
    fault("NAKED", { from: 95_000, until: 120_000 }),
    fault("NAKED", { from: 300_000, until: 320_000 }),
    fault("MISSIZED", { from: 140_000, until: 141_000, type: "SPOT", by: "EQUITY" }),
    fault("LOST", {}),
  ];
  expect(clusterLines(faults, { killedAt: [100_000], crashedAt: 110_000 })).toEqual([
    "NAKED: 3 FUTURES; kills: 1 within 10 s after, 1 with one in them, 1 later; crash of prices: 2 with it in them, 1 later",
    "MISSIZED: 1 SPOT EQUITY; kills: 1 within 60 s after; crash of prices: 1 within 60 s after",
  ]);
  expect(clusterLines([], { killedAt: [], crashedAt: null })).toEqual([]);
});

function kindsOf(books: CopyBooks): string[] {
  return auditCopy(books, new Map()).map(({ kind }) => kind);
}

/** A status that may be newer than the types. */
function ofStatus(entry: MirrorEntry, status: string): MirrorEntry {
  return { ...entry, status: status as MirrorEntry["status"] };
}

function withOrders(order: Order): Partial<CopyBooks> {
  return { venue: { ...BOOKS.venue, orders: [...ORDERS, order] } };
}

function withEntries(entry: MirrorEntry): Partial<CopyBooks> {
  return { entries: [...BOOKS.entries, entry] };
}

function placement(
  seq: number,
  version: number,
  collectiveId: string,
): Extract<LeadAction, { readonly kind: "PLACE" }> {
  return {
    ...{ seq, version, at: version, lead: LEAD, kind: "PLACE", symbol: SYMBOL, orderId: seq, collectiveId },
    ...{ side: "BUY", orderType: "LIMIT", quantity: decimal("100"), price: decimal("0.1") },
    ...{ stopPrice: decimal("0"), reduceOnly: false, leverage: null, filled: null },
  };
}

function entryOf(
  entryId: number,
  seq: number,
  collectiveId: string,
  changed: Partial<MirrorEntry>,
): MirrorEntry {
  return {
    ...{ copyId: "copy", entryId, seq, requestId: null, collectiveId, kind: "PLACE", symbol: SYMBOL },
    ...{ status: "RESTING", skip: null, side: "BUY", orderType: "LIMIT" },
    ...{ leadQuantity: decimal("100"), leadPrice: decimal("0.1"), scale: null },
    ...{ scaledQuantity: decimal("100"), quantity: decimal("100"), price: decimal("0.1") },
    ...{ stopPrice: decimal("0"), clientOrderId: collectiveId, venueOrderId: "1" },
    ...{ executedQuantity: decimal("0"), executedQuote: decimal("0"), fee: decimal("0") },
    ...{ leadAt: 1, sentAt: 2, acknowledgedAt: 3, updatedAt: 3, sends: 1, queries: 0 },
    ...changed,
  };
}

function orderOf(orderId: number, clientOrderId: string, changed: Partial<Order>): Order {
  return {
    ...{ symbol: SYMBOL, side: "BUY", type: "LIMIT", status: "NEW" },
    ...{ price: decimal("0.1"), stopPrice: decimal("0"), quantity: decimal("100") },
    ...{ quoteQuantity: decimal("0"), executedQuantity: decimal("0"), executedQuote: decimal("0") },
    ...{ reserved: decimal("0"), reservedAsset: "USDT", placedAt: 1, updatedAt: 1, workingAt: 1 },
    ...changed,
    ...{ orderId, clientOrderId },
  };
}

function copyOf(doneSeq: number, held: string): Copy {
  const holding: Holding = { quantity: decimal(held), cost: decimal("10") };
  return {
    ...{ copyId: "copy", personId: "person", strategyId: "strategy", accountId: "account", type: "SPOT" },
    ...{ settings: settingsOf({}), status: "FOLLOWING", reason: null, startedAt: 1, endedAt: null },
    ...{ fromVersion: 5, doneSeq, revision: 1 },
    book: { ...EMPTY_BOOK, holdings: new Map([[SYMBOL, holding]]) },
  };
}

function accountOf(held: string) {
  const account = emptyAccount("venue", "SPOT");
  account.balances.set("DOGE", { ...emptyLedgerAccounts(), free: decimal(held) });
  return account;
}

function never(): never {
  throw new Error("there are two orders");
}
