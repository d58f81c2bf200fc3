// Waits until each copy has handled all actions of its strategy and each entry has its final state.
import { setTimeout as pause } from "node:timers/promises";
import { UNCONFIRMED_MS_MAX } from "../../../src/copy/executor/balances.ts";
import type { MirrorEntry } from "../../../src/domain/copying.ts";
import { newId } from "../../../src/people/made-people.ts";
import type { Store } from "../../../src/store/store.ts";
import type { SteeredMarket } from "../harness/steered-market.ts";
import type { CrashedStore } from "../harness/stores.ts";
import { balanceFaults } from "./balances.ts";
import { type CopyBooks, readActions, readBooks } from "./books.ts";
import type { Copying } from "./copying.ts";
import type { CopyFault } from "./faults.ts";
import type { FaultyWay } from "./faulty-way.ts";
import type { Killer } from "./killer.ts";
import type { Followed, RunOptions } from "./run.ts";
import { pollMsMax } from "./sizes.ts";
import { type Histories, isSaleInDoubt, targetFaults } from "./targets.ts";
import { bidOf, readHistories } from "./verdict.ts";

const ASK_AGAIN_MS = 500;
/**
 * How long copies may take to settle, while faults go on and after their end, ms: the longest is what the
 * venue may still show.
 */
export const SETTLED_MS_MAX = UNCONFIRMED_MS_MAX + 60_000;
/** What copies is killed until half of the copies are done, or this long, ms. */
const KILLED_MS_MAX = 60_000;

/** How long a copy may take to bring its positions to their targets once nothing fails any more, ms. */
const ON_TARGET_MS_MAX = 30_000;
/** So many polls find that something is missing before it is written off. */
const WRITTEN_OFF_POLLS = 2;
/**
 * How long it may take to learn what became of its orders and what they cost, for as many copies as there
 * are, ms.
 */
const LEARNED_MS_MAX = SETTLED_MS_MAX;

type World = {
  readonly leadStore: CrashedStore;
  readonly venueStore: CrashedStore;
  readonly venueMarket: SteeredMarket;
  readonly copying: Copying;
  readonly way: FaultyWay;
  readonly followed: readonly Followed[];
  readonly killer: Killer;
};

/** Waits, at first under further kills; answers what did not come to an end. */
export async function awaitEnds(
  world: World,
  { onProgress, signal, orders, exchange }: RunOptions,
): Promise<CopyFault[]> {
  const { leadStore, copying, followed, way, killer } = world;
  const killUntil = Date.now() + KILLED_MS_MAX;
  // A copy that closes waits for what the exchange hides.
  const deadline = Date.now() + SETTLED_MS_MAX + (exchange?.hideMsMax ?? 0);
  return await leadStore.beside(async ({ store }) => {
    let left = await behindOf(store, followed);
    const goesOn = () => left.length > 0 && signal?.aborted !== true && copying.ended() === null;
    const askAgain = async () => {
      const before = left.length;
      await pause(ASK_AGAIN_MS);
      left = await behindOf(store, followed);
      if (left.length !== before) onProgress?.({ orders, kills: copying.kills, left: left.length });
    };
    while (goesOn() && Date.now() <= deadline) {
      if (left.length < followed.length / 2 || Date.now() > killUntil) await killer.end();
      await askAgain();
    }
    const late: CopyFault[] =
      left.length === 0 ? [] : [{ kind: "LATE", what: `${left.length} copies are not done: ${left[0]}` }];
    await killer.end();
    way.mend();
    // What was late is judged all the same, once nothing fails any more.
    const mendedUntil = Date.now() + SETTLED_MS_MAX;
    while (goesOn() && Date.now() <= mendedUntil) await askAgain();
    late.push(...(await settleAll(store, world, Date.now() + SETTLED_MS_MAX)));
    await awaitTargets(store, world);
    // A strategy's order may be filled as late as a gap in its market is replayed.
    left = await behindOf(store, followed);
    while (goesOn() && Date.now() <= mendedUntil) {
      await askAgain();
      await awaitTargets(store, world);
    }
    return late;
  });
}

/**
 * Waits until every copy knows its orders and their fees, has written off what its account lacks, and holds
 * what it is entitled to; what does not is found by the verdict.
 */
