// Client order ids of mirrored orders. The id is derived from the mirrored action and the copy, never random.
// A repeat of the same order, after a lost answer or a restart, carries the same id, so the venue takes it
// once. Source: design, section 6 (copiers).
import { createHash } from "node:crypto";
import type { MirrorEntry } from "../../domain/copying.ts";

/**
 * ORDER mirrors an order, LEG a leg; CLOSE is the order that closes what a leg, a liquidation or an end has
 * left open.
 */
export type MirrorPurpose = "order" | "leg" | "close";

/** The origin of an order at the venue. */
export type MirrorOrigin =
  | { readonly collectiveId: string }
  | { readonly requestId: string; readonly symbol: string };

const PREFIX = "lyre";
/** 112 bits of the digest: prefix and digest are 32 of the 36 characters that a venue takes. */
const DIGEST_DIGITS = 28;

/**
 * The client order id of a mirrored order or leg: 32 characters of `[0-9a-z]`. The same for the same, always.
 */
export function mirrorClientId(
  of: MirrorOrigin & {
    readonly copyId: string;
    readonly purpose: MirrorPurpose;
    /** Counts what is sent again because it certainly was not executed; absent for the first. */
    readonly attempt?: number;
  },
): string {
  const { attempt = 1 } = of;
  const text = JSON.stringify([originOf(of), of.copyId, of.purpose, ...(attempt > 1 ? [attempt] : [])]);
  return PREFIX + createHash("sha256").update(text).digest("hex").slice(0, DIGEST_DIGITS);
}

function originOf(origin: MirrorOrigin): readonly string[] {
  if ("collectiveId" in origin) return ["order", origin.collectiveId];
  return ["request", origin.requestId, origin.symbol];
}

/** The client order id of a row, sent for the `attempt`th time. */
export function clientIdOf(
  { copyId, kind, seq, collectiveId, entryId, symbol }: MirrorEntry,
  attempt: number,
): string {
  const purpose = kind === "PLACE" ? "order" : kind === "PLACE_LEG" ? "leg" : "close";
  // A stop that is made up for is another order than the one of the strategy's action.
  const isMadeUpFor = kind === "PLACE" && seq === null;
  const origin: MirrorOrigin =
    collectiveId === null || isMadeUpFor
      ? { requestId: `entry-${entryId}`, symbol: symbol ?? "" }
      : { collectiveId };
  return mirrorClientId({ ...origin, copyId, purpose, attempt });
}
