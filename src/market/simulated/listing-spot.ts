/** Spot pairs. Prices and volumes are round figures of mid 2026; the rest are the exchange's filters. */

export type SpotRow = {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
  readonly tickDecimals: number;
  readonly maxPrice: string;
  readonly stepDecimals: number;
  readonly maxQuantity: string;
  readonly marketMaxQuantity: string;
  readonly minNotional: string;
  /** PERCENT_PRICE_BY_SIDE, the same for both sides. */
  readonly multiplierUp: string;
  readonly multiplierDown: string;
  readonly price: number;
  readonly spreadTicks: number;
  readonly dailyVolume: number;
  readonly tradesPerSecond: number;
};

type Pair = readonly [base: string, quote: string];
type PriceRule = readonly [tickDecimals: number, maxPrice: string];
type LotRule = readonly [stepDecimals: number, maxQuantity: string, marketMaxQuantity: string];
type Bounds = readonly [minNotional: string, multiplierUp: string, multiplierDown: string];
type Habit = readonly [price: number, spreadTicks: number, dailyVolume: number, tradesPerSecond: number];

const major: Bounds = ["5", "2", "0.5"];
const usual: Bounds = ["5", "5", "0.2"];
const meme: Bounds = ["1", "5", "0.2"];
const stable: Bounds = ["5", "1.2", "0.8"];
const inBitcoin: Bounds = ["0.0001", "5", "0.2"];

const table: readonly (readonly [Pair, PriceRule, LotRule, Bounds, Habit])[] = [
  [["BTC", "USDT"], [2, "1000000"], [5, "9000", "160.64030255"], major, [65_000, 1, 16_000, 9]],
  [["ETH", "USDT"], [2, "1000000"], [4, "9000", "3117.87807364"], major, [1_880, 1, 350_000, 8]],
  [["BNB", "USDT"], [2, "100000"], [3, "900000", "4883.5223682"], usual, [580, 1, 180_000, 6]],
  [["SOL", "USDT"], [2, "10000"], [3, "90000", "64306.31937238"], usual, [78.2, 1, 3_500_000, 6]],
  [["XRP", "USDT"], [4, "10000"], [1, "9222449", "4886361.72803347"], usual, [1.11, 1, 150_000_000, 6]],
  [["DOGE", "USDT"], [5, "1000"], [0, "9000000", "19499637.40167364"], meme, [0.0746, 1, 900_000_000, 5.5]],
  [["ADA", "USDT"], [4, "1000"], [1, "900000", "1922825.07447698"], usual, [0.1647, 1, 120_000_000, 5]],
  [["TRX", "USDT"], [4, "1000"], [1, "9000000", "6926732.66234309"], usual, [0.3272, 1, 200_000_000, 5]],
  [["LTC", "USDT"], [2, "100000"], [3, "90000", "16571.04371129"], usual, [45, 1, 400_000, 5]],
  [["LINK", "USDT"], [3, "10000"], [2, "90000", "79751.87573221"], usual, [8.39, 1, 3_500_000, 5]],
  [["AVAX", "USDT"], [3, "10000"], [2, "90000", "40749.41242677"], usual, [6.7, 1, 3_000_000, 5]],
  [["DOT", "USDT"], [3, "10000"], [2, "90000", "133560.54163179"], usual, [0.86, 1, 12_000_000, 4.8]],
  [["SHIB", "USDT"], [8, "1"], [0, "46116860414", "46116860414"], meme, [0.00000425, 1, 1.2e12, 4.8]],
  [["PEPE", "USDT"], [8, "0.1"], [0, "92233720368", "92233720368"], meme, [0.0000028, 1, 6e12, 5]],
  [["UNI", "USDT"], [3, "10000"], [2, "90000", "58302.4153138"], usual, [3.66, 1, 2_500_000, 4.8]],
  [["ATOM", "USDT"], [3, "10000"], [2, "90000", "84879.08995815"], usual, [1.56, 1, 3_000_000, 4.6]],
  [["ETC", "USDT"], [2, "10000"], [2, "90000", "21033.83912133"], usual, [7.05, 1, 800_000, 4.6]],
  [["FIL", "USDT"], [3, "10000"], [2, "9222449", "158566.70175732"], usual, [0.785, 1, 7_000_000, 4.6]],
  [["NEAR", "USDT"], [3, "1000"], [1, "900000", "206314.98117154"], usual, [2.03, 1, 12_000_000, 4.8]],
  [["APT", "USDT"], [3, "1000"], [2, "92141578", "98509.75037656"], usual, [0.62, 1, 7_000_000, 4.6]],
  [["ARB", "USDT"], [4, "1000"], [1, "92141578", "941413.86778242"], usual, [0.0901, 1, 70_000_000, 4.6]],
  [["USDC", "USDT"], [5, "1000"], [0, "10000000", "42216516.48117154"], stable, [1.0005, 1, 900_000_000, 5]],
  [["ETH", "BTC"], [5, "922327"], [4, "100000", "2255.71583723"], inBitcoin, [0.02897, 1, 20_000, 4.8]],
  [["BNB", "BTC"], [6, "100000"], [3, "100000", "3187.67367782"], inBitcoin, [0.008938, 1, 9_000, 4.4]],
  [["SOL", "BTC"], [7, "1000"], [3, "90000000", "16055.366682"], inBitcoin, [0.0012037, 1, 60_000, 4.4]],
  [
    ["XRP", "BTC"],
    [8, "1000"],
    [1, "90000000", "1615106.22594142"],
    inBitcoin,
    [0.00001708, 1, 4_000_000, 4.4],
  ],
];

export const spotRows: readonly SpotRow[] = table.map(([pair, priceRule, lotRule, bounds, habit]) => ({
  symbol: `${pair[0]}${pair[1]}`,
  base: pair[0],
  quote: pair[1],
  tickDecimals: priceRule[0],
  maxPrice: priceRule[1],
  stepDecimals: lotRule[0],
  maxQuantity: lotRule[1],
  marketMaxQuantity: lotRule[2],
  minNotional: bounds[0],
  multiplierUp: bounds[1],
  multiplierDown: bounds[2],
  price: habit[0],
  spreadTicks: habit[1],
  dailyVolume: habit[2],
  tradesPerSecond: habit[3],
}));
