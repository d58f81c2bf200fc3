/**
 * A simulated perpetual relative to the spot pair of its name: the path of its prices, its marks, funding and
 * open interest, in the wire's decimals.
 */
import type { FundingRow, FuturesSource, MarkKind, MarkStatistics, Premium } from "../exchange/source.ts";
import { quantityText } from "./book.ts";
import { createFunding, type Funding } from "./funding.ts";
import { derive, fractionOf, seedOf } from "./hash.ts";
import type { Listing, PerpetualListing } from "./listing.ts";
import { createMarks, type Marks } from "./marks.ts";
import { followPath, type Path } from "./path.ts";
import { createPremium } from "./premium.ts";
import { eightDigits, unitsPerOne } from "./text.ts";

type FundingQuery = Parameters<FuturesSource["fundingRates"]>[2];

/** The spot pair that the index is made of. */
type Index = { readonly listing: Listing; readonly path: Path };

const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
// Open interest lies about this part of a day's volume.
const openInterestPerDay = 0.6;

export type Perpetual = ReturnType<typeof createPerpetual>;

export function createPerpetual(seed: string, listing: PerpetualListing, index: Index) {
  const { symbol, fundingHours: hours, fundingCap } = listing;
  const premium = createPremium(seed, index.listing);
  const ticksPerIndexTick = scaleOf(listing.tickDecimals - index.listing.tickDecimals);
  const contractTicks = (ticks: number) =>
    Math.max(1, Math.round(premium.contract(ticks) * ticksPerIndexTick));
  const cap = Math.round(Number(fundingCap) * unitsPerOne);
  const { path } = index;
  const funding = createFunding({ seed, symbol, hours, cap, path, premium });
  const marks = createMarks({
    funding,
    premium,
    index: index.listing,
    path,
    contractTicks,
    contractTickDecimals: listing.tickDecimals,
  });
  const interestSeed = seedOf(`${seed}/interest/${symbol}`);

  return {
    path: followPath(path, contractTicks),
    fundingTerms: {
      intervalHours: hours,
      rateCap: fundingCap,
      rateFloor: `-${fundingCap}`,
      adjustedAt: listing.fundingAdjustedAt,
    },
    premium: (at: number): Premium => premiumOf(marks, funding, at),
    markStatistics(kind: MarkKind, from: number, until: number): MarkStatistics | undefined {
      const candle = marks.candle(kind, Math.max(from, listing.listedDay * dayMs), until);
      return (
        candle && {
          open: eightDigits(candle.open),
          high: eightDigits(candle.high),
          low: eightDigits(candle.low),
          close: eightDigits(candle.close),
          count: candle.count,
        }
      );
    },
    // Worked out only where it is read, since a list of all contracts shows few of the rows that each could
    // give.
    fundingRates(at: number, query: FundingQuery): readonly FundingRow[] {
      return settlementsOf(listing, funding, at, query).map((settlement) => ({
        symbol,
        at: funding.settledAt(settlement),
        get rate() {
          return eightDigits(funding.settled(settlement));
        },
        get markPrice() {
          return eightDigits(marks.markAt((settlement * funding.intervalMs) / secondMs));
        },
      }));
    },
    // Drawn for each hour, and in a straight line between.
    openInterest(at: number): string {
      const hour = Math.floor(at / hourMs);
      const [before, after] = [
        fractionOf(derive(interestSeed, hour)),
        fractionOf(derive(interestSeed, hour + 1)),
      ];
      const drawn = before + (after - before) * (at / hourMs - hour);
      return quantityText(listing, Math.round(listing.dailyLots * openInterestPerDay * (0.95 + 0.1 * drawn)));
    },
  };
}

function premiumOf(marks: Marks, funding: Funding, at: number): Premium {
  const second = Math.floor(at / secondMs);
  const indexPrice = eightDigits(marks.indexAt(second));
  return {
    at: second * secondMs,
    markPrice: eightDigits(marks.markAt(second)),
    indexPrice,
    // The reference averages the index over the last hour before settlement.
    estimatedSettlePrice: indexPrice,
    fundingRate: eightDigits(funding.estimate(at)),
    interestRate: eightDigits(funding.interestRate),
    nextFundingAt: (Math.floor(at / funding.intervalMs) + 1) * funding.intervalMs,
  };
}

// Numbers of the requested settlements, ascending.
function settlementsOf(listing: Listing, funding: Funding, at: number, query: FundingQuery): number[] {
  const { intervalMs } = funding;
  const firstEver = Math.floor((listing.listedDay * dayMs) / intervalMs) + 1;
  const from = query.startTime ?? 0;
  const until = Math.min(at, query.endTime ?? at);
  // A settlement is executed slightly after it is due: the first may be the one before, the last may not
  // exist yet.
  let first = Math.max(firstEver, Math.floor(from / intervalMs));
  if (funding.settledAt(first) < from) first += 1;
  let last = Math.floor(until / intervalMs);
  if (funding.settledAt(last) > until) last -= 1;
  const oldest = query.startTime === undefined ? Math.max(first, last - query.limit + 1) : first;
  const newest = Math.min(last, oldest + query.limit - 1);
  return Array.from({ length: Math.max(0, newest - oldest + 1) }, (_, index) => oldest + index);
}

function scaleOf(finerDecimals: number): number {
  return finerDecimals >= 0 ? 10 ** finerDecimals : 1 / 10 ** -finerDecimals;
}
