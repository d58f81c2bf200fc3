// Names of market streams: which ones may go upstream, and which ones can be conflated. Upstream refuses a
// SUBSCRIBE as a whole for one bad name, so only documented names of listed symbols go there; every other
// name stays silent. Source: reference sockets, sections 1, 4 and 5.
import type { StrategyType } from "../domain/account.ts";

const INTERVAL = "(?:1s|1m|3m|5m|15m|30m|1h|2h|4h|6h|8h|12h|1d|3d|1w|1M)";

/** What comes behind the symbol. */
const CHANNELS: Readonly<Record<StrategyType, RegExp>> = {
  SPOT: new RegExp(
    `^(?:aggTrade|trade|blockTrade|bookTicker|avgPrice|referencePrice|miniTicker|ticker(?:_(?:1h|4h|1d))?|depth(?:5|10|20)?(?:@100ms)?|kline_${INTERVAL}(?:@\\+08:00)?)$`,
  ),
  FUTURES: new RegExp(
    `^(?:aggTrade|trade|bookTicker|markPrice(?:@1s)?|miniTicker|ticker|forceOrder|compositeIndex|depth(?:5|10|20)?(?:@(?:0|100|250|500)ms)?|rpiDepth@500ms|kline_${INTERVAL})$`,
  ),
};
const CONTINUOUS = new RegExp(
  `^([^@_!]+)_(?:perpetual|current_quarter|next_quarter)@continuousKline_${INTERVAL}$`,
  "u",
);
/** Indices of assets are not listed as symbols. */
const ASSET_INDEX = /^[a-z0-9]{2,20}@assetIndex$/;
const OF_ALL: Readonly<Record<StrategyType, RegExp>> = {
  SPOT: /^!(?:miniTicker|ticker|ticker_1h|ticker_4h|ticker_1d)@arr$/,
  FUTURES:
    /^(?:!(?:bookTicker|contractInfo|(?:miniTicker|ticker|forceOrder|assetIndex)@arr|markPrice@arr(?:@1s)?)|tradingSession)$/,
};

/** Whether a name is that of a stream that upstream may have. */
export function isMarketStream(
  type: StrategyType,
  name: string,
  isListed: (symbol: string) => boolean,
): boolean {
  if (OF_ALL[type].test(name)) return true;
  const isOf = (symbol: string) => symbol === symbol.toLowerCase() && isListed(symbol.toUpperCase());
  const pair = type === "FUTURES" ? CONTINUOUS.exec(name)?.[1] : undefined;
  if (pair !== undefined) return isOf(pair);
  if (type === "FUTURES" && ASSET_INDEX.test(name)) return true;
  const at = name.indexOf("@");
  return at > 0 && isOf(name.slice(0, at)) && CHANNELS[type].test(name.slice(at + 1));
}

const CONFLATED =
  /@(?:bookTicker|avgPrice|miniTicker|ticker(?:_\w+)?|depth\d+(?:@\d+ms)?|markPrice(?:@1s)?)$/;
const CONFLATED_OF_ALL = /^!markPrice@arr/;

/**
 * Under what a message may replace an older one that waits for a slow client; null where every message
 * counts. Tickers of all symbols count: a message has only the symbols that changed.
 */
export function conflationKey(name: string, data: unknown): string | null {
  if (name === "!bookTicker") return `${name} ${symbolOf(data)}`;
  return (name.startsWith("!") ? CONFLATED_OF_ALL : CONFLATED).test(name) ? name : null;
}

function symbolOf(data: unknown): string {
  return typeof data === "object" && data !== null && "s" in data ? String(data.s) : "";
}
