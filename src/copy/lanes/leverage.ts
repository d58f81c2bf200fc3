// The strategy has chosen another leverage for a contract: the copy follows at once where it has something, and with its next
// order where it has not.
import type { LeadAction, LeadLeverage } from "../../domain/copying.ts";
import { copiedLeverage } from "../scaling/limits.ts";
import { skipOf } from "../scaling/skip.ts";
import { lineOf, skipped } from "./lines.ts";
import type { Work } from "./work.ts";

export async function setLeverage(work: Work, action: LeadAction & LeadLeverage): Promise<void> {
  const { turn, dealings } = work;
  const { symbol } = action;
  const line = lineOf(action, work.now());
  const isConcerned = turn.holding(symbol).quantity !== 0n || turn.resting(symbol).length > 0;
  const stopped = isConcerned ? work.stopped() : null;
  const rules = isConcerned && stopped === null ? await dealings.rules(symbol) : null;
  const leverage = rules === null ? null : copiedLeverage(action, rules);
  if (leverage === null) {
    turn.add(stopped === null ? line : skipped(line, stopped));
    return;
  }
  const refusal = await dealings.setLeverage(symbol, leverage);
  if (refusal === null) turn.add(line);
  else {
    const { code, message } = refusal;
    turn.add(skipped(line, skipOf("LEVERAGE_UNFIT", { venue: { code, message } })));
  }
}
