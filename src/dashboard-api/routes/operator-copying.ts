// Operators' page of copying, and the kill switches that they set and clear: for a copier, a strategy or a
// venue.
import { z } from "zod";
import { SWITCH_KINDS, type SwitchKind } from "../../domain/copying.ts";
import type { VenueAccountCount } from "../../store/ports/copies.ts";
import { copiersOf } from "../copying/copies.ts";
import { haltAsOperator, haltReason, releaseAsOperator, switchAnswers } from "../copying/kill-switches.ts";
import { unclosedAnswer } from "../copying/unclosed.ts";
import { copierAnswer, healthAnswers, reportsToShow } from "../copying/venue-reports.ts";
import { DashboardError } from "../errors.ts";
import { type DashboardAnswer, type DashboardCall, route } from "../route.ts";
import { operatorCopyingSchema } from "../schemas/copying.ts";

/** The longest id is an origin. */
const ID_LENGTH_MAX = 300;

const kind = z.enum(SWITCH_KINDS);
const id = z.string().trim().min(1).max(ID_LENGTH_MAX);

export const OPERATOR_COPYING_ROUTES = [
  route("GET /operator/copying", "OPERATOR", operatorCopyingSchema, (call) => answered(call)),

  route("POST /operator/copying/switches", "OPERATOR", operatorCopyingSchema, {
    onlyStops: true,
    body: z.strictObject({ kind, id, reason: haltReason }),
    async answer(call) {
      const { kind, id, reason } = call.body;
      await haltAsOperator(call, { kind, id: await demandSubject(call, kind, id) }, reason);
      return answered(call);
    },
  }),

  route("POST /operator/copying/switches/clear", "OPERATOR", operatorCopyingSchema, {
    body: z.strictObject({ kind, id }),
    async answer(call) {
      const { kind, id } = call.body;
      await releaseAsOperator(call, { kind, id: await subjectOf(call, kind, id) });
      return answered(call);
    },
  }),
];

type Call = Pick<DashboardCall, "parts" | "now">;

/**
 * The id of the subject to be halted; a person may be named by e-mail address. Throws BODY_UNFIT if there is
 * none.
 */
async function demandSubject(call: Pick<Call, "parts">, kind: SwitchKind, named: string): Promise<string> {
  const { parts } = call;
  const { people } = parts.gateway.store;
  switch (kind) {
    case "COPIER": {
      const id = await subjectOf(call, kind, named);
      if ((await people.findPerson(id)) !== null) return id;
      throw noSuch("is not the e-mail address or id of anybody here");
    }
    case "STRATEGY":
      if ((await people.findStrategy(named)) !== null) return named;
      throw noSuch("is not the id of a strategy");
    case "VENUE": {
      const accounts = await parts.gateway.store.copying.countAccounts();
      const known = [...parts.copying.venues, ...accounts.map(({ venue }) => venue)];
      if (known.includes(named)) return named;
      throw noSuch("is not an exchange that copiers use or may use: enter its origin");
    }
  }
}

/** The id of a switch's subject: a person may be named by e-mail address. An unknown name stays as it is. */
async function subjectOf({ parts }: Pick<Call, "parts">, kind: SwitchKind, named: string): Promise<string> {
  if (kind !== "COPIER" || !named.includes("@")) return named;
  const person = await parts.gateway.store.people.findPersonByEmail(named.toLowerCase());
  return person?.personId ?? named;
}

function noSuch(words: string): DashboardError {
  return new DashboardError("BODY_UNFIT", { fields: { id: words } });
}

async function answered({
  parts,
  now,
}: Call): Promise<DashboardAnswer<z.output<typeof operatorCopyingSchema>>> {
  const { store } = parts.gateway;
  const switches = await store.copying.listSwitches();
  const accounts = await store.copying.countAccounts();
  const { counts, gap, behind } = await parts.copyFigures.ofEverybody();
  const heard = await store.copying.listVenueReports();
  const reports = reportsToShow(heard, now);
  const around = { allowed: parts.copying.venues, reports: heard, now };
  const origins = new Set([...parts.copying.venues, ...accounts.map(({ venue }) => venue)]);
  const body = {
    venues: [...origins].map((origin) => ({
      origin,
      accounts: countOf(accounts, origin, ["CONNECTED", "FAILED"]),
      failed: countOf(accounts, origin, ["FAILED"]),
      isHalted: switches.some(({ kind, id }) => kind === "VENUE" && id === origin),
      health: healthAnswers(origin, reports, now),
    })),
    copiers: reports.map((report) => copierAnswer(report, now)),
    copies: copiersOf(await store.copying.tallyCopies({ everybody: true })),
    behind,
    unclosed: unclosedAnswer(await parts.copyFigures.unclosed(), around),
    counts,
    gap,
    switches: await switchAnswers(store, switches),
  };
  return { body };
}

function countOf(
  accounts: readonly VenueAccountCount[],
  origin: string,
  statuses: readonly VenueAccountCount["status"][],
): number {
  return accounts
    .filter(({ venue, status }) => venue === origin && statuses.includes(status))
    .reduce((total, { count }) => total + count, 0);
}
