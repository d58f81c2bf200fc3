// Money moves only as postings, out of one pocket into another, so nothing is created and nothing is lost: for every
// asset all pockets, the market's included, sum to zero. An account's own pockets are never overdrawn; the others stand
// for the rest of the world and may be negative.
import { type Amount, ZERO } from "./decimal.ts";

/**
 * The account's own pockets: `free` may be spent, `locked` is what resting orders reserve, `isolated` what the wallets of
 * its positions hold.
 */
export const OWN_POCKETS = ["free", "locked", "isolated"] as const;
/**
 * The rest of the world: where the virtual seed came from, who trades against the account, who keeps the fees, the other
 * side of funding, and the insurance fund that takes what liquidations leave and bears what a position cannot.
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

/** What the pockets hold of one asset. */
export type Pockets = { [P in Pocket]: Amount };

/** All pockets of an account, by asset. Assets that were never touched are absent. */
export type Balances = Map<string, Pockets>;

/** Carries out one posting. A posting that overdraws an own pocket is a bug in whoever decided it. */
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

/** What is free to spend of an asset. */
export function freeOf(balances: Balances, asset: string): Amount {
  return balances.get(asset)?.free ?? ZERO;
}

/** What the account has of an asset, wherever it lies. */
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
