// What every key may ask, whatever it manages.
import { jsonOf, NOT_JSON } from "../../signals/json-body.ts";
import { success } from "./present.ts";
import type { BotAnswer, BotCall } from "./route.ts";

export function pairs({ gateway }: BotCall): BotAnswer {
  return { status: 200, body: `{"status":true,"message":"Trading pairs","data":${gateway.pairs.text()}}` };
}

/** Nothing but the proof that the request is signed as it must be. */
export function test({ gateway, caller, body }: BotCall): BotAnswer {
  if (body !== "" && jsonOf(body) === NOT_JSON) return { status: 400, message: "The body is not JSON" };
  return success("Signature is valid", {
    apiKeyId: caller.keyId,
    userId: caller.userId,
    serverTime: gateway.wallNow(),
  });
}
