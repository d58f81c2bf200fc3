// Journals of strategies after random walks at real desks, with every event that a strategy can have. Their
// replay is compared with the rows that the desk has stored beside the journal.
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { walkDesks } from "../../../test/campaigns/walk/desk-walk.ts";
import { stateOf } from "../../../test/campaigns/walk/invariants.ts";
import { testSeed } from "../../../test/support/seed.ts";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import type { Account } from "../../domain/account.ts";
import type { LeadAction, OrderIntentKind } from "../../domain/copying.ts";
import type { DomainEvent } from "../../domain/event.ts";
import { isOpen } from "../../domain/order.ts";
import type { JournalEntry, Strategy } from "../../domain/strategy.ts";
import { decodeAccount, decodeOrder, encodeOrder, encodeState } from "../../store/codec.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { replay } from "./testing/replay.ts";

const COMMANDS = 5_000;
const WALK_MS_MAX = 240_000;
const SEEDS = [20_240_808, testSeed(20_240_809)];

/** The least number of actions of each kind: a life without them proves nothing about them. */
const ACTIONS_MIN: { readonly [Kind in OrderIntentKind]: number } = {
  PLACE: 100,
  CANCEL: 20,
  FILL: 20,
  PLACE_LEG: 5,
  CANCEL_LEG: 5,
  FIRE_LEG: 1,
  LIQUIDATE: 1,
  SET_LEVERAGE: 3,
  CLOSE: 2,
};

type Lived = Strategy & {
  readonly entries: readonly JournalEntry[];
  readonly actions: readonly LeadAction[];
};

describe.each(SEEDS)("lives of strategies from seed %i", (seed) => {
  let store: Store;
  let lived: readonly Lived[];

  beforeAll(async () => {
    const directory = newDirectory();
    await walkDesks(seed, COMMANDS, { directory });
    store = await openSqliteStore(join(directory, "desk-walk.sqlite"));
    const strategies = (await store.listKeys()).flatMap(({ strategy }) => strategy ?? []);
    lived = await Promise.all(
      strategies.map(async (strategy) => {
        const entries = await store.listEntries(strategy.strategyId);
        return { ...strategy, entries, actions: replay(strategy, entries).actions };
      }),
    );
  }, WALK_MS_MAX);
  afterAll(() => store.close());

  test("are replayed to the accounts that are stored, and to the same actions however they are cut", async () => {
    const counts: Partial<Record<OrderIntentKind, number>> = {};
    for (const { entries, actions, ...strategy } of lived) {
      const { account } = replay(strategy, entries);
      const loaded = await store.loadAccount(strategy.strategyId);
      expect(loaded && stateOf(loaded.account)).toBe(stateOf(account));
      for (const part of [1, 7, 100]) {
        const again = replay(strategy, entries, { part, stored: writtenAndRead });
        expect(isDeepStrictEqual(again.actions, actions), `${strategy.strategyId} in parts of ${part}`).toBe(
          true,
        );
      }
      for (const { kind } of actions) counts[kind] = (counts[kind] ?? 0) + 1;
      checkNumbers(actions);
      checkClose(entries, actions);
    }
    const tooFew = Object.entries(ACTIONS_MIN).filter(
      ([kind, least]) => (counts[kind as OrderIntentKind] ?? 0) < least,
    );
    expect(tooFew, JSON.stringify(counts)).toEqual([]);
  });

  test("place every order once that a client placed, and end it once", async () => {
    for (const { entries, actions, strategyId } of lived) {
      const own = entries.filter((entry) => !isAfterClose(entries, entry)).flatMap(({ events }) => events);
      // Under `strict` an order may end in the entry that placed it. With nothing executed it is no action;
      // the order of a leg that closed a part of the position is one of its own.
      const atOnce = idsEndedAtOnce(entries);
      const filled = idsFilled(own);
      const mirrored = own
        .flatMap((event) => (event.type === "OrderPlaced" ? event.order : []))
        .filter(({ type, orderId, closesPosition }) =>
          atOnce.has(orderId) ? filled.has(orderId) : type !== "LIQUIDATION" && closesPosition !== true,
        );
      expect(idsOf(actions, "PLACE")).toEqual(mirrored.map(({ orderId }) => orderId));
      for (const { orderId, symbol } of mirrored) {
        const stored = await store.findOrder(strategyId, { orderId, symbol });
        if (stored === null) throw new Error(`an order that was placed is stored: ${orderId}`);
        const told = actions.filter((action) => "orderId" in action && action.orderId === orderId);
        const [placed, ...later] = told;
        if (placed?.kind !== "PLACE")
          throw new Error(`an order is placed before anything becomes of it: ${orderId}`);
        const fills = told.map((action): bigint =>
          "filled" in action ? (action.filled?.quantity ?? 0n) : 0n,
        );
        const isOver = later.some(({ kind }) => kind === "CANCEL");
        const executed = fills.reduce((sum, each) => sum + each, 0n);
        expect(executed, `order ${orderId}`).toBe(stored.executedQuantity);
        // Closing the strategy cancels what was still open.
        const isClosedWith = isOpen(stored) || actions.at(-1)?.kind === "CLOSE";
        if (atOnce.has(orderId)) {
          expect(later, `order ${orderId} ended at once`).toEqual([]);
          expect(placed.quantity).toBe(stored.executedQuantity);
        } else if (stored.status === "FILLED") expect(isOver).toBe(false);
        else expect(isOver || isClosedWith, `order ${orderId} is ${stored.status}`).toBe(true);
        expect(told.filter(({ kind }) => kind === "CANCEL").length).toBeLessThanOrEqual(1);
      }
    }
  });

  test("say of every action what the strategy had just before it", () => {
    for (const { entries, actions, ...strategy } of lived) {
      for (const action of actions) {
        const before = entries.filter(({ version }) => version < action.version);
        const first = actions.find(({ version }) => version === action.version);
        // Within its entry an earlier action, or the funding that led to a liquidation, may have changed it.
        if (action !== first || isFunding(entries, action)) continue;
        const { account } = replay(strategy, before);
        const { wallet, held } = action.lead;
        const ledgerAccounts = account.balances.get("USDT");
        expect(wallet).toBe(
          ledgerAccounts && ledgerAccounts.free + ledgerAccounts.locked + ledgerAccounts.isolated,
        );
        const positions = [...account.positions.values()].map(({ symbol, quantity }) => [symbol, quantity]);
        if (strategy.type === "FUTURES") expect([...held]).toEqual(positions);
        else for (const [asset, quantity] of held) expect(quantity).toBe(ownedOf(account, asset));
      }
    }
  });
});

