// Money moves only as postings, from one ledger account into another, so nothing is created or lost: for
// every asset all ledger accounts, the market's included, sum to zero. An account's own ledger accounts are
// never overdrawn; the external ones may be negative.
import { type Amount, ZERO } from "./decimal.ts";

/**
 * Own ledger accounts: `free` may be spent, `locked` is reserved by open orders, `isolated` is in the wallets
 * of positions.
 */
export const OWN_LEDGER_ACCOUNTS = ["free", "locked", "isolated"] as const;
/**
 * External ledger accounts: the source of the virtual seed, the counterparty of trades, the receiver of fees,
 * the other side of funding, and the insurance fund, which takes what liquidations leave and bears what a
 * position cannot.
 */
export const WORLD_LEDGER_ACCOUNTS = ["seed", "market", "fees", "funding", "clearance"] as const;

export type LedgerAccount = (typeof OWN_LEDGER_ACCOUNTS)[number] | (typeof WORLD_LEDGER_ACCOUNTS)[number];

/** One movement of money: `amount` (never negative) of `asset`. */
export type Posting = {
  readonly from: LedgerAccount;
  readonly to: LedgerAccount;
  readonly asset: string;
  readonly amount: Amount;
};

/** The balances of the ledger accounts in one asset. */
export type LedgerAccounts = { [P in LedgerAccount]: Amount };

/** All ledger accounts of an account, by asset. Assets that were never used are absent. */
export type Balances = Map<string, LedgerAccounts>;

/** Applies one posting. Overdrawing an own ledger account is a bug in the decision. */
export function post(balances: Balances, posting: Posting): void {
  const { from, to, asset, amount } = posting;
  if (amount < 0n)
    throw new Error(`a posting moves a positive amount: ${amount} ${asset} from ${from} to ${to}`);
  const ledgerAccounts = ledgerAccountsOf(balances, asset);
  ledgerAccounts[from] = (ledgerAccounts[from] - amount) as Amount;
  ledgerAccounts[to] = (ledgerAccounts[to] + amount) as Amount;
  if (ledgerAccounts[from] < 0n && isOwn(from)) {
    throw new Error(
      `an own ledger account is never overdrawn: ${from} ${asset} would be ${ledgerAccounts[from]}`,
    );
  }
}

/** The free balance of an asset. */
export function freeOf(balances: Balances, asset: string): Amount {
  return balances.get(asset)?.free ?? ZERO;
}

/** The balance of an asset over all own ledger accounts. */
export function ownedOf(balances: Balances, asset: string): Amount {
  const ledgerAccounts = balances.get(asset);
  return ledgerAccounts === undefined
    ? ZERO
    : (OWN_LEDGER_ACCOUNTS.reduce((sum, own) => sum + ledgerAccounts[own], 0n) as Amount);
}

export function emptyLedgerAccounts(): LedgerAccounts {
  return {
    free: ZERO,
    locked: ZERO,
    isolated: ZERO,
    seed: ZERO,
    market: ZERO,
    fees: ZERO,
    funding: ZERO,
    clearance: ZERO,
  };
}

function isOwn(ledgerAccount: LedgerAccount): boolean {
  return (OWN_LEDGER_ACCOUNTS as readonly LedgerAccount[]).includes(ledgerAccount);
}

function ledgerAccountsOf(balances: Balances, asset: string): LedgerAccounts {
  const held = balances.get(asset);
  if (held !== undefined) return held;
  const opened = emptyLedgerAccounts();
  balances.set(asset, opened);
  return opened;
}
