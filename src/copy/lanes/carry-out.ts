// An action of the strategy, carried out for one copy: the one place that knows which file does what.
import type { LeadAction } from "../../domain/copying.ts";
import { cancel } from "./cancel.ts";
import { fireLeg, liquidate } from "./close.ts";
import { fill } from "./fill.ts";
import { cancelLeg, placeLeg } from "./legs.ts";
import { setLeverage } from "./leverage.ts";
import { lineOf } from "./lines.ts";
import { cancelOvertaken, empties } from "./overtaken.ts";
import { place } from "./place.ts";
import type { Work } from "./work.ts";

/** Carries out an action, and moves the copy's cursor on to it. Adds one line, or none for a fill of what was not mirrored. */
export async function carryOut(work: Work, action: LeadAction): Promise<void> {
  await answer(work, action);
  work.turn.finishAction(action.seq);
}

async function answer(work: Work, action: LeadAction): Promise<void> {
  switch (action.kind) {
    case "PLACE":
      await place(work, action);
      if (empties(action)) await cancelOvertaken(work, action.symbol, action.collectiveId);
      return;
    case "CANCEL":
      return await cancel(work, action);
    case "FILL":
      return await fill(work, action);
    case "PLACE_LEG":
      return await placeLeg(work, action);
    case "CANCEL_LEG":
      return await cancelLeg(work, action);
    case "FIRE_LEG":
      return await fireLeg(work, action);
    case "LIQUIDATE":
      return await liquidate(work, action);
    case "SET_LEVERAGE":
      return await setLeverage(work, action);
    case "CLOSE": {
      // The copy closes in turns of its own, which may be as many as it takes.
      work.turn.add(lineOf(action, work.now()));
      work.turn.move("CLOSING", "STRATEGY_CLOSED", work.now());
    }
  }
}
