// The signals of a strategy and their results.
import { z } from "zod";
import { collectiveId } from "../../domain/collective-id.ts";
import { isSignalId, type Signal } from "../../domain/signal.ts";
import { wireError } from "../../http/refusals.ts";
import { existing } from "../errors.ts";
import { PAGE_ROWS, pageOf } from "../paging.ts";
import { ownStrategy, route } from "../route.ts";
import { page } from "../schemas/fields.ts";
import { signalSchema } from "../schemas/strategies.ts";

const signalIdText = z.string().refine(isSignalId, "is no id of a signal");

export const SIGNAL_ROUTES = [
  route("GET /strategies/:strategyId/signals", "TRADER", page(signalSchema), {
    query: z.strictObject({ before: signalIdText.optional() }),
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { store, signals } = call.parts.gateway;
      const query = { before: call.query.before, limit: PAGE_ROWS + 1 };
      const found = await store.listRecentSignals(strategyId, query);
      const answers = found.map((signal) => signalAnswer(signal, signals.replays.of(signal.signalId)));
      return { body: pageOf(answers, ({ signalId }) => signalId) };
    },
  }),

  route("GET /strategies/:strategyId/signals/:signalId", "TRADER", signalSchema, async (call) => {
    const { strategyId } = await ownStrategy(call);
    const { signalId } = call.params;
    const { signals } = call.parts.gateway;
    const signal = existing(isSignalId(signalId) ? await signals.find(strategyId, signalId) : null);
    return { body: signalAnswer(signal, signals.replays.of(signalId)) };
  }),
];

function signalAnswer(signal: Signal, replays: number): z.output<typeof signalSchema> {
  const { strategyId, receivedAt, state } = signal;
  const processedAt = "processedAt" in state ? state.processedAt : null;
  const orderId = state.status === "EXECUTED" ? state.order.orderId : null;
  return {
    ...signal,
    status: state.status,
    reason: "reason" in state ? wireError(state.reason).msg : null,
    order: orderAsSent(signal.body),
    orderId,
    collectiveId: orderId === null ? null : collectiveId(strategyId, orderId),
    attempts: attemptsOf(signal),
    replays,
    processedAt,
    latencyMs: processedAt === null ? null : processedAt - receivedAt,
  };
}

/** A terminal signal does not record its earlier attempts: only the last one is counted. */
function attemptsOf({ state }: Signal): number {
  if (state.status === "RECEIVED") return 0;
  return state.status === "FAILED" ? state.attempts : 1;
}

/** The order's fields; a number keeps the digits that it was sent with. */
function orderAsSent(body: string): z.output<typeof signalSchema>["order"] {
  return JSON.parse(body, (_name, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? (context?.source ?? String(value)) : value,
  );
}
