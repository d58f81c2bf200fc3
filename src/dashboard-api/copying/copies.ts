// Copies with their figures: equity as the venue last reported it, what became of the strategy's orders, and
// what halts them.
import type { z } from "zod";
import { stopEquity, takeProfitEquity } from "../../copy/sizing/book.ts";
import {
  COPY_QUOTE_ASSET,
  COPY_STATUSES,
  type Copy,
  type CopyRequest,
  type CopyRequestKind,
  type CopyStatus,
} from "../../domain/copying.ts";
import { SCALE } from "../../money/decimal.ts";
import type { CopyCount } from "../../store/ports/copies.ts";
import type { Store } from "../../store/store.ts";
import type { DashboardParts } from "../parts.ts";
import type { copySchema } from "../schemas/copies.ts";
import type { StrategyCopyingJson } from "../schemas/copying.ts";
import { behindOf, countsOf } from "./copy-figures.ts";
import { haltOf } from "./kill-switches.ts";

/** Requests of a copy that are read: of each kind one is in flight at a time. */
const REQUESTS_READ = 10;

type Parts = Pick<DashboardParts, "gateway" | "copying">;
type CopyAnswer = z.output<typeof copySchema>;

/** Copies of one person, in the order as given. */
export async function copyAnswers(
  { gateway, copying: { venues: allowed } }: Parts,
  personId: string,
  copies: readonly Copy[],
): Promise<readonly CopyAnswer[]> {
  const { store } = gateway;
  const now = gateway.wallNow();
  const switches = await store.copying.listSwitches();
  const accounts = new Map(
    (await store.copying.listAccountsOf(personId)).map((account) => [account.accountId, account]),
  );
  const ids = [...new Set(copies.map(({ strategyId }) => strategyId))];
  const found = await Promise.all(ids.map((strategyId) => store.people.findStrategy(strategyId)));
  const strategies = new Map(found.flatMap((each) => (each === null ? [] : [[each.strategyId, each]])));
  const answerOf = async (copy: Copy): Promise<CopyAnswer> => {
    const { copyId, strategyId, book } = copy;
    const account = accounts.get(copy.accountId);
    const strategy = strategies.get(strategyId);
    if (account === undefined || strategy === undefined) {
      throw new Error(`a copy has an account and a strategy: ${copyId}`);
    }
    const [counts, restingOrders, requests, behind] = await Promise.all([
      store.copying.countEntries(copyId),
      store.copying.countResting(copyId),
      requestsOf(store, copyId),
      behindOf(store, copyId, now),
    ]);
    const stoppable = { COPIER: personId, STRATEGY: strategyId, VENUE: account.venue };
    return {
      ...copy,
      family: copy.type,
      strategyName: strategy.name,
      strategyStatus: strategy.status,
      account,
      halted: copy.status === "STOPPED" ? null : haltOf(switches, stoppable, { by: personId, allowed }),
      asset: COPY_QUOTE_ASSET,
      ...equityOf(copy),
      realized: book.realized,
      fees: book.fees,
      seenAt: book.snapshot?.at ?? null,
      counts: countsOf(counts),
      restingOrders,
      behind,
      pending: pendingOf(requests),
    };
  };
  return await Promise.all(copies.map(answerOf));
}

export async function copyAnswer(parts: Parts, copy: Copy): Promise<CopyAnswer> {
  const [answer] = await copyAnswers(parts, copy.personId, [copy]);
  if (answer === undefined) throw new Error("every copy has an answer");
  return answer;
}

/** Requests that are not done yet. */
export function pendingOf(requests: readonly CopyRequest[]): readonly CopyRequestKind[] {
  return requests.filter(({ doneAt }) => doneAt === null).map(({ kind }) => kind);
}

/** The newest requests to a copy. */
export function requestsOf({ copying }: Pick<Store, "copying">, copyId: string) {
  return copying.listRequests(copyId, REQUESTS_READ);
}

/** By the last equity that the venue reported, beside the equity that the copy began with. */
function equityOf({
  book,
  settings,
}: Copy): Pick<CopyAnswer, "equity" | "startEquity" | "resultRate" | "stopsFrom" | "stopsAt" | "takesAt"> {
  const { snapshot, startEquity, stopBase } = book;
  const stopsAt = stopEquity(book, settings);
  const hasBegun = startEquity !== null && startEquity > 0n;
  const equity = snapshot?.equity ?? null;
  return {
    equity,
    startEquity,
    resultRate: hasBegun && equity !== null ? ((equity - startEquity) * SCALE) / startEquity : null,
    stopsFrom: stopsAt === null ? null : (stopBase ?? startEquity),
    stopsAt,
    takesAt: takeProfitEquity(book, settings),
  };
}

/** How many copies there are of each status. */
export function copiersOf(tally: readonly CopyCount[]): { readonly [S in CopyStatus]: number } {
  const of = (status: CopyStatus) =>
    tally.filter((each) => each.status === status).reduce((total, { count }) => total + count, 0);
  return Object.fromEntries(COPY_STATUSES.map((status) => [status, of(status)])) as {
    [S in CopyStatus]: number;
  };
}

/**
 * Of a strategy that is closed: the copies that were live then, and those of them that have closed. Null if
 * nobody followed it.
 */
export function closingOf(
  tally: readonly CopyCount[],
): Omit<NonNullable<StrategyCopyingJson["closing"]>, "left"> | null {
  const { FOLLOWING, PAUSED, CLOSING } = copiersOf(tally);
  const done = tally
    .filter(({ status, reason }) => status === "STOPPED" && reason === "STRATEGY_CLOSED")
    .reduce((total, { count }) => total + count, 0);
  const total = done + FOLLOWING + PAUSED + CLOSING;
  return total === 0 ? null : { done, total };
}
