// Copies as the browser gets them: what they are worth as the venue said it last, what became of the strategy's orders, and whether
// anything stops them.
import { stopEquity } from "../../copy/reconcile/profit.ts";
import { takeProfitEquity } from "../../copy/sizing/limits.ts";
import {
  COPY_QUOTE_ASSET,
  COPY_STATUSES,
  type Copy,
  type CopyRequest,
  type CopyRequestKind,
  type CopyStatus,
  type KillSwitch,
  type VenueAccount,
} from "../../domain/copying.ts";
import { formatBriefly, SCALE } from "../../money/decimal.ts";
import type { CopyCount } from "../../store/copy-store.ts";
import type { OwnedStrategy } from "../../store/people-store.ts";
import type { Store } from "../../store/store.ts";
import { behindOf } from "../copying/copy-figures.ts";
import { presentSettings } from "../copying/copy-settings.ts";
import type { DashboardParts } from "../parts.ts";
import type { CopyShape, StrategyCopyingShape } from "../shapes.ts";
import { presentAccountOf } from "./copying-accounts.ts";
import { presentCounts } from "./copying-entries.ts";
import { haltOf } from "./copying-halts.ts";

/** Requests of a copy that are looked at: of each kind one is under way at a time. */
const REQUESTS_LOOKED_AT = 10;

type Parts = Pick<DashboardParts, "gateway" | "copying">;
/** What several copies may share, asked for once. */
type Around = {
  readonly switches: readonly KillSwitch[];
  readonly accounts: ReadonlyMap<string, VenueAccount>;
  readonly strategies: ReadonlyMap<string, OwnedStrategy>;
  /** Wall time, Unix ms. */
  readonly now: number;
};

/** Copies of one person, in the order as given. */
export async function presentCopies(
  { gateway, copying }: Parts,
  personId: string,
  copies: readonly Copy[],
): Promise<readonly CopyShape[]> {
  const { store } = gateway;
  const around = {
    switches: await store.copying.listSwitches(),
    accounts: new Map(
      (await store.copying.listAccountsOf(personId)).map((account) => [account.accountId, account]),
    ),
    strategies: await strategiesOf(store, copies),
    now: gateway.wallNow(),
  };
  return await Promise.all(copies.map((copy) => present(copy, around, { store, allowed: copying.venues })));
}

export async function presentCopy(parts: Parts, copy: Copy): Promise<CopyShape> {
  const [shape] = await presentCopies(parts, copy.personId, [copy]);
  if (shape === undefined) throw new Error("every copy is presented");
  return shape;
}

/** What is asked of a copy and not done yet. */
export function pendingOf(requests: readonly CopyRequest[]): readonly CopyRequestKind[] {
  return requests.filter(({ doneAt }) => doneAt === null).map(({ kind }) => kind);
}

/** The newest of what was asked of a copy. */
export function requestsOf({ copying }: Pick<Store, "copying">, copyId: string) {
  return copying.listRequests(copyId, REQUESTS_LOOKED_AT);
}

async function strategiesOf(
  { people }: Pick<Store, "people">,
  copies: readonly Copy[],
): Promise<ReadonlyMap<string, OwnedStrategy>> {
  const ids = [...new Set(copies.map(({ strategyId }) => strategyId))];
  const found = await Promise.all(ids.map((strategyId) => people.findStrategy(strategyId)));
  return new Map(found.flatMap((each) => (each === null ? [] : [[each.strategyId, each]])));
}

async function present(
  copy: Copy,
  { switches, accounts, strategies, now }: Around,
  { store, allowed }: { readonly store: Store; readonly allowed: readonly string[] },
): Promise<CopyShape> {
  const { copyId, personId, strategyId, settings, status, book } = copy;
  const account = accounts.get(copy.accountId);
  const strategy = strategies.get(strategyId);
  if (account === undefined || strategy === undefined) {
    throw new Error(`a copy has an account and a strategy: ${copyId}`);
  }
  const [counts, resting, requests, behind] = await Promise.all([
    store.copying.countEntries(copyId),
    store.copying.countResting(copyId),
    requestsOf(store, copyId),
    behindOf(store, copyId, now),
  ]);
  const stoppable = { COPIER: personId, STRATEGY: strategyId, VENUE: account.venue };
  return {
    copyId,
    strategyId,
    strategyName: strategy.name,
    strategyStatus: strategy.status,
    family: copy.family,
    account: presentAccountOf(account),
    status,
    reason: copy.reason,
    halted: status === "STOPPED" ? null : haltOf(switches, stoppable, { by: personId, allowed }),
    settings: presentSettings(settings),
    startedAt: copy.startedAt,
    endedAt: copy.endedAt,
    asset: COPY_QUOTE_ASSET,
    ...worthOf(copy),
    realized: formatBriefly(book.realized),
    fees: formatBriefly(book.fees),
    seenAt: book.snapshot?.at ?? null,
    counts: presentCounts(counts),
    restingOrders: resting,
    behind,
    pending: pendingOf(requests),
  };
}

/** Equity as the venue's last words make it, beside the equity that the copy began with. */
function worthOf({
  book,
  settings,
}: Copy): Pick<CopyShape, "equity" | "startEquity" | "resultRate" | "stopsFrom" | "stopsAt" | "takesAt"> {
  const { snapshot, startEquity, stopBase } = book;
  const stopsAt = stopEquity(book, settings);
  const stopsFrom = stopBase ?? startEquity;
  const takesAt = takeProfitEquity(book, settings);
  const hasBegun = startEquity !== null && startEquity > 0n;
  const equity = snapshot?.equity ?? null;
  return {
    equity: equity === null ? null : formatBriefly(equity),
    startEquity: startEquity === null ? null : formatBriefly(startEquity),
    resultRate:
      hasBegun && equity !== null ? formatBriefly(((equity - startEquity) * SCALE) / startEquity) : null,
    stopsFrom: stopsAt === null || stopsFrom === null ? null : formatBriefly(stopsFrom),
    stopsAt: stopsAt === null ? null : formatBriefly(stopsAt),
    takesAt: takesAt === null ? null : formatBriefly(takesAt),
  };
}

// How many copies there are, and how far the closing of a strategy has come for its copiers.

export function copiersOf(tally: readonly CopyCount[]): { readonly [S in CopyStatus]: number } {
  const of = (status: CopyStatus) =>
    tally.filter((each) => each.status === status).reduce((total, { count }) => total + count, 0);
  return Object.fromEntries(COPY_STATUSES.map((status) => [status, of(status)])) as {
    [S in CopyStatus]: number;
  };
}

/** Of a strategy that is closed: the copies that were live then, and those of them that have closed. Null if nobody followed it. */
export function closingOf(
  tally: readonly CopyCount[],
): Omit<NonNullable<StrategyCopyingShape["closing"]>, "left"> | null {
  const { FOLLOWING, PAUSED, CLOSING } = copiersOf(tally);
  const done = tally
    .filter(({ status, reason }) => status === "STOPPED" && reason === "STRATEGY_CLOSED")
    .reduce((total, { count }) => total + count, 0);
  const total = done + FOLLOWING + PAUSED + CLOSING;
  return total === 0 ? null : { done, total };
}
