/**
 * Mark, index and funding of the simulated perpetuals, pure functions of seed and time.
 *
 * The index is the last spot trade of the same pair, the mark lies half-way between it and the perpetual's last trade.
 * Rates settle every eight hours; between settlements the rate shown is the one that will be settled next.
 *
 * Deliberately missing: premium averaging, caps and intervals other than eight hours.
 */
import type { FundingRow, Premium } from "../exchange/source.ts";
import { derive, fractionOf, seedOf } from "./hash.ts";
import type { SimulatedMarket } from "./market.ts";
import { decimalText } from "./text.ts";

const settlementMs = 8 * 60 * 60 * 1_000;
const scale = 1e8;
const interestRate = 0.0001 * scale;
// Settlements carry a few milliseconds of delay, as on the reference exchange.
const delayMsMax = 10;

export type Funding = {
  premium(at: number): Premium;
  /** Settlements with `from <= time <= until`, ascending, at most `limit` of them. */
  settlements(range: { readonly from: number; readonly until: number; readonly limit: number }): FundingRow[];
};

export function createFunding(
  seed: string,
  perpetual: SimulatedMarket,
  spot: SimulatedMarket | undefined,
): Funding {
  const rateSeed = seedOf(`${seed}/funding/${perpetual.listing.symbol}`);

  return {
    premium(at) {
      const nextFunding = Math.floor(at / settlementMs) + 1;
      const index = indexAt(at);
      const mark = Math.round((index + lastPrice(perpetual, at)) / 2);
      return {
        markPrice: eightDigits(mark),
        indexPrice: eightDigits(index),
        estimatedSettlePrice: eightDigits(index),
        fundingRate: eightDigits(rateOf(nextFunding)),
        interestRate: eightDigits(interestRate),
        nextFundingAt: nextFunding * settlementMs,
      };
    },
    settlements({ from, until, limit }) {
      const rows: FundingRow[] = [];
      let settlement = Math.ceil((Math.max(from, perpetual.listedAt + 1) - delayMsMax) / settlementMs);
      for (; settlement * settlementMs <= until && rows.length < limit; settlement += 1) {
        const at = settledAt(settlement);
        if (at < from || at > until) continue;
        const markPrice = eightDigits(openingMark(settlement * settlementMs));
        rows.push({ symbol: perpetual.listing.symbol, at, rate: eightDigits(rateOf(settlement)), markPrice });
      }
      return rows;
    },
  };

  // The mark between the prices at which both hours open, which needs no division below the hour.
  function openingMark(hourAt: number): number {
    const index = spot && spot.listedAt <= hourAt ? spot : perpetual;
    return Math.round((openingPrice(index, hourAt) + openingPrice(perpetual, hourAt)) / 2);
  }

  function indexAt(at: number): number {
    return lastPrice(spot && spot.listedAt <= at ? spot : perpetual, at);
  }

  function settledAt(settlement: number): number {
    const delayMs = Math.floor(fractionOf(derive(rateSeed + 1, settlement)) * delayMsMax);
    return settlement * settlementMs + delayMs;
  }

  // Around the interest rate, drifting over days, now and then below zero. In units of 1e-8.
  function rateOf(settlement: number): number {
    const slow = fractionOf(derive(rateSeed, Math.floor(settlement / 9))) - 0.45;
    const quick = fractionOf(derive(rateSeed + 2, settlement)) - 0.5;
    return Math.round(interestRate * (0.6 + 1.6 * slow + 0.8 * quick));
  }
}

function lastPrice(market: SimulatedMarket, at: number): number {
  const ticks = market.lastTrade(at)?.price ?? market.listing.baseTicks;
  return ticks * 10 ** (8 - market.listing.tickDecimals);
}

function openingPrice(market: SimulatedMarket, hourAt: number): number {
  return market.span("hour", hourAt).open * 10 ** (8 - market.listing.tickDecimals);
}

function eightDigits(units: number): string {
  return units < 0 ? `-${decimalText(-units, 8, 8)}` : decimalText(units, 8, 8);
}
