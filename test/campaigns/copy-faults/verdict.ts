// The verdict over all copies at the end of a run: the counts and the faults.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { SkipReason } from "../../../src/domain/copying.ts";
import { decimal } from "../../../src/money/decimal.ts";
import type { Store } from "../../../src/store/store.ts";
import { journalFaults } from "../harness/journal.ts";
import type { SteeredMarket } from "../harness/steered-market.ts";
import type { CrashedStore } from "../harness/stores.ts";
import { auditCopy } from "./audit.ts";
import { type CopyBooks, logOf, readActions, readBooks } from "./books.ts";
import type { Copying } from "./copying.ts";
import type { CopyFault } from "./faults.ts";
import type { FaultyWay } from "./faulty-way.ts";
import { readHistory } from "./history.ts";
import { SYMBOLS } from "./lead-trader.ts";
import type { Followed } from "./run.ts";
import { isSized, type PricesOf, sizeFaults } from "./sizes.ts";
import { lengthOf, NAKED_BUSY_MS_MAX, NAKED_MS_MAX, nakedSpans, type Span, stopFaults } from "./stops.ts";
import { type Histories, targetFaults } from "./targets.ts";

export type Verdict = Readonly<typeof NO_VERDICT>;

export const NO_VERDICT = {
  // Entries of orders and legs of the strategies: all, and those that the venue has.
  ...{ mirrored: 0, sent: 0, skipped: 0, failed: 0 },
  byReason: {} as Readonly<Partial<Record<SkipReason, number>>>,
  /** Orders and legs at the venue. */
  atVenue: 0,
  // Entries that took more than one sending, and more than no question.
  ...{ sentAgain: 0, asked: 0 },
  /** Those that were sent after the last kill. */
  afterKills: 0,
  // Recomputed scales, positions compared with their entitlement, and what the venue has liquidated.
  ...{ sized: 0, positions: 0, liquidations: 0 },
  // Positions that lacked their strategy's stop for some time, and for how long at most, ms; and for more
  // than the two bounds.
  ...{ naked: 0, nakedMsMax: 0, nakedLong: 0, nakedLongOnBusy: 0 },
  // Positions that were on the other side than their strategy's for some time.
  ...{ otherSide: 0, otherSideMsMax: 0 },
  faults: [] as readonly CopyFault[],
};

const ORDERS = ["PLACE", "PLACE_LEG"];

/** Audits every copy. Nothing may be running any more. */
export async function verdictOf(world: {
  readonly leadStore: CrashedStore;
  readonly venueStore: CrashedStore;
  readonly way: FaultyWay;
  readonly followed: readonly Followed[];
  readonly venueMarket: SteeredMarket;
  readonly copying: Pick<Copying, "downOf">;
  /** Unix ms; 0 if there was none. */
  readonly lastKillAt: number;
}): Promise<Verdict> {
  const { leadStore, venueStore, way, followed, venueMarket, copying } = world;
  const until = Date.now();
  const pricesOf: PricesOf = (...asked) => bidsOf(venueMarket, ...asked);
  const copiesOf = (type: StrategyType) => followed.filter(({ lead }) => lead.type === type).length;
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
            const histories = await readHistories(leads.store, venue.store, each);
            const span = { until, down: copying.downOf(strategyId) };
            faults.push(
              ...targetFaults(books, histories, (symbol) => bidOf(venueMarket, symbol)),
              ...stopFaults({ ...books, type: each.lead.type }, histories, {
                ...{ ...span, log: (symbol) => logOf(books, symbol) },
              }),
              ...sizeFaults(books, histories.copy, pricesOf, copiesOf(each.lead.type)),
            );
            verdicts.push({ ...countsOf(books, world.lastKillAt), ...stateCountsOf(books, histories, span) });
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

/** What a copy's account and its strategy had, from the first moment on. */
export async function readHistories(
  leads: Store,
  venue: Store,
  { lead, copier }: Followed,
): Promise<Histories> {
  const symbols = SYMBOLS.map(({ symbol }) => symbol);
  return {
    lead: await readHistory(leads, lead, symbols),
    copy: await readHistory(venue, { ...copier.venue, type: lead.type }, symbols),
  };
}

export function bidOf(market: SteeredMarket, symbol: string): bigint {
  return decimal(market.price(symbol).bid);
}

function bidsOf(market: SteeredMarket, ...[symbol, from, until]: Parameters<PricesOf>): ReturnType<PricesOf> {
  const bids = market.pricesBetween(symbol, from, until).map(({ bid }) => decimal(bid) as bigint);
  const sorted = bids.sort((one, other) => (one < other ? -1 : 1));
  return [sorted[0] ?? 0n, sorted.at(-1) ?? 0n];
}

type StateCounts = Pick<
  Verdict,
  | "sized"
  | "positions"
  | "liquidations"
  | "naked"
  | "nakedMsMax"
  | "nakedLong"
  | "nakedLongOnBusy"
  | "otherSide"
  | "otherSideMsMax"
>;

function stateCountsOf(
  { entries, venue }: CopyBooks,
  histories: Histories,
  { until, down }: { readonly until: number; readonly down: readonly Span[] },
): StateCounts {
  const symbols = new Set(histories.copy.flatMap(({ held }) => [...held.keys()]));
  const spans = [...symbols].flatMap((symbol) => nakedSpans(histories, symbol, until));
  const naked = spans.filter(({ isOtherSide }) => !isOtherSide).map((span) => lengthOf(span, down));
  const otherSide = spans.filter(({ isOtherSide }) => isOtherSide).map((span) => lengthOf(span, down));
  return {
    sized: entries.filter(isSized).length,
    positions: symbols.size,
    liquidations: venue.liquidations.length,
    naked: naked.length,
    nakedMsMax: Math.max(0, ...naked),
    nakedLong: naked.filter((ms) => ms > NAKED_MS_MAX).length,
    nakedLongOnBusy: naked.filter((ms) => ms > NAKED_BUSY_MS_MAX).length,
    otherSide: otherSide.length,
    otherSideMsMax: Math.max(0, ...otherSide),
  };
}

function countsOf({ entries, venue }: CopyBooks, lastKillAt: number): Omit<Verdict, keyof StateCounts> {
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

/** Adds the counts of two copies; of what is named a maximum, the greater. */
function sumOf(one: Verdict, other: Verdict): Verdict {
  const { byReason, faults, ...counts } = one;
  const added = Object.entries(counts).map(([name, count]) => {
    const more = other[name as keyof typeof counts];
    return [name, name.endsWith("Max") ? Math.max(count, more) : count + more] as const;
  });
  const reasons = Object.entries(other.byReason) as [SkipReason, number][];
  const summed = { ...byReason };
  for (const [reason, count] of reasons) summed[reason] = (summed[reason] ?? 0) + count;
  return { ...one, ...Object.fromEntries(added), byReason: summed, faults };
}
