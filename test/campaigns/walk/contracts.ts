// The perpetual contracts of the walk: one with true-to-life rules and brackets, one whose brackets are so
// small that every position crosses some, one with coarse lots that takes only small orders at the market's
// price, and one with a leverage at which the fee of an opening is a good part of its margin.
import type { Bracket, ContractTerms } from "../../../src/domain/symbol.ts";
import { contractRules } from "../../../src/engine/testing/contract-rules.ts";
import { following, type Tier } from "../../../src/market/brackets/table.ts";
import { type Amount, decimal, type Rate } from "../../../src/money/decimal.ts";
import type { Listing } from "./random/market.ts";

const SMALL_TIERS = [
  tier(75, "0.0065", "500"),
  tier(50, "0.01", "1500"),
  tier(25, "0.02", "4000"),
  tier(10, "0.05", "10000"),
  tier(5, "0.1", "20000"),
  tier(2, "0.25", "40000"),
  tier(1, "0.5", "80000"),
];
const COARSE_TIERS = [
  tier(50, "0.01", "5000"),
  tier(20, "0.025", "25000"),
  tier(8, "0.06", "80000"),
  tier(1, "0.5", "200000"),
];
const EXTREME_TIERS = [
  tier(500, "0.001", "2000"),
  tier(200, "0.0025", "20000"),
  tier(100, "0.005", "60000"),
  tier(20, "0.025", "200000"),
];

const BTC = contractRules("BTC", { maxNumOrders: 3, maxNumAlgoOrders: 1 });
const ETH = contractRules("ETH", { maxNumOrders: 5 });
const DOGE = contractRules("DOGE");
const XRP = contractRules("XRP");

export const CONTRACTS: readonly Listing[] = [
  { rules: BTC, startsAt: decimal("60000") },
  {
    rules: {
      ...ETH,
      priceFilter: { minPrice: decimal("1"), maxPrice: decimal("100000"), tickSize: decimal("0.01") },
      notional: ETH.notional && { ...ETH.notional, minNotional: decimal("20") },
      contract: { ...ETH.contract, brackets: bracketsOf(SMALL_TIERS) },
    },
    startsAt: decimal("3000"),
  },
  {
    rules: {
      ...DOGE,
      priceFilter: { minPrice: decimal("0.00001"), maxPrice: decimal("30"), tickSize: decimal("0.00001") },
      lotSize: { minQuantity: decimal("1"), maxQuantity: decimal("1000000"), stepSize: decimal("1") },
      marketLotSize: { minQuantity: decimal("1"), maxQuantity: decimal("4000"), stepSize: decimal("1") },
      notional: DOGE.notional && { ...DOGE.notional, minNotional: decimal("5") },
      contract: {
        ...DOGE.contract,
        pricePrecision: 5,
        quantityPrecision: 0,
        marketTakeBound: decimal("0.0005"),
        brackets: bracketsOf(COARSE_TIERS),
      },
    },
    startsAt: decimal("0.15"),
  },
  {
    rules: {
      ...XRP,
      priceFilter: { minPrice: decimal("0.0001"), maxPrice: decimal("1000"), tickSize: decimal("0.0001") },
      lotSize: { minQuantity: decimal("0.1"), maxQuantity: decimal("1000000"), stepSize: decimal("0.1") },
      marketLotSize: {
        minQuantity: decimal("0.1"),
        maxQuantity: decimal("200000"),
        stepSize: decimal("0.1"),
      },
      notional: XRP.notional && { ...XRP.notional, minNotional: decimal("5") },
      percentPrice: null,
      contract: {
        ...XRP.contract,
        pricePrecision: 4,
        quantityPrecision: 1,
        brackets: bracketsOf(EXTREME_TIERS),
      },
    },
    startsAt: decimal("2"),
  },
];

/** The terms without their most generous bracket. */
export function stricter(terms: ContractTerms): ContractTerms {
  return { ...terms, brackets: bracketsOf(terms.brackets.slice(1)) };
}

function tier(initialLeverage: number, maintenanceRate: string, notionalCap: string): Tier {
  return {
    initialLeverage,
    maintenanceRate: decimal<Rate>(maintenanceRate),
    notionalCap: decimal<Amount>(notionalCap),
  };
}

function bracketsOf(tiers: readonly Tier[]): readonly Bracket[] {
  const brackets: Bracket[] = [];
  for (const each of tiers) brackets.push(following(brackets.at(-1) ?? null, each));
  return brackets;
}
