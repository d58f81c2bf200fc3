// Copies that do not keep up with their strategy: what it did is not dealt with, whether sent, skipped or refused. Moments are no
// matter: the venue is on its way to answer.
import type { OrderScope } from "../store/copy-store.ts";
import type { Store } from "../store/store.ts";
import type { CopyShape } from "./shapes.ts";

/** Whoever is behind for less is at work. */
export const BEHIND_MS_MIN = 10_000;

type Stored = Pick<Store, "copying">;

/** How far a copy is behind; null if it keeps up. `now` is wall time, Unix ms. */
export async function behindOf(
  { copying }: Stored,
  copyId: string,
  now: number,
): Promise<CopyShape["behind"]> {
  const behind = await copying.findBehind(copyId);
  return behind !== null && behind.since < now - BEHIND_MS_MIN ? behind : null;
}

/** How many are. */
export function copiesBehind({ copying }: Stored, of: OrderScope, now: number): Promise<number> {
  return copying.countBehind(of, now - BEHIND_MS_MIN);
}
