// The request inspector: the last requests of a key with why they were refused, how its budgets stand, and a test of the key.
import { DashboardError } from "../errors.ts";
import { testKey } from "../key-test.ts";
import { type DashboardCall, type DashboardRoute, ownStrategy, route } from "../route.ts";
import type { RequestsShape } from "../shapes.ts";
import { findOwnKey } from "./keys.ts";

export const REQUEST_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/:strategyId/requests",
    access: "TRADER",
    async answer(call) {
      const { key } = await ownStrategy(call);
      return { body: await requestsOf(call, key?.apiKey ?? null) };
    },
  }),

  route({
    method: "GET",
    path: "/keys/:keyId/requests",
    access: "TRADER",
    async answer(call) {
      const { apiKey } = await findOwnKey(call, call.params.keyId ?? "");
      return { body: await requestsOf(call, apiKey) };
    },
  }),

  route({
    method: "POST",
    path: "/keys/:keyId/test",
    access: "TRADER",
    async answer(call) {
      const { apiKey } = await findOwnKey(call, call.params.keyId ?? "");
      const bound = await call.parts.gateway.store.findKey(apiKey);
      if (bound === null) throw new DashboardError("NOT_FOUND");
      return { body: await testKey(call.parts, bound, call.now) };
    },
  }),
];

/** What is remembered of a key, newest first; of none, for a strategy without one. */
async function requestsOf(
  { parts, now }: Pick<DashboardCall, "parts" | "now">,
  apiKey: string | null,
): Promise<RequestsShape> {
  const { inspection } = parts;
  const { since } = inspection.requests;
  if (apiKey === null) return { requests: [], meters: [], bannedUntil: null, since };
  // A request that was refused just now shall have its reason.
  await inspection.explained();
  return { requests: inspection.requests.requestsOf(apiKey), ...inspection.meters(apiKey, now), since };
}
