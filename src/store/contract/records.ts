// What the cases store and expect to read back: of every kind an ordinary one, in which a case changes what
// it is about.
import { type Account, emptyAccount, type StrategyStatus } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { Income } from "../../domain/income.ts";
import type { Leg } from "../../domain/leg.ts";
import { isOpen, type Order, type Trade } from "../../domain/order.ts";
import type { SettledSignal } from "../../domain/signal.ts";
import type { ApiKeyRecord } from "../../domain/strategy.ts";
import { decimal, ZERO } from "../../money/decimal.ts";
import { emptyLedgerAccounts, type LedgerAccount } from "../../money/posting.ts";
import type { BudgetEntry } from "../ports/keys.ts";
import type { Commit, CreatedStrategy, OrderQuery } from "../ports/trading.ts";

/** Twenty integer digits, the most that the exchange's protocol can say, and all eight decimals. */
export const HUGE = "99999999999999999999.99999999";
/** The smallest amount that there is. */
export const TINY = "0.00000001";

/** A spot account that was given 200 USDT. */
export function accountOf(strategyId: string, status: StrategyStatus = "LIVE"): Account {
  const account = emptyAccount(strategyId, "SPOT");
  account.status = status;
  hold(account, "USDT", { free: "200", seed: "-200" });
  return account;
}

/** Has an account hold an asset: what the named ledger accounts say, and nothing in the others. */
export function hold(account: Account, asset: string, held: Partial<Record<LedgerAccount, string>>): void {
  const ledgerAccounts = emptyLedgerAccounts();
  for (const [ledgerAccount, text] of Object.entries(held))
    ledgerAccounts[ledgerAccount as LedgerAccount] = decimal(text);
  account.balances.set(asset, ledgerAccounts);
}

/** The first commit of a strategy, at version 1: what `accountOf` was given. */
export function firstOf(strategyId: string): Commit {
  const seed: DomainEvent = {
    type: "StrategyOpened",
    at: 1_000,
    postings: [{ from: "seed", to: "free", asset: "USDT", amount: decimal("200") }],
  };
  return commitOf(accountOf(strategyId), 1, { events: [seed] });
}

/**
 * A commit that moves an account to `version`, in which it gets the open ones of the orders; `at` is Unix ms.
 */
export function commitOf(
  account: Account,
  version: number,
  parts: {
    readonly key?: string | null;
    readonly at?: number;
    readonly events?: readonly DomainEvent[];
    readonly orders?: readonly Order[];
    readonly trades?: readonly Trade[];
    readonly legs?: readonly Leg[];
    readonly incomes?: readonly Income[];
    readonly signals?: readonly SettledSignal[];
  } = {},
): Commit {
  const { key = null, at = 1_000, events = [], orders = [], trades = [], legs = [] } = parts;
  const { incomes = [], signals = [] } = parts;
  for (const order of orders.filter(isOpen)) account.openOrders.set(order.orderId, order);
  return { account, entry: { version, key, at, events }, orders, trades, legs, incomes, signals };
}

/** A purchase of 0.5 BTC at 100 that rests; `at` is when it was placed, and began to work, Unix ms. */
export function orderOf(orderId: number, terms: Partial<Order> & { readonly at?: number } = {}): Order {
  const { at = 1_000, ...others } = terms;
  return {
    orderId,
    clientOrderId: `client-${orderId}`,
    symbol: "BTCUSDT",
    side: "BUY",
    type: "LIMIT",
    status: "NEW",
    price: decimal("100"),
    stopPrice: ZERO,
    quantity: decimal("0.5"),
    quoteQuantity: ZERO,
    executedQuantity: ZERO,
    executedQuote: ZERO,
    reserved: decimal("50"),
    reservedAsset: "USDT",
    placedAt: at,
    updatedAt: at,
    workingAt: at,
    ...others,
  };
}

