// The request inspector: the last requests of a key with why they were rejected, its budgets, and a test of
// the key.

import type { z } from "zod";
import { existing } from "../errors.ts";
import { type DashboardCall, ownStrategy, route } from "../route.ts";
import { keyTestSchema, requestsSchema } from "../schemas/requests.ts";
import { findOwnKey } from "./keys.ts";

export const REQUEST_ROUTES = [
  route("GET /strategies/:strategyId/requests", "TRADER", requestsSchema, async (call) => {
    const { key } = await ownStrategy(call);
    return { body: await requestsOf(call, key?.apiKey ?? null) };
  }),

  route("GET /keys/:keyId/requests", "TRADER", requestsSchema, async (call) => {
    const { apiKey } = await findOwnKey(call, call.params.keyId);
    return { body: await requestsOf(call, apiKey) };
  }),

  route("POST /keys/:keyId/test", "TRADER", keyTestSchema, async (call) => {
    const { apiKey } = await findOwnKey(call, call.params.keyId);
    const bound = existing(await call.parts.gateway.store.findKey(apiKey));
    return { body: await call.parts.testKey(bound, call.now) };
  }),
];

/** The last requests of a key, newest first; none for a strategy without a key. */
async function requestsOf(
  { parts, now }: Pick<DashboardCall, "parts" | "now">,
  apiKey: string | null,
): Promise<z.output<typeof requestsSchema>> {
  const { observability } = parts;
  const { since } = observability.requests;
  if (apiKey === null) return { requests: [], meters: [], bannedUntil: null, since };
  // So that the newest rejected request has its reason.
  await observability.explained();
  return { requests: observability.requests.requestsOf(apiKey), ...observability.meters(apiKey, now), since };
}
