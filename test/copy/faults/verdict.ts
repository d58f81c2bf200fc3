// The verdict over all copies once everything stands still: what was counted, and what was found.
import type { SkipReason } from "../../../src/domain/copying.ts";
import type { Store } from "../../../src/store/store.ts";
import { journalFaults } from "../../crash/journal.ts";
import type { CrashedStore } from "../../crash/stores.ts";
import { auditCopy } from "./audit.ts";
import { type CopyBooks, readActions, readBooks } from "./books.ts";
import type { CopyFault } from "./faults.ts";
import type { FaultyWay } from "./faulty-way.ts";
import type { Followed } from "./run.ts";

export type Verdict = {
  /** Entries of orders and legs of the strategies: all, and those that the venue has. */
  readonly mirrored: number;
  readonly sent: number;
  readonly skipped: number;
  readonly failed: number;
  readonly byReason: Readonly<Partial<Record<SkipReason, number>>>;
  /** Orders and legs at the venue. */
  readonly atVenue: number;
  /** Entries that took more than one sending, and more than no question. */
  readonly sentAgain: number;
  readonly asked: number;
  /** Those that were sent after the last kill. */
  readonly afterKills: number;
  readonly faults: readonly CopyFault[];
};

export const NO_VERDICT: Verdict = {
  ...{
    mirrored: 0,
    sent: 0,
    skipped: 0,
    failed: 0,
    byReason: {},
    atVenue: 0,
    sentAgain: 0,
    asked: 0,
    afterKills: 0,
    faults: [],
  },
};

const ORDERS = ["PLACE", "PLACE_LEG"];

/** Audits every copy. Nothing may be running any more. */
export async function verdictOf(world: {
  readonly leadStore: CrashedStore;
  readonly venueStore: CrashedStore;
  readonly way: FaultyWay;
  readonly followed: readonly Followed[];
  /** Unix ms; 0 if there was none. */
  readonly lastKillAt: number;
}): Promise<Verdict> {
  const { leadStore, venueStore, way, followed } = world;
  return await leadStore.beside(
    async (leads) =>
      await venueStore.beside(async (venue) => {
        const faults: CopyFault[] = [];
        for (const [store, beside] of [
          [leadStore, leads],
          [venueStore, venue],
        ] as const) {
          for (const what of await store.damage(beside)) faults.push({ kind: "DAMAGED", what });
        }
        const verdicts: Verdict[] = [];
        for (const [strategyId, ofLead] of Map.groupBy(followed, ({ lead }) => lead.strategyId)) {
          const actions = await readActions(leads.store, strategyId);
          for (const each of ofLead) {
            const books = await readBooks(leads.store, venue.store, each, actions);
            faults.push(...auditCopy(books, way.accepted), ...(await venueFaults(venue.store, each)));
            verdicts.push(countsOf(books, world.lastKillAt));
          }
        }
        return { ...verdicts.reduce(sumOf, NO_VERDICT), faults };
      }),
  );
}

/** The venue's own journal makes its account: what the audit reads there is sound. */
async function venueFaults(store: Store, { copier }: Followed): Promise<CopyFault[]> {
  const found = await journalFaults(store, copier.venue.strategyId);
  return found.map(({ what }) => ({ kind: "DAMAGED", what: `at the venue ${what}` }));
}

function countsOf({ entries, venue }: CopyBooks, lastKillAt: number): Verdict {
  const ofOrders = entries.filter(({ kind }) => ORDERS.includes(kind));
  const byReason: Partial<Record<SkipReason, number>> = {};
  for (const { status, skip } of ofOrders) {
    if (status === "SKIPPED" && skip !== null) byReason[skip.reason] = (byReason[skip.reason] ?? 0) + 1;
  }
  const count = (holds: (entry: (typeof entries)[number]) => boolean) => ofOrders.filter(holds).length;
  return {
    mirrored: ofOrders.length,
    sent: count(({ status }) => status !== "SKIPPED" && status !== "FAILED"),
    skipped: count(({ status }) => status === "SKIPPED"),
    failed: count(({ status }) => status === "FAILED"),
    byReason,
    atVenue: venue.orders.length + venue.legs.length,
    sentAgain: count(({ sends }) => sends > 1),
    asked: count(({ queries }) => queries > 0),
    afterKills: count(({ sentAt }) => sentAt !== null && sentAt > lastKillAt),
    faults: [],
  };
}

function sumOf(one: Verdict, other: Verdict): Verdict {
  const reasons = new Set([...Object.keys(one.byReason), ...Object.keys(other.byReason)]) as Set<SkipReason>;
  return {
    mirrored: one.mirrored + other.mirrored,
    sent: one.sent + other.sent,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
    byReason: Object.fromEntries(
      [...reasons].map((reason) => [reason, (one.byReason[reason] ?? 0) + (other.byReason[reason] ?? 0)]),
    ),
    atVenue: one.atVenue + other.atVenue,
    sentAgain: one.sentAgain + other.sentAgain,
    asked: one.asked + other.asked,
    afterKills: one.afterKills + other.afterKills,
    faults: [],
  };
}