/** The fill of what `orderOf` makes. */
export function tradeOf(tradeId: number, orderId: number, terms: Partial<Trade> = {}): Trade {
  return {
    tradeId,
    orderId,
    symbol: "BTCUSDT",
    side: "BUY",
    price: decimal("100"),
    quantity: decimal("0.5"),
    quoteQuantity: decimal("50"),
    fee: decimal("0.0005"),
    feeAsset: "BTC",
    isMaker: false,
    at: 1_000,
    ...terms,
  };
}

/** The key of the strategy of that name, with a label that needs quoting. */
export function keyOf(name: string, terms: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
  return {
    keyId: `id-${name}`,
    apiKey: `lyre_bot_${name}`,
    salt: `salt-${name}`,
    masterVersion: 1,
    label: `${name}, with "quotes" and ’umlauts’ äöü`,
    ownerId: null,
    strategyId: name,
    createdAt: 1_795_228_304_000,
    revokedAt: null,
    ...terms,
  };
}

/** A strategy of that name, nobody's, with its first commit and a key. */
export function createdOf(name: string, terms: Partial<CreatedStrategy> = {}): CreatedStrategy {
  return { first: firstOf(name), key: keyOf(name), ownerId: null, name: `named ${name}`, ...terms };
}

/** What a process logs at `at`, Unix ms: the charges of a key and of an address, and a ban. */
export function budgetsOf(process: string, at: number): BudgetEntry {
  const charge = { tenSeconds: 179_522_830, weight: 1_220, orders: 51, reads: 61, failures: 0 };
  return {
    process,
    at,
    charges: [
      { ...charge, holder: "key:lyre_bot_0", refusedAt: [1_795_228_304_525, 1_795_228_304_525] },
      { ...charge, holder: "ip:2001:db8:0:1::/64", failures: 1_201, refusedAt: [] },
    ],
    bans: [{ holder: "key:lyre_bot_0", until: 1_795_228_424_525 }],
  };
}

/** The numbers from 1 to `last`. */
export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

/** The bounds of a list of orders, trades or legs: `from` is an id. */
export type Bounds = Omit<OrderQuery, "symbol" | "fromOrderId"> & { readonly from?: number };

/**
 * What such a list answers between bounds, all of them included: of rows 1–12 of the times 100, 200, … 1200,
 * of which the fifth is of another symbol.
 */
export const LIST_CASES: readonly (readonly [string, Bounds, readonly number[]])[] = [
  ["no bound: the newest, newest last", { limit: 3 }, [10, 11, 12]],
  ["no bound and room for all: all", { limit: 100 }, [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]],
  ["from an id: the oldest from there, it included", { from: 4, limit: 3 }, [4, 6, 7]],
  ["from an id beyond the last: none", { from: 13, limit: 3 }, []],
  ["from a time: the oldest from there, it included", { startTime: 900, limit: 2 }, [9, 10]],
  ["from just after a time: the next", { startTime: 901, limit: 2 }, [10, 11]],
  ["until a time: the newest up to there, it included", { endTime: 900, limit: 2 }, [8, 9]],
  ["between two times: the oldest", { startTime: 200, endTime: 400, limit: 2 }, [2, 3]],
  ["between two times with room: all", { startTime: 200, endTime: 700, limit: 9 }, [2, 3, 4, 6, 7]],
  ["a span that ends before it starts: none", { startTime: 700, endTime: 200, limit: 9 }, []],
  [
    "between two times, told to keep the newest",
    { startTime: 200, endTime: 700, limit: 2, keeps: "NEWEST" },
    [6, 7],
  ],
  ["from an id, told to keep the newest", { from: 4, limit: 2, keeps: "NEWEST" }, [11, 12]],
  ["until a time, told to keep the oldest", { endTime: 900, limit: 2, keeps: "OLDEST" }, [1, 2]],
  ["no bound, told to keep the oldest", { limit: 3, keeps: "OLDEST" }, [1, 2, 3]],
  ["an id and times: both hold", { from: 7, startTime: 300, endTime: 900, limit: 9 }, [7, 8, 9]],
];
