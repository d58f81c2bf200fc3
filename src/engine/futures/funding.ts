// Funding: at each published settlement, every position held at its due time pays or receives quantity × mark
// price × rate, rounded up if paid, down if received. For the quantity still held it changes the position's
// wallet. The quantity closed since took its share of the wallet with it, so its payment changes the free
// balance. No payment exceeds what there is, and a wallet then below the maintenance margin is liquidated at
// once. Source: specification section 1; design, section 6 (funding); reference exchange, section 15.10.
import type { Account, Position } from "../../domain/account.ts";
import type { SettleFunding } from "../../domain/command.ts";
import { dueAt, hasChangedSince, heldWhenDue } from "../../domain/held-before.ts";
import type { Settlement } from "../../domain/market.ts";
import type { Refusal } from "../../domain/refusal.ts";
import {
  type Amount,
  divideUp,
  least,
  magnitude,
  type Quantity,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { freeOf, type LedgerAccount, type Posting } from "../../money/posting.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { conclude } from "./aftermath.ts";
import { contractOf, marginAssetOf } from "./contract.ts";
import { liquidateIfReached } from "./liquidation.ts";

export function settleFunding(
  draft: Draft,
  { settlement }: SettleFunding,
  { market, at }: Circumstances,
): Refusal | null {
  const { account } = draft;
  const { symbol } = settlement;
  const contract = contractOf(market, symbol);
  // The exchange lists the contract, but its rules are of no use now: its settlement stays pending.
  if (contract === null && market.delisted(symbol) === null) return { refusal: "MARKET_SILENT" };
  // It was applied, or a later one was: earlier holdings are not recorded any more.
  if (dueAt(settlement.fundingTime) <= dueAt(account.fundedUntil.get(symbol) ?? 0)) return null;
  const held = heldAt(account, settlement);
  const position = account.positions.get(symbol) ?? null;
  // Nothing was held, and no recorded holding is left to drop.
  if (
    held === 0n &&
    !account.heldBefore.get(symbol)?.some(({ changedAt }) => changedAt < dueAt(settlement.fundingTime))
  ) {
    return null;
  }
  const asset = marginAssetOf(contract);
  const kept = keptOf(held, position, settlement);
  const due = paymentOf(kept, settlement);
  const dueFromFree = subtract(paymentOf(held, settlement), due);
  const paid = least(due, position?.isolatedWallet ?? ZERO);
  const paidFromFree = least(dueFromFree, freeOf(account.balances, asset));
  draft.add({
    type: "FundingSettled",
    at,
    ...settlement,
    asset,
    position: position !== null && kept !== 0n ? withPaid(position, paid, at) : position,
    postings: [...payment("isolated", paid, asset), ...payment("free", paidFromFree, asset)],
  });
  // A contract that was delisted pays its last settlements, and has no brackets to be liquidated by.
  if (kept === 0n || contract === null) return null;
  // A position that has changed since is a different one: the old mark price does not liquidate it.
  const isAsItWas = !hasChangedSince(account.heldBefore.get(symbol) ?? [], settlement.fundingTime);
  const seen = { mark: settlement.markPrice, at, seenAt: settlement.fundingTime, market };
  if (!isAsItWas || !liquidateIfReached(draft, contract, seen)) conclude(draft, contract, at);
  return null;
}

function payment(ledgerAccount: LedgerAccount, amount: Amount, asset: string): Posting[] {
  if (amount === 0n) return [];
  return amount > 0n
    ? [{ from: ledgerAccount, to: "funding", asset, amount }]
    : [{ from: "funding", to: ledgerAccount, asset, amount: -amount as Amount }];
}

/** The payment of a holder of a signed quantity at a settlement; negative for a receipt. */
export function paymentOf(held: Quantity, { rate, markPrice }: Settlement): Amount {
  return divideUp(held * markPrice * rate, SCALE * SCALE) as Amount;
}

/** The quantity held when the settlement was due; zero for a position that was opened at that moment. */
function heldAt({ positions, heldBefore }: Account, { symbol, fundingTime }: Settlement): Quantity {
  const position = positions.get(symbol);
  const isOlder = position !== undefined && isOlderThan(position, { fundingTime });
  const present = isOlder ? position.quantity : (ZERO as Quantity);
  return heldWhenDue(heldBefore.get(symbol) ?? [], fundingTime, present);
}

/** The part of it still held, in the same position; with the same sign. */
function keptOf(held: Quantity, position: Position | null, settlement: Settlement): Quantity {
  if (position === null || !isOlderThan(position, settlement)) return ZERO;
  const { quantity } = position;
  if (quantity > 0n !== held > 0n) return ZERO;
  return magnitude(quantity) < magnitude(held) ? quantity : held;
}

/** Whether the position was open when the settlement was due. */
function isOlderThan({ openedAt }: Position, { fundingTime }: Pick<Settlement, "fundingTime">): boolean {
  return openedAt < dueAt(fundingTime);
}

function withPaid(position: Position, paid: Amount, at: number): Position {
  return { ...position, isolatedWallet: subtract(position.isolatedWallet, paid), updatedAt: at };
}
