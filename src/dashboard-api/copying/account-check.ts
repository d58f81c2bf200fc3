// The check of an account at a venue: what was found, point by point, in plain sentences.
import type { z } from "zod";
import type { AccountCheck, VenueAnswer } from "../../copy/venue/venue.ts";
import { COPY_QUOTE_ASSET } from "../../domain/copying.ts";
import { UNFIT } from "../../domain/unfit-account.ts";
import { formatBriefly } from "../../money/decimal.ts";
import type { accountCheckSchema } from "../schemas/copies.ts";
import { keyFaultOf } from "./venue-words.ts";

type CheckAnswer = z.output<typeof accountCheckSchema>;
type Check = CheckAnswer["checks"][number];

/** Of a key that is not accepted only that. */
export function checkAnswer(
  account: CheckAnswer["account"],
  found: Extract<VenueAnswer<AccountCheck>, { kind: "OK" | "REFUSED" | "REJECTED" }>,
): CheckAnswer {
  const asset = COPY_QUOTE_ASSET;
  if (found.kind !== "OK") {
    const words = `The exchange does not accept it: it ${keyFaultOf(found).words}.`;
    return { account, wallet: 0n, available: 0n, asset, checks: [{ name: "KEY", isGood: false, words }] };
  }
  const { wallet, available } = found.value.balances;
  return { account, wallet, available, asset, checks: checksOf(found.value) };
}

/** Why an account cannot be copied on, for the form's field, one of `UNFIT`; null if it can. */
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
