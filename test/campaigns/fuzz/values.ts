// Values of parameters, as they stand on the wire: sensible ones by name, for every name that any route
// knows, and hostile ones for any name.
import { decimalText } from "../../support/exact.ts";
import type { Draw } from "./draw.ts";
import type { Scenario } from "./scenario.ts";

const MINUTE_MS = 60_000;

type Sensible = (draw: Draw, scenario: Scenario) => string;

const SENSIBLE: Readonly<Record<string, Sensible>> = {
  symbol: (draw, { pairs, allPairs }) => draw.pick(draw.chance(0.9) ? pairs : allPairs).symbol,
  symbols: (draw, { allPairs }) =>
    json(Array.from({ length: 1 + draw.below(3) }, () => draw.pick(allPairs).symbol)),
  side: (draw) => draw.pick(["BUY", "SELL"]),
  type: (draw) =>
    draw.pick([
      "MARKET",
      "LIMIT",
      "STOP_LOSS",
      "STOP_LOSS_LIMIT",
      "LIMIT_MAKER",
      "TAKE_PROFIT",
      "STOP_MARKET",
      "TAKE_PROFIT_MARKET",
      "FULL",
      "MINI",
    ]),
  timeInForce: (draw) => draw.pick(["GTC", "GTC", "IOC", "FOK", "GTX"]),
  quantity: (draw) => draw.pick(["0.001", "0.01", "1", "100", "0.00001"]),
  quoteOrderQty: (draw) => draw.pick(["10", "6.66666666", "25.5"]),
  price: (draw, { pairs }) => decimalText(draw.pick(pairs).bid),
  stopPrice: (draw, { pairs }) => decimalText(draw.pick(pairs).ask),
  newClientOrderId: (draw) => draw.pick(["a", "b-1", "c_2", "x".repeat(36)]),
  newOrderRespType: (draw) => draw.pick(["ACK", "RESULT", "FULL"]),
  orderId: (draw, { orders }) => String(draw.chance(0.8) ? 1 + draw.below(orders.size + 1) : draw.below(999)),
  origClientOrderId: (draw, { orders }) => draw.pick(["none", ...orders.keys()]),
  limit: (draw) => draw.pick(["1", "5", "20", "100", "500", "1000", "1001", "5000"]),
  fromId: (draw) => draw.pick(["0", "1", "2", "10", "1000000"]),
  startTime: (draw) => String(Date.now() - draw.below(draw.chance(0.8) ? 120 : 20_000) * MINUTE_MS),
  endTime: (draw) => String(Date.now() - draw.below(60) * MINUTE_MS),
  interval: (draw) => draw.pick(["1s", "1m", "5m", "1h", "1d", "1w", "1M"]),
  timeZone: (draw) => draw.pick(["0", "8", "-5", "%2B05:45", "-12:00", "14:00"]),
  permissions: (draw) => draw.pick(["SPOT", json(["SPOT", "MARGIN"]), "MARGIN"]),
  showPermissionSets: (draw) => draw.pick(["true", "false"]),
  symbolStatus: (draw) => draw.pick(["TRADING", "HALT", "BREAK"]),
  omitZeroBalances: (draw) => draw.pick(["true", "false"]),
  reduceOnly: (draw) => draw.pick(["true", "false", "TRUE"]),
  closePosition: (draw) => draw.pick(["true", "true", "false"]),
  positionSide: (draw) => draw.pick(["BOTH", "BOTH", "LONG", "SHORT"]),
  triggerPrice: (draw, { pairs }) => decimalText(draw.pick(pairs).ask),
  takeProfitPrice: (draw, { pairs }) => decimalText(draw.pick(pairs).ask),
  stopLossPrice: (draw, { pairs }) => decimalText(draw.pick(pairs).bid),
  leverage: (draw) => draw.pick(["1", "2", "5", "20", "50", "125", "500", "0"]),
  marginType: (draw) => draw.pick(["ISOLATED", "ISOLATED", "CROSSED"]),
  dualSidePosition: (draw) => draw.pick(["true", "false"]),
  multiAssetsMargin: (draw) => draw.pick(["true", "false"]),
  algoId: (draw, { orders }) => String(1 + draw.below(orders.size + 4)),
  clientAlgoId: (draw, { legs }) => draw.pick(["none", ...legs.keys()]),
  algoType: (draw) => draw.pick(["CONDITIONAL", "CONDITIONAL", "VP"]),
  workingType: (draw) => draw.pick(["MARK_PRICE", "CONTRACT_PRICE"]),
  priceMatch: (draw) => draw.pick(["NONE", "QUEUE"]),
  incomeType: (draw) => draw.pick(["TRANSFER", "REALIZED_PNL", "COMMISSION", "FUNDING_FEE", "WELCOME_BONUS"]),
  page: (draw) => draw.pick(["1", "2", "1000"]),
  pair: (draw, { pairs }) => draw.pick(pairs).symbol,
  contractType: (draw) => draw.pick(["PERPETUAL", "PERPETUAL", "CURRENT_QUARTER"]),
  recvWindow: (draw) => draw.pick(["5000", "10000", "30000", "5000.5"]),
};

