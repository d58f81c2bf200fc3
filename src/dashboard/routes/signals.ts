// The signals that a strategy was sent, and what became of them.
import { z } from "zod";
import { collectiveId } from "../../domain/collective-id.ts";
import { isSignalId, type Signal } from "../../domain/signal.ts";
import { wireError } from "../../http/refusals.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf } from "../paging.ts";
import { type DashboardRoute, ownStrategy, route } from "../route.ts";
import type { PageShape, SignalShape } from "../shapes.ts";

const signalIdText = z.string().refine(isSignalId, "is no id of a signal");

export const SIGNAL_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/:strategyId/signals",
    access: "TRADER",
    query: z.strictObject({ before: signalIdText.optional() }),
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { store, signals } = call.parts.gateway;
      const query = { before: call.query.before, limit: PAGE_ROWS + 1 };
      const body: PageShape<SignalShape> = pageOf(await store.listRecentSignals(strategyId, query), {
        present: (signal) => presentSignal(signal, signals.replays.of(signal.signalId)),
        next: ({ signalId }) => signalId,
      });
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/signals/:signalId",
    access: "TRADER",
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { signalId = "" } = call.params;
      const { signals } = call.parts.gateway;
      const signal = isSignalId(signalId) ? await signals.find(strategyId, signalId) : null;
      if (signal === null) throw new DashboardError("NOT_FOUND");
      return { body: presentSignal(signal, signals.replays.of(signalId)) };
    },
  }),
];

function presentSignal(signal: Signal, replays: number): SignalShape {
  const { signalId, strategyId, idempotencyKey, receivedAt, state } = signal;
  const processedAt = "processedAt" in state ? state.processedAt : null;
  const orderId = state.status === "EXECUTED" ? state.order.orderId : null;
  return {
    signalId,
    idempotencyKey,
    status: state.status,
    reason: "reason" in state ? wireError(state.reason).msg : null,
    order: orderAsSent(signal.body),
    orderId,
    collectiveId: orderId === null ? null : collectiveId(strategyId, orderId),
    attempts: attemptsOf(signal),
    replays,
    receivedAt,
    processedAt,
    latencyMs: processedAt === null ? null : processedAt - receivedAt,
  };
}

/** One that is settled does not say how often it had been put off before: its last attempt is counted. */
function attemptsOf({ state }: Signal): number {
  if (state.status === "RECEIVED") return 0;
  return state.status === "FAILED" ? state.attempts : 1;
}

/** The order's fields; a number keeps the digits that it was sent with. */
function orderAsSent(body: string): SignalShape["order"] {
  return JSON.parse(body, (_name, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? (context?.source ?? String(value)) : value,
  );
}
