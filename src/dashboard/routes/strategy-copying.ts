// What a trader sees and does about the copiers of a strategy: whether it may be followed, what became of its orders, how far its
// closing has come for them, and a halt. Nothing here says who the copiers are.
import { z } from "zod";
import type { AuditAction } from "../../domain/audit.ts";
import type { OwnedStrategy } from "../../store/people-store.ts";
import { halt, haltForm, release } from "../copying/kill-switches.ts";
import { DashboardError } from "../errors.ts";
import { closingOf, copiersOf } from "../present/copying-copies.ts";
import { haltOf } from "../present/copying-halts.ts";
import { presentUnclosed } from "../present/copying-unclosed.ts";
import {
  type DashboardAnswer,
  type DashboardCall,
  type DashboardRoute,
  ownStrategy,
  personOf,
  route,
} from "../route.ts";
import type { StrategyCopyingShape } from "../shapes.ts";

export const STRATEGY_COPYING_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/:strategyId/copying",
    access: "TRADER",
    answer: async (call) => presented(call, await ownStrategy(call)),
  }),

  route({
    method: "PUT",
    path: "/strategies/:strategyId/copying",
    access: "TRADER",
    needsKyc: true,
    body: z.strictObject({ isOpen: z.boolean() }),
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { isOpen } = call.body;
      if (isOpen) demandOfferable(call, strategy);
      const { strategyId } = strategy;
      const what: AuditAction = isOpen ? "STRATEGY_OPENED_TO_COPIERS" : "STRATEGY_CLOSED_TO_COPIERS";
      await call.parts.gateway.store.copying.setOpenToCopiers(strategyId, isOpen, {
        who: { kind: "PERSON", personId: personOf(call).personId },
        what,
        about: { kind: "STRATEGY", id: strategyId },
        at: call.now,
        details: {},
      });
      return presented(call, strategy);
    },
  }),

  route({
    method: "POST",
    path: "/strategies/:strategyId/copying/halt",
    access: "TRADER",
    onlyStops: true,
    body: haltForm,
    async answer(call) {
      const strategy = await ownStrategy(call);
      await halt(call, { kind: "STRATEGY", id: strategy.strategyId }, call.body.reason);
      return presented(call, strategy);
    },
  }),

  route({
    method: "DELETE",
    path: "/strategies/:strategyId/copying/halt",
    access: "TRADER",
    needsKyc: true,
    async answer(call) {
      const strategy = await ownStrategy(call);
      await release(call, { kind: "STRATEGY", id: strategy.strategyId });
      return presented(call, strategy);
    },
  }),
];

type Call = Pick<DashboardCall, "parts" | "signedIn" | "now">;

/** Throws unless copiers could follow it from now on. */
function demandOfferable({ parts }: Call, { status }: OwnedStrategy): void {
  parts.copying.demand();
  if (status === "LIVE") return;
  throw new DashboardError("STATE_CHANGED", {
    message: "The strategy is closed.",
    action: "Open another one to copiers.",
  });
}

async function presented(call: Call, { strategyId, status }: OwnedStrategy): Promise<DashboardAnswer> {
  const { copying } = call.parts.gateway.store;
  const { counts, gap, behind } = await call.parts.copyFigures.ofStrategy(strategyId);
  const tally = await copying.tallyCopies({ strategyId });
  const seen = { by: personOf(call).personId, allowed: null };
  const body: StrategyCopyingShape = {
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

async function closing({ parts, now }: Call, strategyId: string): Promise<StrategyCopyingShape["closing"]> {
  const { copying } = parts.gateway.store;
  const progress = closingOf(await copying.tallyCopies({ strategyId }));
  if (progress === null) return null;
  const left = await copying.tallyUnclosed({ strategyId });
  const around = { allowed: parts.copying.venues, reports: await copying.listVenueReports(), now };
  return { ...progress, left: presentUnclosed(left, around) };
}
