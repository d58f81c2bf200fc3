// The copiers of a trader's strategy: whether it may be followed, what became of its orders, the progress of
// its closing for them, and a halt. No answer identifies a copier.
import { z } from "zod";
import type { AuditAction } from "../../domain/audit.ts";
import type { OwnedStrategy } from "../../store/ports/people.ts";
import { closingOf, copiersOf } from "../copying/copies.ts";
import { halt, haltForm, haltOf, release } from "../copying/kill-switches.ts";
import { unclosedAnswer } from "../copying/unclosed.ts";
import { DashboardError } from "../errors.ts";
import { audited, type DashboardAnswer, type DashboardCall, ownStrategy, personOf, route } from "../route.ts";
import { strategyCopyingSchema } from "../schemas/copying.ts";

export const STRATEGY_COPYING_ROUTES = [
  route("GET /strategies/:strategyId/copying", "TRADER", strategyCopyingSchema, async (call) =>
    answered(call, await ownStrategy(call)),
  ),

  route("PUT /strategies/:strategyId/copying", "TRADER", strategyCopyingSchema, {
    needsKyc: true,
    body: z.strictObject({ isOpen: z.boolean() }),
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { isOpen } = call.body;
      if (isOpen) demandOfferable(call, strategy);
      const { strategyId } = strategy;
      const what: AuditAction = isOpen ? "STRATEGY_OPENED_TO_COPIERS" : "STRATEGY_CLOSED_TO_COPIERS";
      await call.parts.gateway.store.copying.setOpenToCopiers(
        strategyId,
        isOpen,
        audited(call, what, { kind: "STRATEGY", id: strategyId }),
      );
      return answered(call, strategy);
    },
  }),

  route("POST /strategies/:strategyId/copying/halt", "TRADER", strategyCopyingSchema, {
    onlyStops: true,
    body: haltForm,
    async answer(call) {
      const strategy = await ownStrategy(call);
      await halt(call, { kind: "STRATEGY", id: strategy.strategyId }, call.body.reason);
      return answered(call, strategy);
    },
  }),

  route("DELETE /strategies/:strategyId/copying/halt", "TRADER", strategyCopyingSchema, {
    needsKyc: true,
    async answer(call) {
      const strategy = await ownStrategy(call);
      await release(call, { kind: "STRATEGY", id: strategy.strategyId });
      return answered(call, strategy);
    },
  }),
];

type StrategyCopying = z.output<typeof strategyCopyingSchema>;
type Call = Pick<DashboardCall, "parts" | "signedIn" | "now">;

/** Throws unless copiers can follow it. */
function demandOfferable({ parts }: Call, { status }: OwnedStrategy): void {
  parts.copying.demand();
  if (status === "LIVE") return;
  throw new DashboardError("STATE_CHANGED", {
    message: "The strategy is closed.",
    action: "Open another one to copiers.",
  });
}

async function answered(
  call: Call,
  { strategyId, status }: OwnedStrategy,
): Promise<DashboardAnswer<StrategyCopying>> {
  const { copying } = call.parts.gateway.store;
  const { counts, gap, behind } = await call.parts.copyFigures.ofStrategy(strategyId);
  const tally = await copying.tallyCopies({ strategyId });
  const seen = { by: personOf(call).personId, allowed: null };
  const body = {
    isOpen: await copying.isOpenToCopiers(strategyId),
    isOffered: call.parts.copying.venues.length > 0,
    copiers: copiersOf(tally),
    behind,
    counts,
    gap,
    halted: haltOf(await copying.listSwitches(), { STRATEGY: strategyId }, seen),
    closing: status === "LIVE" ? null : await closing(call, strategyId),
  };
  return { body };
}

async function closing({ parts, now }: Call, strategyId: string): Promise<StrategyCopying["closing"]> {
  const { copying } = parts.gateway.store;
  const progress = closingOf(await copying.tallyCopies({ strategyId }));
  if (progress === null) return null;
  const left = await copying.tallyUnclosed({ strategyId });
  const around = { allowed: parts.copying.venues, reports: await copying.listVenueReports(), now };
  return { ...progress, left: unclosedAnswer(left, around) };
}