function checkNumbers(actions: readonly LeadAction[]): void {
  expect(actions.map(({ seq }) => seq)).toEqual(actions.map((_, index) => index + 1));
  const versions = actions.map(({ version }) => version);
  expect(versions).toEqual(versions.toSorted((one, other) => one - other));
}

/** A closed strategy yields one CLOSE, as its last action. */
function checkClose(entries: readonly JournalEntry[], actions: readonly LeadAction[]): void {
  const closes = actions.filter(({ kind }) => kind === "CLOSE");
  expect(closes).toHaveLength(entries.some(({ events }) => events.some(endsIt)) ? 1 : 0);
  if (closes.length > 0) expect(actions.at(-1)?.kind).toBe("CLOSE");
}

function endsIt({ type }: DomainEvent): boolean {
  return type === "StrategyClosing" || type === "StrategyClosed";
}

function isFunding(entries: readonly JournalEntry[], { version }: LeadAction): boolean {
  const entry = entries.find((each) => each.version === version);
  return entry?.events.some(({ type }) => type === "FundingSettled") ?? false;
}

/** Whether an entry is what closed the strategy, or comes after it. */
function isAfterClose(entries: readonly JournalEntry[], { version }: JournalEntry): boolean {
  const closing = entries.find(({ events }) => events.some(endsIt));
  return closing !== undefined && version >= closing.version;
}

/** The orders that were canceled or expired in the entry that placed them. */
function idsEndedAtOnce(entries: readonly JournalEntry[]): ReadonlySet<number> {
  const ids = entries.flatMap(({ events }) => {
    const placed = new Set(events.flatMap((each) => (each.type === "OrderPlaced" ? each.order.orderId : [])));
    return events.flatMap((each) =>
      (each.type === "OrderCanceled" || each.type === "OrderExpired") && placed.has(each.orderId)
        ? each.orderId
        : [],
    );
  });
  return new Set(ids);
}

function idsFilled(events: readonly DomainEvent[]): ReadonlySet<number> {
  return new Set(events.flatMap((each) => (each.type === "OrderFilled" ? each.trade.orderId : [])));
}

function idsOf(actions: readonly LeadAction[], kind: "PLACE"): readonly number[] {
  return actions.flatMap((action) => (action.kind === kind ? action.orderId : []));
}

function ownedOf({ balances }: Account, asset: string): bigint {
  const ledgerAccounts = balances.get(asset);
  return ledgerAccounts === undefined
    ? 0n
    : ledgerAccounts.free + ledgerAccounts.locked + ledgerAccounts.isolated;
}

/** As a lead's account is: what lasts of it is what the store has. */
function writtenAndRead(account: Account): Account {
  const { strategyId: id, type, status } = account;
  const orders = [...account.openOrders.values()].map((order) => decodeOrder(encodeOrder(order)));
  return decodeAccount({ id, type, status, state: encodeState(account) }, orders);
}
