// The order of the strategies on offer, of a page of them at a time. What is not known comes last, whichever
// way round.
import type { OfferJson } from "../../../src/dashboard-api/schemas.ts";
import { compare, magnitude } from "../ui/figures/decimals.ts";

export const OFFER_SORTS = ["return", "drawdown", "age", "copiers", "smallest"] as const;
export type OfferSort = (typeof OFFER_SORTS)[number];

type Key = (offer: OfferJson) => string | null;

/** Best first: what each is sorted by, and which way round is best. */
const KEYS: Readonly<Record<OfferSort, { readonly key: Key; readonly isLeastBest: boolean }>> = {
  return: { key: ({ performance }) => performance?.returnRate ?? null, isLeastBest: false },
  drawdown: {
    key: ({ performance }) => (performance === null ? null : magnitude(performance.maxDrawdown)),
    isLeastBest: true,
  },
  age: { key: ({ createdAt }) => String(createdAt), isLeastBest: true },
  copiers: { key: ({ copiers }) => String(copiers), isLeastBest: false },
  smallest: { key: ({ smallestBalances }) => smallestBalances?.all ?? null, isLeastBest: true },
};

/** Whether the best of it is the least. For ages that is the oldest, which is the longest. */
export function isLeastFirst(sort: OfferSort): boolean {
  return sort !== "age" && KEYS[sort].isLeastBest;
}

export function sortOf(text: string | undefined): OfferSort {
  return OFFER_SORTS.find((sort) => sort === text) ?? "return";
}

/** By the best first, or by the worst. Those that are alike stay as they were. */
export function sortedOffers(
  offers: readonly OfferJson[],
  sort: OfferSort,
  isReversed = false,
): readonly OfferJson[] {
  const { key, isLeastBest } = KEYS[sort];
  const direction = isLeastBest === isReversed ? -1 : 1;
  return [...offers].sort((one, other) => {
    const [left, right] = [key(one), key(other)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return compare(left, right) * direction;
  });
}

/** How many strategies the list has, and which part of it a page shows. */
export function listedWords({ shown, total }: { readonly shown: number; readonly total: number }): string {
  const strategies = `${total.toLocaleString("en-GB")} ${total === 1 ? "strategy" : "strategies"}`;
  if (shown >= total) return `${strategies}.`;
  return `${shown.toLocaleString("en-GB")} of ${strategies} on this page, newest first. Sorting orders this page only: search by name to find one of the others.`;
}
