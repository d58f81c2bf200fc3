// Perpetual contracts for tests, with the filters that the exchange publishes for its first one and the
// brackets that the worked examples are computed with. Source: reference exchange, sections 10.1 and 15.
import { FUTURES_ORDER_TYPES } from "../../domain/order.ts";
import type { Bracket, SymbolRules } from "../../domain/symbol.ts";
import { decimal, ZERO } from "../../money/decimal.ts";
import type { Contract } from "../futures/contract.ts";
import { unfilteredRules } from "./market-stub.ts";

// biome-ignore format: a table is read by its columns.
export const EXAMPLE_BRACKETS: readonly Bracket[] = ([
  [125, "0",          "50000",      "0.004",  "0"],
  [100, "50000",      "600000",     "0.005",  "50"],
  [75,  "600000",     "3000000",    "0.0065", "950"],
  [50,  "3000000",    "12000000",   "0.01",   "11450"],
  [25,  "12000000",   "70000000",   "0.02",   "131450"],
  [20,  "70000000",   "100000000",  "0.025",  "481450"],
  [10,  "100000000",  "230000000",  "0.05",   "2981450"],
  [5,   "230000000",  "480000000",  "0.1",    "14481450"],
  [4,   "480000000",  "600000000",  "0.125",  "26481450"],
  [3,   "600000000",  "800000000",  "0.15",   "41481450"],
  [2,   "800000000",  "1200000000", "0.25",   "121481450"],
  [1,   "1200000000", "1800000000", "0.5",    "421481450"],
] as const).map(([initialLeverage, notionalFloor, notionalCap, maintenanceRate, cum], index) => ({
  bracket: index + 1,
  initialLeverage,
  notionalFloor: decimal(notionalFloor),
  notionalCap: decimal(notionalCap),
  maintenanceRate: decimal(maintenanceRate),
  cum: decimal(cum),
}));

/** Rules of a contract against USDT with every filter switched on; `changed` overrides. */
export function contractRules(baseAsset: string, changed: Partial<SymbolRules> = {}): Contract {
  return {
    ...unfilteredRules(`${baseAsset}USDT`),
    orderTypes: FUTURES_ORDER_TYPES,
    isSpotTradingAllowed: false,
    priceFilter: { minPrice: decimal("0.1"), maxPrice: decimal("1000000"), tickSize: decimal("0.1") },
    lotSize: { minQuantity: decimal("0.001"), maxQuantity: decimal("1000"), stepSize: decimal("0.001") },
    marketLotSize: { minQuantity: decimal("0.001"), maxQuantity: decimal("120"), stepSize: decimal("0.001") },
    notional: {
      minNotional: decimal("50"),
      maxNotional: ZERO,
      appliesMinToMarket: true,
      appliesMaxToMarket: false,
      reference: "MARK",
    },
    percentPrice: {
      buy: { up: decimal("1.05"), down: ZERO },
      sell: { up: ZERO, down: decimal("0.95") },
      reference: "MARK",
    },
    maxNumOrders: 200,
    maxNumAlgoOrders: 10,
    ...changed,
    contract: changed.contract ?? {
      marginAsset: "USDT",
      pricePrecision: 2,
      quantityPrecision: 3,
      liquidationFee: decimal("0.0125"),
      marketTakeBound: decimal("0.05"),
      brackets: EXAMPLE_BRACKETS,
    },
  };
}
