// Kill switches that people set and clear: a copier for all their own copies, a trader for a strategy of
// theirs, an operator for any of these and for venues. Only the person who set a switch, or an operator, can
// clear it.
import { z } from "zod";
import type { AuditSubject, NewAuditRecord } from "../../domain/audit.ts";
import type { KillSwitch, SwitchKind } from "../../domain/copying.ts";
import type { Store } from "../../store/store.ts";
import { DashboardError } from "../errors.ts";
import { lineField } from "../reading.ts";
import { audited, copyingOf, type DashboardCall, personOf } from "../route.ts";
import type { haltedSchema, OperatorCopyingJson } from "../schemas/copying.ts";

const REASON_LENGTH_MAX = 200;

/** The reason is shown to others. */
export const haltForm = z.strictObject({ reason: lineField(REASON_LENGTH_MAX) });
export const haltReason = haltForm.shape.reason;

export type Switch = Pick<KillSwitch, "kind" | "id">;
type Call = Pick<DashboardCall, "parts" | "signedIn" | "now">;

const SUBJECTS: { readonly [Kind in SwitchKind]: AuditSubject["kind"] } = {
  COPIER: "PERSON",
  STRATEGY: "STRATEGY",
  VENUE: "VENUE",
};

/** Sets a switch for the caller; one that is set already stays as it is. */
export async function halt(call: Call, wanted: Switch, reason: string): Promise<void> {
  await set(call, wanted, reason, { takesOver: false });
}

/** Clears a switch that the caller has set; there may be none. Throws NOT_FOR_YOU if somebody else has. */
export async function release(call: Call, { kind, id }: Switch): Promise<void> {
  const { personId: setBy } = personOf(call);
  const audit = switchAudit(call, "KILL_SWITCH_CLEARED", { kind, id }, { kind });
  if (await copyingOf(call).clearSwitch(kind, id, audit, { setBy })) return;
  const set = await switchOf(call, { kind, id });
  if (set !== null && set.setBy !== setBy) {
    throw new DashboardError("NOT_FOR_YOU", {
      message: "Somebody else halted it.",
      action: `Ask the operator. Reason given: ${set.reason}`,
    });
  }
}

/**
 * Sets a switch for an operator. What a copier or a trader has set for themselves becomes the operator's, so
 * that they cannot clear it any more, until the operator clears it: then theirs is set again. Throws
 * STATE_CHANGED if an operator has set it already.
 */
export async function haltAsOperator(call: Call, wanted: Switch, reason: string): Promise<void> {
  const found = await switchOf(call, wanted);
  const setter = found === null ? null : await call.parts.gateway.store.people.findPerson(found.setBy);
  // A switch that another person sets at this moment is taken over too.
  if (setter?.role !== "OPERATOR" && (await set(call, wanted, reason, { takesOver: true }))) return;
  throw new DashboardError("STATE_CHANGED", {
    message: "It is halted already.",
    action: "To change the reason, clear that kill switch first.",
  });
}

/** Throws NOT_FOUND if it is not set. */
export async function releaseAsOperator(call: Call, { kind, id }: Switch): Promise<void> {
  const audit = switchAudit(call, "KILL_SWITCH_CLEARED", { kind, id }, { kind });
  if (!(await copyingOf(call).clearSwitch(kind, id, audit, { setBy: null })))
    throw new DashboardError("NOT_FOUND");
}

/** The subjects of a copy or strategy that a switch may stop, by kind. */
type Stoppable = { readonly [Kind in SwitchKind]?: string };

const NOT_ALLOWED = "This server no longer allows the exchange.";

/**
 * The switch that stops one of these, as a person sees it: switches that they cannot clear themselves go
 * first. A venue that is no longer allowed counts as stopped.
 */
export function haltOf(
  switches: readonly KillSwitch[],
  stoppable: Stoppable,
  seen: { readonly by: string; readonly allowed: readonly string[] | null },
): z.output<typeof haltedSchema> {
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
export async function switchAnswers(
  { people }: Pick<Store, "people">,
  switches: readonly KillSwitch[],
): Promise<OperatorCopyingJson["switches"]> {
  const emailOf = async (personId: string) => (await people.findPerson(personId))?.email ?? personId;
  const nameOf = async ({ kind, id }: KillSwitch) => {
    if (kind === "COPIER") return await emailOf(id);
    return kind === "VENUE" ? id : ((await people.findStrategy(id))?.name ?? id);
  };
  const newest = [...switches].sort((one, other) => other.setAt - one.setAt);
  return await Promise.all(
    newest.map(async (each) => ({ ...each, name: await nameOf(each), setBy: await emailOf(each.setBy) })),
  );
}

async function set(
  call: Call,
  { kind, id }: Switch,
  reason: string,
  terms: { readonly takesOver: boolean },
): Promise<boolean> {
  const { personId } = personOf(call);
  const audit = switchAudit(call, "KILL_SWITCH_SET", { kind, id }, { kind, reason });
  return await copyingOf(call).setSwitch(
    { kind, id, reason, setBy: personId, setAt: call.now },
    audit,
    terms,
  );
}

async function switchOf(call: Call, { kind, id }: Switch): Promise<KillSwitch | null> {
  const switches = await copyingOf(call).listSwitches();
  return switches.find((each) => each.kind === kind && each.id === id) ?? null;
}

function switchAudit(
  call: Call,
  what: NewAuditRecord["what"],
  { kind, id }: Switch,
  details: NewAuditRecord["details"],
): NewAuditRecord {
  const { personId, role } = personOf(call);
  const record = audited(call, what, { kind: SUBJECTS[kind], id }, details);
  return { ...record, who: { kind: role, personId } };
}
