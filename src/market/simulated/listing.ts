/**
 * The listings of the simulated exchange: filters true to the reference exchange as published in 2026, and
 * the figures that the market is drawn from. Spot in `spotListings`, perpetuals in `perpetualListings`.
 * Ticks and steps are powers of ten and written as their number of decimals.
 */
import type { StrategyType } from "../../domain/account.ts";
import { type PerpetualRow, perpetualRows } from "./listing-perpetual.ts";
import { type SpotRow, spotRows } from "./listing-spot.ts";

export type Listing = ReturnType<typeof listingOf>;

const dayMs = 86_400_000;
const secondsPerDay = 86_400;
const spotListedDay = Date.UTC(2017, 7, 17) / dayMs;

// Keeps a day's quote volume, and a few hundred times it, below 2^53 units.
const dailyQuoteUnitsMax = 1e13;
const quoteDigitsMax = 8;

export const spotListings: readonly Listing[] = spotRows.map((row) =>
  listingOf("SPOT", row, { priceDigits: 8, quantityDigits: 8, quoteDigits: 8, listedDay: spotListedDay }),
);

/** A listing with the terms of its funding. */
export type PerpetualListing = Listing &
  Pick<PerpetualRow, "fundingHours" | "fundingCap" | "fundingAdjustedAt">;

export const perpetualListings: readonly PerpetualListing[] = perpetualRows.map((row) => ({
  ...listingOf("FUTURES", row, {
    priceDigits: row.priceDigits,
    quantityDigits: row.stepDecimals,
    quoteDigits: row.priceDigits + row.stepDecimals,
    listedDay: Math.floor(row.onboardAt / dayMs),
  }),
  fundingHours: row.fundingHours,
  fundingCap: row.fundingCap,
  fundingAdjustedAt: row.fundingAdjustedAt,
}));

function listingOf(
  type: StrategyType,
  row: SpotRow | PerpetualRow,
  shape: Record<"priceDigits" | "quantityDigits" | "quoteDigits" | "listedDay", number>,
) {
  const baseTicks = Math.round(row.price * 10 ** row.tickDecimals);
  const dailyLots = Math.round(row.dailyVolume * 10 ** row.stepDecimals);
  const coarse = Math.ceil(Math.log10((baseTicks * dailyLots) / dailyQuoteUnitsMax));
  const beyondShown = row.tickDecimals + row.stepDecimals - quoteDigitsMax;
  const dropped = Math.max(0, coarse, beyondShown);
  return {
    type,
    symbol: row.symbol,
    /** Names it in the texts that seeds are made of; another spelling would make another market. */
    seedName: `${type.toLowerCase()}/${row.symbol}`,
    base: row.base,
    quote: row.quote,
    /** tickSize = 10^-tickDecimals, stepSize = minQty = 10^-stepDecimals. */
    tickDecimals: row.tickDecimals,
    stepDecimals: row.stepDecimals,
    /** Quote amounts are counted in 10^-quoteDecimals; a quote unit is `quoteDivisor` times tick × step. */
    quoteDecimals: row.tickDecimals + row.stepDecimals - dropped,
    quoteDivisor: 10 ** dropped,
    /** The price around which the market moves, in ticks, and the volume of an ordinary day, in lots. */
    baseTicks,
    dailyLots,
    tradesPerDay: Math.round(row.tradesPerSecond * secondsPerDay),
    spreadTicks: row.spreadTicks,
    /**
     * Digits shown after the point of prices, quantities and quote amounts; the first day with trades, in
     * whole days since the Unix epoch.
     */
    ...shape,
  };
}

const usualVolatility = 0.03;

/** Usual daily movement of an asset against the dollar, as a part of its price. */
export function volatilityOf(asset: string): number {
  return dailyVolatility[asset] ?? usualVolatility;
}

const dailyVolatility: Readonly<Record<string, number>> = {
  USDT: 0,
  USDC: 0.0003,
  BTC: 0.022,
  ETH: 0.03,
  BNB: 0.024,
  SOL: 0.036,
  XRP: 0.034,
  DOGE: 0.038,
  ADA: 0.036,
  TRX: 0.018,
  LTC: 0.034,
  LINK: 0.036,
  AVAX: 0.037,
  DOT: 0.036,
  SHIB: 0.036,
  PEPE: 0.04,
  UNI: 0.038,
  ATOM: 0.034,
  ETC: 0.034,
  FIL: 0.036,
  NEAR: 0.04,
  APT: 0.038,
  ARB: 0.04,
};
