// Funding: at each settlement that the exchange publishes, whoever held a position when it was due pays or receives quantity
// × mark price × rate. What is paid is rounded up, what is received down. For what is still held it moves the wallet of the
// position, for what was closed meanwhile, and took its share of the wallet with it, what is free. Nobody pays more than there
// is, and a wallet that is left below the maintenance margin is liquidated at once.
// Source: specification section 1; design, section 6 (funding); reference exchange, section 15.10.
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
import { freeOf, type Pocket, type Posting } from "../../money/posting.ts";
import type { Circumstances } from "../decision.ts";
import type { Draft } from "../draft.ts";
import { conclude } from "./aftermath.ts";
import { contractOf } from "./contract.ts";
import { liquidateIfReached } from "./liquidation.ts";

export function settleFunding(
  draft: Draft,
  { settlement }: SettleFunding,
  { market, at }: Circumstances,
): Refusal | null {
  const { account } = draft;
  const { symbol } = settlement;
  const contract = contractOf(market, symbol);
  // The exchange no longer lists it, or not yet again: what it settled is not forgotten meanwhile.
  if (contract === null) return { refusal: "MARKET_SILENT" };
  // It was applied, or a later one was: what was held before that is not remembered any more.
  if (dueAt(settlement.fundingTime) <= dueAt(account.fundedUntil.get(symbol) ?? 0)) return null;
  const held = heldAt(account, settlement);
  const position = account.positions.get(symbol) ?? null;
  // Nothing was held, and nothing is remembered that later settlements do not ask for.
  if (
    held === 0n &&
    !account.heldBefore.get(symbol)?.some(({ changedAt }) => changedAt < dueAt(settlement.fundingTime))
  ) {
    return null;
  }
  const { marginAsset: asset } = contract.contract;
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
  if (kept === 0n) return null;
  // What has changed since is another position: the mark price of then does not end it.
  const isAsItWas = !hasChangedSince(account.heldBefore.get(symbol) ?? [], settlement.fundingTime);
  const seen = { mark: settlement.markPrice, at, seenAt: settlement.fundingTime };
  if (!isAsItWas || !liquidateIfReached(draft, contract, seen)) conclude(draft, contract, at);
  return null;
}

function payment(pocket: Pocket, amount: Amount, asset: string): Posting[] {
  if (amount === 0n) return [];
  return amount > 0n
    ? [{ from: pocket, to: "funding", asset, amount }]
    : [{ from: "funding", to: pocket, asset, amount: -amount as Amount }];
}

/** What a holder of a signed quantity pays at a settlement; negative for what it receives. */
export function paymentOf(held: Quantity, { rate, markPrice }: Settlement): Amount {
  return divideUp(held * markPrice * rate, SCALE * SCALE) as Amount;
}

/** What was held when the settlement was due; nothing of a position that was opened only then. */
function heldAt({ positions, heldBefore }: Account, { symbol, fundingTime }: Settlement): Quantity {
  const position = positions.get(symbol);
  const isOlder = position !== undefined && isOlderThan(position, { fundingTime });
  const present = isOlder ? position.quantity : (ZERO as Quantity);
  return heldWhenDue(heldBefore.get(symbol) ?? [], fundingTime, present);
}

/** What is still held of it, in the same position; signed alike. */
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
