// The keys of futures user data streams, and the routes of spot's, which the exchange has retired.
// Source: reference sockets, sections 6.1 and 7.1.
import { randomBytes } from "node:crypto";
import type { Refusal } from "../../domain/refusal.ts";
import { IGNORED } from "../parse/descriptions.ts";
import type { Ports } from "../pipeline.ts";
import { keyRoutes, type Route, retiredRoute, type SignedCall } from "../route.ts";

/** How long a listen key lives after it was opened or extended, ms. */
export const LISTEN_KEY_MS = 60 * 60_000;
/** 64 hexadecimal digits: clients recognize a listen key by letters and digits alone. */
const LISTEN_KEY_BYTES = 32;

const futures = keyRoutes("FUTURES", "key");
/** Clients send it, but an API key has only one. */
const PARAMETERS = { listenKey: IGNORED };

export const LISTEN_KEY_ROUTES: readonly Route[] = [
  futures("POST /fapi/v1/listenKey", "Open the user data stream: its key, for an hour", {
    answer: openListenKey,
  }),
  futures("PUT /fapi/v1/listenKey", "Extend the key of the user data stream by an hour", {
    parameters: PARAMETERS,
    writes: false,
    answer: extendListenKey,
  }),
  futures("DELETE /fapi/v1/listenKey", "Close the user data stream", {
    parameters: PARAMETERS,
    writes: false,
    answer: closeListenKey,
  }),
  ...(["POST", "PUT", "DELETE"] as const).map((method) =>
    retiredRoute(`${method} /api/v3/userDataStream`, "Always refused: spot streams have no listen keys", {
      aliases: ["/api/v1/userDataStream"],
      refusal: { refusal: "SPOT_LISTEN_KEYS_RETIRED" },
    }),
  ),
];

type Storing = Pick<Ports, "store" | "wallNow">;

/** The key's listen key, a new one if it has none, for an hour from now. */
export async function openListenKey(_: undefined, { store, wallNow }: Storing, { apiKey }: SignedCall) {
  const now = wallNow();
  const listenKey = randomBytes(LISTEN_KEY_BYTES).toString("hex");
  return { listenKey: await store.openListenKey({ apiKey, listenKey, expiresAt: now + LISTEN_KEY_MS }, now) };
}

/** The key's listen key, for an hour from now. */
export async function extendListenKey(
  _: undefined,
  { store, wallNow }: Storing,
  { apiKey }: SignedCall,
): Promise<{ readonly listenKey: string } | Refusal> {
  const now = wallNow();
  const listenKey = await store.extendListenKey(apiKey, { now, expiresAt: now + LISTEN_KEY_MS });
  return listenKey === null ? { refusal: "LISTEN_KEY_UNKNOWN" } : { listenKey };
}

/** Ends the key's listen key, and with it its connections. */
export async function closeListenKey(
  _: undefined,
  { store, wallNow }: Storing,
  { apiKey }: SignedCall,
): Promise<object | Refusal> {
  return (await store.closeListenKey(apiKey, wallNow())) ? {} : { refusal: "LISTEN_KEY_UNKNOWN" };
}
