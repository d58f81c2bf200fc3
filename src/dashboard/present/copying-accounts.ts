// Accounts at venues as the browser gets them, and what a check of one has found, in words. Credentials are in neither.
import type { AccountCheck, VenueAnswer } from "../../copy/venue/venue.ts";
import { COPY_QUOTE_ASSET, type VenueAccount } from "../../domain/copying.ts";
import { UNFIT } from "../../domain/unfit-account.ts";
import { formatBriefly } from "../../money/decimal.ts";
import { keyFaultOf } from "../copying/venue-words.ts";
import type { AccountCheckShape, VenueAccountShape } from "../shapes.ts";

type Check = AccountCheckShape["checks"][number];

/** `copyId`: the live copy that uses it. */
export function presentAccount(account: VenueAccount, copyId: string | null): VenueAccountShape {
  const { accountId, family, venue, label, keyHint, status, failure, createdAt, checkedAt } = account;
  return { accountId, family, venue, label, keyHint, status, failure, createdAt, checkedAt, copyId };
}

export function presentAccountOf({
  accountId,
  label,
  venue,
  keyHint,
  status,
}: VenueAccount): Pick<VenueAccountShape, "accountId" | "label" | "venue" | "keyHint" | "status"> {
  return { accountId, label, venue, keyHint, status };
}

/** What was found, point by point; of a key that is not accepted only that. */
export function presentCheck(
  account: VenueAccountShape,
  found: Extract<VenueAnswer<AccountCheck>, { kind: "OK" | "REFUSED" | "REJECTED" }>,
): AccountCheckShape {
  const asset = COPY_QUOTE_ASSET;
  if (found.kind !== "OK") {
    const words = `The exchange does not accept it: it ${keyFaultOf(found).words}.`;
    return { account, wallet: "0", available: "0", asset, checks: [{ name: "KEY", isGood: false, words }] };
  }
  const { balances } = found.value;
  return {
    account,
    wallet: formatBriefly(balances.wallet),
    available: formatBriefly(balances.available),
    asset,
    checks: checksOf(found.value),
  };
}

/** Why an account cannot be copied on, in words for the form's field, one of `UNFIT`; null if it can. */
export function unfitWords({ canTrade, canWithdraw, isHedgeMode }: AccountCheck): string | null {
  if (canWithdraw === true) return UNFIT.withdraws;
  if (!canTrade) return UNFIT.tradesNot;
  return isHedgeMode === true ? UNFIT.hasTwoSides : null;
}

function checksOf({ balances, canTrade, canWithdraw, isHedgeMode }: AccountCheck): readonly Check[] {
  const checks: Check[] = [
    { name: "KEY", isGood: true, words: "The exchange accepts the key and its secret." },
    {
      name: "BALANCE",
      isGood: true,
      words: `The balance can be read: ${formatBriefly(balances.wallet)} ${COPY_QUOTE_ASSET}, of which ${formatBriefly(balances.available)} can be used.`,
    },
    {
      name: "TRADING",
      isGood: canTrade,
      words: canTrade ? "The key may trade." : "The key may not trade: allow it at the exchange.",
    },
    {
      name: "WITHDRAWAL",
      isGood: canWithdraw === null ? null : !canWithdraw,
      words: withdrawal(canWithdraw),
    },
  ];
  if (isHedgeMode !== null) {
    const words = isHedgeMode
      ? "The account is in hedge mode: set it to one-way mode at the exchange."
      : "The account is in one-way mode, as copying requires.";
    checks.push({ name: "POSITION_MODE", isGood: !isHedgeMode, words });
  }
  return checks;
}

function withdrawal(canWithdraw: boolean | null): string {
  if (canWithdraw === null) {
    return "The exchange does not say whether the key may withdraw: check there that it may not.";
  }
  return canWithdraw
    ? "The key may withdraw money: replace it with one that may only read and trade."
    : "The key may not withdraw anything.";
}