/** Every name that a sensible value is known for. */
export const NAMES: readonly string[] = Object.keys(SENSIBLE);

/** A value that the parameter of this name may well have. */
export function sensibleValue(name: string, draw: Draw, scenario: Scenario): string {
  const value = SENSIBLE[name];
  if (value === undefined) throw new Error(`there is a sensible value for ${name}`);
  return value(draw, scenario);
}

const HOSTILE_VALUES: readonly string[] = [
  // Nothing, or nearly.
  ..."| |+|%20|%09|%0A|%0D%0A|%00|0|-0|00|-|.|%EF%BB%BF".split("|").map((text) => text.replace(" ", "%20")),
  // Numbers that are none, or more than one bargains for.
  ..."-1|1e3|1E-8|NaN|Infinity|-Infinity|0x10|1_000|1,5|1.|.5|+1|%2B1|1.0.0|0.000000001|0.00000000|1.00000000000000000000".split(
    "|",
  ),
  "9".repeat(15),
  "9".repeat(16),
  "9".repeat(20),
  "9".repeat(21),
  `0.${"9".repeat(20)}`,
  `1${"0".repeat(400)}`,
  "9007199254740993",
  "18446744073709551616",
  // Other scripts, and encodings that are broken or longer than need be.
  ..."%D9%A1%D9%A2|%C3%BC|%F0%9F%92%A9|%EF%BC%91|%E2%80%AE|%C0%AF|%C1%81|%ED%A0%80|%F8%88%80%80%80|%FF|%|%2|%zz|%u0041|%2500|%25".split(
    "|",
  ),
  // Words of programs.
  ..."null|undefined|true|false|[]|{}|[object%20Object]|__proto__|constructor|toString|hasOwnProperty|prototype".split(
    "|",
  ),
  json({ symbol: "BTCUSDT" }),
  json(["BTCUSDT"]),
  json(["BTCUSDT", "BTCUSDT"]),
  json(["BTCUSDT", 1]),
  json([["BTCUSDT"]]),
  json(Array.from({ length: 200 }, (_, index) => `A${index}USDT`)),
  "%5B%22BTCUSDT%22",
  encodeURIComponent("' OR '1'='1"),
  encodeURIComponent("'; DROP TABLE orders; --"),
  encodeURIComponent("<script>alert(1)</script>"),
  encodeURIComponent("../../etc/passwd"),
  "$(id)",
  // Nearly right.
  ..."btcusdt|BTCUSDT%20|%20BTCUSDT|BTCUSDT%00|BTC-USDT|BTC%2FUSDT|%42TCUSDT|buy|market|gtc|GTC%00".split(
    "|",
  ),
  // As long as may be, longer, and much longer.
  "x".repeat(36),
  "x".repeat(37),
  "%41".repeat(36),
  "x".repeat(4_000),
];

const HOSTILE_NAMES: readonly string[] = [
  ..."__proto__|constructor|toString|hasOwnProperty|a[b]|a[]|symbol[]|symbol[0]|%00|%20symbol|symbol%20|SYMBOL|%73ymbol|%zz|x-y|signature%20".split(
    "|",
  ),
  "",
  "x".repeat(300),
];

/** A value that nobody honest sends, whatever the name. */
export function hostileValue(draw: Draw): string {
  return draw.pick(HOSTILE_VALUES);
}

/** A name that nobody honest sends. */
export function hostileName(draw: Draw): string {
  return draw.pick(HOSTILE_NAMES);
}

function json(value: unknown): string {
  return encodeURIComponent(JSON.stringify(value));
}
