/**
 * USDT perpetuals. Prices and volumes are round figures of mid 2026; the rest are the exchange's filters and
 * bounds of funding. Two settle more often than on the exchange, so that all of its schedules occur: every
 * eight, four and one hours.
 */

/** Hours between settlements. */
export type FundingHours = 8 | 4 | 1;

export type PerpetualRow = {
  readonly symbol: string;
  readonly base: string;
  readonly quote: "USDT";
  /** Unix ms. */
  readonly onboardAt: number;
  /** `pricePrecision`, which may be finer than the tick. */
  readonly priceDigits: number;
  readonly tickDecimals: number;
  readonly minPrice: string;
  readonly maxPrice: string;
  readonly stepDecimals: number;
  readonly maxQuantity: string;
  readonly marketMaxQuantity: string;
  readonly minNotional: string;
  readonly liquidationFee: string;
  /**
   * How far a price may lie from the mark: `triggerProtect`, `marketTakeBound` and PERCENT_PRICE agree on it.
   */
  readonly bound: "0.05" | "0.10" | "0.15";
  readonly underlyingSubType: string;
  readonly fundingHours: FundingHours;
  /** The highest rate of one settlement; the lowest is its negative. */
  readonly fundingCap: string;
  /** Unix ms; null where the exchange's usual terms hold. */
  readonly fundingAdjustedAt: number | null;
  readonly price: number;
  readonly spreadTicks: number;
  readonly dailyVolume: number;
  readonly tradesPerSecond: number;
};

type Contract = readonly [base: string, onboardAt: number, underlyingSubType: string];
type PriceRule = readonly [priceDigits: number, tickDecimals: number, minPrice: string, maxPrice: string];
type LotRule = readonly [stepDecimals: number, maxQuantity: string, marketMaxQuantity: string];
type Risk = readonly [minNotional: string, liquidationFee: string, bound: PerpetualRow["bound"]];
type FundingRule = readonly [hours: FundingHours, cap: string, adjustedAt: number | null];
type Habit = readonly [price: number, spreadTicks: number, dailyVolume: number, tradesPerSecond: number];

const large: Risk = ["20", "0.012500", "0.05"];
const usual: Risk = ["5", "0.012500", "0.05"];
const volatile: Risk = ["5", "0.015000", "0.10"];
const lowCap: FundingRule = [8, "0.00300", null];
const usualCap: FundingRule = [8, "0.00375", null];
const highCap: FundingRule = [8, "0.004875", null];

// biome-ignore format: two lines a contract read better than a line a group of figures.
const table: readonly (readonly [Contract, PriceRule, LotRule, Risk, FundingRule, Habit])[] = [
  [["BTC", 1567965300000, "PoW"], [2, 1, "556.80", "4529764"], [3, "1000", "120"],
    ["50", "0.012500", "0.05"], lowCap, [65_000, 1, 170_000, 9]],
  [["ETH", 1574840700000, "Layer-1"], [2, 2, "39.86", "306177"], [3, "10000", "2000"],
    large, lowCap, [1_880, 1, 4_000_000, 9]],
  [["BNB", 1581321600000, "Layer-1"], [3, 2, "6.600", "100000"], [2, "100000", "2000"],
    usual, usualCap, [580, 1, 700_000, 6]],
  [["SOL", 1600066800000, "Layer-1"], [4, 2, "0.4200", "6857"], [2, "1000000", "80000"],
    ["5", "0.015000", "0.05"], usualCap, [78.2, 1, 25_000_000, 7]],
  [["XRP", 1578298800000, "Payment"], [4, 4, "0.0143", "100000"], [1, "10000000", "2000000"],
    usual, usualCap, [1.11, 1, 900_000_000, 7]],
  [["DOGE", 1594371600000, "Meme"], [6, 5, "0.002440", "30"], [0, "300000000", "30000000"],
    volatile, highCap, [0.0746, 1, 6_000_000_000, 6]],
  [["ADA", 1580457600000, "Layer-1"], [5, 4, "0.00010", "20000"], [0, "30000000", "3000000"],
    usual, usualCap, [0.1647, 1, 900_000_000, 5]],
  [["TRX", 1579075500000, "Layer-1"], [5, 5, "0.00132", "20000"], [0, "20000000", "5000000"],
    usual, highCap, [0.3272, 1, 300_000_000, 5]],
  [["LTC", 1578557100000, "Payment"], [2, 2, "0.01", "100000"], [3, "20000", "5000"],
    large, usualCap, [45, 1, 3_000_000, 5]],
  [["LINK", 1579248000000, "Infrastructure"], [3, 3, "0.001", "100000"], [2, "200000", "50000"],
    ["20", "0.012500", "0.10"], usualCap, [8.39, 1, 25_000_000, 5]],
  [["AVAX", 1600844400000, "Layer-1"], [4, 3, "0.0010", "2403"], [0, "500000", "50000"],
    volatile, usualCap, [6.7, 1, 20_000_000, 5]],
  [["UNI", 1600412400000, "DeFi"], [4, 3, "0.0010", "2684"], [0, "10000000", "100000"],
    volatile, [8, "0.00450", null], [3.66, 1, 20_000_000, 5]],
  [["NEAR", 1602748800000, "Layer-1"], [4, 3, "0.0480", "1000"], [0, "10000000", "400000"],
    volatile, [4, "0.02000000", 1760927510785], [2.03, 1, 80_000_000, 5]],
  [["ARB", 1679554800000, "Layer-2"], [6, 5, "0.000010", "2000"], [1, "60000000", "6000000"],
    ["5", "0.015000", "0.15"], [1, "0.02000000", 1760928049894], [0.0901, 1, 500_000_000, 5]],
];

export const perpetualRows: readonly PerpetualRow[] = table.map(
  ([contract, price, lot, risk, funding, habit]) => ({
    symbol: `${contract[0]}USDT`,
    base: contract[0],
    quote: "USDT",
    onboardAt: contract[1],
    underlyingSubType: contract[2],
    priceDigits: price[0],
    tickDecimals: price[1],
    minPrice: price[2],
    maxPrice: price[3],
    stepDecimals: lot[0],
    maxQuantity: lot[1],
    marketMaxQuantity: lot[2],
    minNotional: risk[0],
    liquidationFee: risk[1],
    bound: risk[2],
    fundingHours: funding[0],
    fundingCap: funding[1],
    fundingAdjustedAt: funding[2],
    price: habit[0],
    spreadTicks: habit[1],
    dailyVolume: habit[2],
    tradesPerSecond: habit[3],
  }),
);