async function awaitTargets(leads: Store, world: World): Promise<void> {
  const { venueStore, venueMarket, followed, copying } = world;
  const price = (symbol: string) => bidOf(venueMarket, symbol);
  const learnedBy = Date.now() + LEARNED_MS_MAX;
  /** Since when every copy knows what became of its orders. */
  let since = Date.now();
  await venueStore.beside(async ({ store: venue }) => {
    let off: readonly Followed[] = followed;
    while (off.length > 0 && copying.ended() === null) {
      const left: Followed[] = [];
      for (const each of off) {
        const actions = await readActions(leads, each.lead.strategyId);
        const books = await readBooks(leads, venue, each, actions);
        const pending = isLearning(books)
          ? "OUTCOME"
          : pendingOf(books, await readHistories(leads, venue, each), price);
        if (pending === null) continue;
        const now = Date.now();
        if (pending === "OUTCOME" && now < learnedBy) since = now;
        const ofType = followed.filter(({ lead }) => lead.type === each.lead.type).length;
        const waitMs = pending === "BALANCE" ? WRITTEN_OFF_POLLS * pollMsMax(ofType) : ON_TARGET_MS_MAX;
        if (now - since < waitMs) left.push(each);
      }
      off = left;
      if (off.length > 0) await pause(ASK_AGAIN_MS);
    }
  });
}

/**
 * What a copy may yet do by itself: learn the OUTCOME of a sale without which it does not sell again, correct
 * a BALANCE by what its account has, or reach its TARGET. Null: nothing.
 */
export function pendingOf(
  books: CopyBooks,
  histories: Histories,
  price: (symbol: string) => bigint,
): "OUTCOME" | "BALANCE" | "TARGET" | null {
  const isRunning = books.copy.status !== "STOPPED";
  if (isRunning && isSaleInDoubt(books, histories, price)) return "OUTCOME";
  if (isRunning && balanceFaults(books).length > 0) return "BALANCE";
  return targetFaults(books, histories, price).length > 0 ? "TARGET" : null;
}

/**
 * Whether a copy that still runs is sending an order, or does not know yet what became of one that the venue
 * has, or what it cost. An order that never got there stays unconfirmed for much longer.
 */
function isLearning({ copy, entries, venue }: CopyBooks): boolean {
  if (copy.status === "STOPPED") return false;
  const ids = new Set([
    ...venue.orders.map(({ clientOrderId }) => clientOrderId),
    ...venue.legs.map(({ clientLegId }) => clientLegId),
  ]);
  const isThere = ({ clientOrderId }: MirrorEntry) => clientOrderId !== null && ids.has(clientOrderId);
  return entries.some(
    (entry) =>
      entry.isFeeDue === true ||
      entry.status === "SENT" ||
      (entry.status === "UNCONFIRMED" && isThere(entry)),
  );
}

/**
 * Has every copy ask the venue how its orders stand. A limit may rest there for good: its price came before
 * it did.
 */
async function settleAll(store: Store, { followed, copying }: World, deadline: number): Promise<CopyFault[]> {
  for (const { copier } of followed) {
    // Of a copy that is stopped nothing is asked any more.
    if ((await store.copying.findCopy(copier.copyId))?.status === "STOPPED") continue;
    const request = { requestId: newId(), copyId: copier.copyId, kind: "LOOK", mayIncrease: false } as const;
    await store.copying.addRequest({ ...request, askedAt: Date.now(), doneAt: null, failure: null }, null);
  }
  const strategies = new Set(followed.map(({ lead }) => lead.strategyId));
  for (;;) {
    let pending = 0;
    for (const strategyId of strategies) {
      pending += (await store.copying.listPendingRequests(strategyId)).length;
    }
    if (pending === 0 || copying.ended() !== null) return [];
    if (Date.now() > deadline) return [{ kind: "LATE", what: `${pending} copies have not looked` }];
    await pause(ASK_AGAIN_MS);
  }
}

/** The copies that are not as far as their strategies, in words. */
async function behindOf(store: Store, followed: readonly Followed[]): Promise<string[]> {
  const behind: string[] = [];
  for (const [strategyId, ofLead] of Map.groupBy(followed, ({ lead }) => lead.strategyId)) {
    const version = (await store.loadAccount(strategyId))?.version;
    const lead = await store.copying.findLead(strategyId);
    const copies = await store.copying.listCopiesOfStrategy(strategyId, { isLive: true });
    const isLeadDone = lead !== null && lead.version === version;
    if (!isLeadDone) behind.push(`${strategyId} is at ${lead?.version} of ${version}`);
    for (const { copyId, doneSeq, status } of copies) {
      const isDone = doneSeq === lead?.seq && status !== "CLOSING";
      if (!isDone) behind.push(`${copyId} (${status}) is at ${doneSeq} of ${lead?.seq}`);
    }
    if (copies.length > ofLead.length) throw new Error("nobody else follows");
  }
  return behind;
}
