// An order at the market of the copy's own, which closes, reconciles or repairs: fitted to the venue's rules, sent, and concluded. Rules
// that have changed since are asked for again, and the order is fitted once more.
import type { MirrorEntry, Skip } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { type Quantity, ZERO } from "../../money/decimal.ts";
import { skipped } from "../orders/rows.ts";
import { skipOf } from "../scaling/skip.ts";
import { marketQuantity } from "../scaling/snap.ts";
import type { CopyContext } from "./context.ts";
import { conclude } from "./place.ts";
import { submit } from "./submit.ts";

type Fit = { readonly quantity: Quantity; readonly skip: Skip | null };

/** As much of a size as the venue takes in one order, or why it takes none. */
export async function fitted(
  { state, session }: CopyContext,
  { symbol, side }: MirrorEntry,
  size: Quantity,
  { isReduction }: { readonly isReduction: boolean },
): Promise<Fit> {
  if (symbol === null || side === null) throw new Error("an order has a symbol and a side");
  const rules = await session.rules(symbol);
  const price = (await session.prices()).get(symbol) ?? null;
  return fitToRules(rules, size, { price, side, isReduction, family: state.copy.family });
}

/** Fits a row to a size, sends it, and says on it what became of it. Answers the row. */
export async function sendAtMarket(
  context: CopyContext,
  row: MirrorEntry,
  size: Quantity,
  terms: { readonly isReduction: boolean; readonly mayStillSend: () => Skip | null },
): Promise<MirrorEntry> {
  const { state, session } = context;
  for (let isFittedAgain = false; ; isFittedAgain = true) {
    const { quantity, skip } = await fitted(context, row, size, terms);
    if (skip !== null) return state.put({ ...skipped(row, skip), quantity });
    const sized: MirrorEntry = { ...row, status: "NEW", skip: null, quantity };
    const outcome = await submit(context, sized, terms.mayStillSend);
    const isOld =
      outcome.kind === "REFUSED" &&
      !isFittedAgain &&
      (await session.haveRulesChanged(row.symbol ?? "", outcome.refusal));
    if (!isOld) return await conclude(context, { ...sized, ...sentOf(state.latest(row)) }, outcome);
  }
}

function sentOf({ clientOrderId, sentAt, sends, queries }: MirrorEntry) {
  return { clientOrderId, sentAt, sends, queries };
}

/** What is not traded at the moment is left to its owner. */
function fitToRules(
  rules: SymbolRules | null,
  size: Quantity,
  at: Parameters<typeof marketQuantity>[2],
): Fit {
  if (rules?.status === "TRADING") return marketQuantity(rules, size, at);
  return { quantity: ZERO as Quantity, skip: skipOf("NOT_LISTED") };
}
