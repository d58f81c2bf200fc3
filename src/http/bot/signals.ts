// Submitting a signal and querying its state. `signals/signals.ts` executes it in between.
// Source: specification 3.1 and 4.4; design, section 6 (signals).
import { isSignalId, type Signal } from "../../domain/signal.ts";
import { headerOf } from "../../observability/request-context.ts";
import type { Ports } from "../pipeline.ts";
import { presentSignal, presentSignalState } from "./present.ts";
import {
  type BotAnswer,
  type BotAsked,
  type BotBody,
  type BotCall,
  type Failure,
  failure,
  strategyOf,
} from "./route.ts";
import { idempotencyKeySchema } from "./schemas.ts";

const KEY_HEADER = "idempotency-key";

type SignalOrder = { readonly idempotencyKey: string; readonly body: string };

/**
 * Reads the key of a submission. Its body is read by `Signals`, since a known key is answered also when the
 * body is malformed.
 */
export function parseSubmission(asked: BotAsked): SignalOrder | Failure {
  const keyCount = asked.rawHeaders.filter(
    (text, index) => index % 2 === 0 && text.toLowerCase() === KEY_HEADER,
  ).length;
  if (keyCount === 0) return failure(400, "The header idempotency-key is missing");
  // Joined they would be a third key.
  if (keyCount > 1) return failure(400, "The header idempotency-key is there twice");
  const idempotencyKey = headerOf(asked, KEY_HEADER);
  return idempotencyKeySchema.safeParse(idempotencyKey).success
    ? { idempotencyKey, body: asked.body }
    : failure(400, "idempotency-key must be 1 to 128 printable ASCII characters");
}

type Recorded = { readonly signal: Signal; readonly replayed: boolean };

/** Records an order under its key and executes it. */
export async function submit(
  order: SignalOrder,
  { signals }: Pick<Ports, "signals">,
  call: BotCall,
): Promise<Recorded | Exclude<BotAnswer, BotBody>> {
  const { admittedAt, signed } = call;
  const submitted = await signals.submit(strategyOf(call), { ...order, admittedAt, signed });
  if ("signal" in submitted) return submitted;
  switch (submitted.refused) {
    case "NOT_LIVE":
      return { refusal: "STRATEGY_NOT_LIVE" };
    case "STORAGE_SHORT":
      return { refusal: "STORAGE_SHORT" };
    case "MALFORMED":
      return failure(400, submitted.fault);
    case "OTHER_ORDER":
      return failure(422, "idempotency-key was used for another order; take a fresh key");
    case "SIGNATURE_USED":
      return failure(
        401,
        "Signature was used with another idempotency-key; sign each order with a timestamp of its own",
      );
  }
}

/** The answer to a submission: the signal, and whether it was terminal before. */
export function presentRecorded({ signal, replayed }: Recorded): BotBody {
  const body = `${presentSignal(signal).slice(0, -1)},"replayed":${replayed}}`;
  return { status: 202, body, isReplay: replayed };
}

export async function list(_input: undefined, { signals }: Pick<Ports, "signals">, call: BotCall) {
  return await signals.list(strategyOf(call).strategyId);
}

export function presentList(signals: readonly Signal[]): BotBody {
  const data = `[${signals.map(presentSignal).join(",")}]`;
  return { status: 200, body: `{"status":true,"message":"Signals","data":${data}}` };
}

export async function find(
  signalId: string,
  { signals }: Pick<Ports, "signals">,
  call: BotCall,
): Promise<Signal | Failure> {
  const { strategyId } = strategyOf(call);
  const signal = isSignalId(signalId) ? await signals.find(strategyId, signalId) : null;
  return signal ?? failure(404, "Signal not found");
}

export function presentFound(signal: Signal): BotBody {
  return { status: 200, body: presentSignalState(signal) };
}
