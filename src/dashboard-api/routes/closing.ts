// Closing a strategy for good: its effects are shown first, and the typed confirmation must be the shown one.
import { z } from "zod";
import { accountOf } from "../../http/routes/strategy.ts";
import type { OwnedStrategy } from "../../store/ports/people.ts";
import { previewClose } from "../copying/close-preview.ts";
import { carriedOut } from "../desk-refusals.ts";
import { DashboardError } from "../errors.ts";
import { audited, ownStrategy, route } from "../route.ts";
import { strategySchema } from "../schemas/strategies.ts";
import { closePreviewSchema } from "../schemas/trading.ts";
import { strategyAnswer } from "./strategies.ts";

const CONFIRMATION_LENGTH_MAX = 200;

export const CLOSING_ROUTES = [
  route("GET /strategies/:strategyId/close-preview", "TRADER", closePreviewSchema, async (call) => {
    const strategy = await ownStrategy(call);
    const account = await accountOf(call.parts.gateway, strategy);
    return { body: await previewClose(account, confirmationOf(strategy), call.parts) };
  }),

  route("POST /strategies/:strategyId/close", "TRADER", strategySchema, {
    body: z.strictObject({ confirmation: z.string().max(CONFIRMATION_LENGTH_MAX) }),
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { strategyId } = strategy;
      if (call.body.confirmation !== confirmationOf(strategy)) {
        throw new DashboardError("BODY_UNFIT", { fields: { confirmation: "is not the text to type" } });
      }
      const { desk, store } = call.parts.gateway;
      // Recorded first, so that nothing is done without an audit record.
      await store.people.audit(audited(call, "STRATEGY_CLOSE_ASKED", { kind: "STRATEGY", id: strategyId }));
      carriedOut(await desk.execute(strategyId, { type: "CloseStrategy" }));
      return { body: await strategyAnswer(call.parts, await ownStrategy(call)) };
    },
  }),
];

/** The text that confirms it: the strategy's name. */
function confirmationOf({ name }: OwnedStrategy): string {
  return name;
}
