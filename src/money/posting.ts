// Money moves only as postings, from one ledger account into another, so nothing is created or lost: for
// every asset all ledger accounts, the market's included, sum to zero. An account's own ledger accounts are
// never overdrawn; the external ones may be negative.
import { type Amount, ZERO } from "./decimal.ts";

/**
 * Own ledger accounts: `free` may be spent, `locked` is reserved by open orders, `isolated` is in the wallets
 * of positions.
 */
export const OWN_POCKETS = ["free", "locked", "isolated"] as const;
/**
 * External ledger accounts: the source of the virtual seed, the counterparty of trades, the receiver of fees,
 * the other side of funding, and the insurance fund, which takes what liquidations leave and bears what a
 * position cannot.
 */
export const WORLD_POCKETS = ["seed", "market", "fees", "funding", "clearance"] as const;

export type Pocket = (typeof OWN_POCKETS)[number] | (typeof WORLD_POCKETS)[number];

/** One movement of money: `amount` (never negative) of `asset`. */
export type Posting = {
  readonly from: Pocket;
  readonly to: Pocket;
  readonly asset: string;
  readonly amount: Amount;
};

/** The balances of the ledger accounts in one asset. */
export type Pockets = { [P in Pocket]: Amount };

/** All ledger accounts of an account, by asset. Assets that were never used are absent. */
export type Balances = Map<string, Pockets>;

/** Applies one posting. Overdrawing an own ledger account is a bug in the decision. */
export function post(balances: Balances, posting: Posting): void {
  const { from, to, asset, amount } = posting;
  if (amount < 0n)
    throw new Error(`a posting moves a positive amount: ${amount} ${asset} from ${from} to ${to}`);
  const pockets = pocketsOf(balances, asset);
  pockets[from] = (pockets[from] - amount) as Amount;
  pockets[to] = (pockets[to] + amount) as Amount;
  if (pockets[from] < 0n && isOwn(from)) {
    throw new Error(`an own pocket is never overdrawn: ${from} ${asset} would be ${pockets[from]}`);
  }
}

/** The free balance of an asset. */
export function freeOf(balances: Balances, asset: string): Amount {
  return balances.get(asset)?.free ?? ZERO;
}

/** The balance of an asset over all own ledger accounts. */
export function ownedOf(balances: Balances, asset: string): Amount {
  const pockets = balances.get(asset);
  return pockets === undefined ? ZERO : (OWN_POCKETS.reduce((sum, own) => sum + pockets[own], 0n) as Amount);
}

export function emptyPockets(): Pockets {
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

function isOwn(pocket: Pocket): boolean {
  return (OWN_POCKETS as readonly Pocket[]).includes(pocket);
}

function pocketsOf(balances: Balances, asset: string): Pockets {
  const held = balances.get(asset);
  if (held !== undefined) return held;
  const opened = emptyPockets();
  balances.set(asset, opened);
  return opened;
}
