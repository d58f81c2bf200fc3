// Kill switches that people set and clear: a copier over all copies of their own, a trader over a strategy of theirs, an operator over
// any of these and over venues. What somebody else has set is theirs to clear, or an operator's.
import { z } from "zod";
import type { AuditSubject, NewAuditRecord } from "../../domain/audit.ts";
import type { KillSwitch, SwitchKind } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/copy-store.ts";
import { DashboardError } from "../errors.ts";
import { lineField } from "../reading.ts";
import { type DashboardCall, personOf } from "../route.ts";

const REASON_LENGTH_MAX = 200;

/** In the words of who sets it; others are shown it. */
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
  const audit = audited(call, "KILL_SWITCH_CLEARED", { kind, id }, { kind });
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
 * Sets a switch for an operator. What a copier or a trader has set for themselves becomes the operator's, so that they cannot
 * clear it any more. Throws STATE_CHANGED if an operator has set it already.
 */
export async function haltAsOperator(call: Call, wanted: Switch, reason: string): Promise<void> {
  const found = await switchOf(call, wanted);
  const setter = found === null ? null : await call.parts.gateway.store.people.findPerson(found.setBy);
  // Whoever else sets it in this moment has it taken over too.
  if (setter?.role !== "OPERATOR" && (await set(call, wanted, reason, { takesOver: true }))) return;
  throw new DashboardError("STATE_CHANGED", {
    message: "It is halted already.",
    action: "To change the reason, clear that kill switch first.",
  });
}

/** Throws NOT_FOUND if it is not set. */
export async function releaseAsOperator(call: Call, { kind, id }: Switch): Promise<void> {
  const audit = audited(call, "KILL_SWITCH_CLEARED", { kind, id }, { kind });
  if (!(await copyingOf(call).clearSwitch(kind, id, audit, { setBy: null })))
    throw new DashboardError("NOT_FOUND");
}

async function set(
  call: Call,
  { kind, id }: Switch,
  reason: string,
  terms: { readonly takesOver: boolean },
): Promise<boolean> {
  const { personId } = personOf(call);
  const audit = audited(call, "KILL_SWITCH_SET", { kind, id }, { kind, reason });
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

function copyingOf({ parts }: Pick<DashboardCall, "parts">): CopyStore {
  return parts.gateway.store.copying;
}

function audited(
  call: Call,
  what: NewAuditRecord["what"],
  { kind, id }: Switch,
  details: NewAuditRecord["details"],
): NewAuditRecord {
  const { personId, role } = personOf(call);
  return {
    who: { kind: role, personId },
    what,
    about: { kind: SUBJECTS[kind], id },
    at: call.now,
    details,
  };
}
