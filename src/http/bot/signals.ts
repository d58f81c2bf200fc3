// Submitting a signal and asking what became of it. What happens to one in between is `signals/signals.ts`.
// Source: specification 3.1 and 4.4; design, section 6 (signals).
import { isSignalId } from "../../domain/signal.ts";
import { strategyOf, textOf } from "./authenticate.ts";
import { presentSignal, presentSignalState, presentSubmitted } from "./present.ts";
import type { BotAnswer, BotCall } from "./route.ts";
import { idempotencyKeySchema } from "./schemas.ts";

/** Records an order under the key that the request carries, and has it executed. */
export async function submit(call: BotCall): Promise<BotAnswer> {
  const { gateway, body, headers, rawHeaders, admittedAt } = call;
  const keyCount = rawHeaders.filter(
    (text, index) => index % 2 === 0 && text.toLowerCase() === "idempotency-key",
  ).length;
  if (keyCount === 0) return { status: 400, message: "The header idempotency-key is missing" };
  // Joined they would be a third key.
  if (keyCount > 1) return { status: 400, message: "The header idempotency-key is there twice" };
  const idempotencyKey = textOf(headers["idempotency-key"]);
  if (!idempotencyKeySchema.safeParse(idempotencyKey).success) {
    return { status: 400, message: "idempotency-key must be 1 to 128 printable ASCII characters" };
  }
  const submission = { idempotencyKey, body, admittedAt, signed: call.caller.signed };
  const submitted = await gateway.signals.submit(strategyOf(call.caller), submission);
  if ("signal" in submitted) {
    const { signal, replayed } = submitted;
    return { status: 202, body: presentSubmitted(signal, replayed), isReplay: replayed };
  }
  switch (submitted.refused) {
    case "NOT_LIVE":
      return { refusal: "STRATEGY_NOT_LIVE" };
    case "STORAGE_SHORT":
      return { refusal: "STORAGE_SHORT" };
    case "MALFORMED":
      return { status: 400, message: submitted.fault };
    case "OTHER_ORDER":
      return { status: 422, message: "idempotency-key was used for another order; take a fresh key" };
    case "SIGNATURE_USED":
      return {
        status: 401,
        message:
          "Signature was used with another idempotency-key; sign each order with a timestamp of its own",
      };
  }
}

export async function list({ gateway, caller }: BotCall): Promise<BotAnswer> {
  const signals = await gateway.signals.list(strategyOf(caller).strategyId);
  const data = `[${signals.map(presentSignal).join(",")}]`;
  return { status: 200, body: `{"status":true,"message":"Signals","data":${data}}` };
}

export async function find({ gateway, caller, params }: BotCall): Promise<BotAnswer> {
  const { signalId = "" } = params;
  const { strategyId } = strategyOf(caller);
  const signal = isSignalId(signalId) ? await gateway.signals.find(strategyId, signalId) : null;
  if (signal === null) return { status: 404, message: "Signal not found" };
  return { status: 200, body: presentSignalState(signal) };
}
