// Kill switches as those see them whom they stop, and as operators see them.
import type { KillSwitch, SwitchKind } from "../../domain/copying.ts";
import type { Store } from "../../store/store.ts";
import type { CopyShape, KillSwitchShape } from "../shapes.ts";

type Halted = NonNullable<CopyShape["halted"]>;

/** Whom a switch may stop, by kind: none of a kind that is left out. */
export type Stoppable = { readonly [Kind in SwitchKind]?: string };

const NOT_ALLOWED = "This server no longer allows the exchange.";

/**
 * The switch that stops somebody, as a person sees it: first what they cannot clear themselves. An account's venue that is not
 * allowed any more counts as stopped.
 */
export function haltOf(
  switches: readonly KillSwitch[],
  stoppable: Stoppable,
  seen: { readonly by: string; readonly allowed: readonly string[] | null },
): Halted | null {
  const { VENUE: venue } = stoppable;
  if (venue !== undefined && seen.allowed !== null && !seen.allowed.includes(venue)) {
    return { kind: "VENUE", reason: NOT_ALLOWED, isOwn: false };
  }
  const [first] = switches
    .filter(({ kind, id }) => stoppable[kind] === id)
    .map(({ kind, reason, setBy }) => ({ kind, reason, isOwn: setBy === seen.by }))
    .sort((one, other) => Number(one.isOwn) - Number(other.isOwn));
  return first ?? null;
}

/** With the names that people know their subjects by, newest first. */
export async function presentSwitches(
  { people }: Pick<Store, "people">,
  switches: readonly KillSwitch[],
): Promise<readonly KillSwitchShape[]> {
  const emailOf = async (personId: string) => (await people.findPerson(personId))?.email ?? personId;
  const nameOf = async ({ kind, id }: KillSwitch) => {
    if (kind === "COPIER") return await emailOf(id);
    return kind === "VENUE" ? id : ((await people.findStrategy(id))?.name ?? id);
  };
  const newest = [...switches].sort((one, other) => other.setAt - one.setAt);
  return await Promise.all(
    newest.map(async (each) => ({
      kind: each.kind,
      id: each.id,
      name: await nameOf(each),
      reason: each.reason,
      setBy: await emailOf(each.setBy),
      setAt: each.setAt,
    })),
  );
}
