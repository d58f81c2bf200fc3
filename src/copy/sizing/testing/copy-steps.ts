// The steps of the tables in `scenarios/copy/`, and their outcomes in a trader's words.
import { type CopySettings, type Skip, skipOf } from "../../../domain/copying.ts";
import type { ClientOrderType, Side } from "../../../domain/order.ts";
import type { LotSize, NotionalFilter, SymbolRules } from "../../../domain/symbol.ts";
import { priceAfter, wholeNumber } from "../../../engine/testing/workbench.ts";
import {
  type Amount,
  costUp,
  decimal,
  formatBriefly,
  type Price,
  type Quantity,
  ZERO,
} from "../../../money/decimal.ts";
import type { Sized } from "../scale-order.ts";
import type { CopyBench } from "./copy-bench.ts";

type Step = (bench: CopyBench, words: readonly string[]) => string | undefined;
/** The owner of a holding. */
type Who = "strategy" | "copy";

/** The leverage of futures orders that say nothing else. */
const LEVERAGE_DEFAULT = 10;
const NOTHING = "nothing";

/** Executes one step; returns its outcome and what the copy has then. */
export function take(bench: CopyBench, step: string): { readonly outcome: string; readonly held: string } {
  const [verb = "", ...words] = step.split(/[\s,]+/);
  const carryOut = STEPS[verb];
  if (carryOut === undefined) throw new Error(`there is no step ${JSON.stringify(verb)}`);
  const outcome = carryOut(bench, words) ?? NOTHING;
  return { outcome, held: heldBy(bench) };
}

const STEPS: Readonly<Record<string, Step>> = {
  strategy: (bench, words) => fund(bench, "strategy", words),
  copier: (bench, words) => fund(bench, "copy", words),
  outside: (bench, [amount = ""]) => {
    bench.usedOutside = decimal(amount);
    return undefined;
  },
  share: (bench, [share = ""]) => set(bench, { share: decimal(share) }),
  most: (bench, [amount = ""]) =>
    set(bench, { maxPerOrder: amount === "none" ? null : decimal<Amount>(amount) }),
  budget: (bench, [amount = ""]) => set(bench, { budget: decimal(amount) }),
  size: (bench, [by, figure = ""]) =>
    set(bench, {
      size:
        by === "ratio"
          ? { by: "FIXED_RATIO", ratio: decimal(figure) }
          : { by: "FIXED_AMOUNT", amount: decimal(figure) },
    }),
  "leverage-max": (bench, [leverage = ""]) => set(bench, { leverageMax: wholeNumber(leverage) }),
  "position-max": (bench, [multiple = ""]) => set(bench, { positionMax: decimal(multiple) }),
  "exposure-max": (bench, [multiple = ""]) => set(bench, { exposureMax: decimal(multiple) }),
  symbols: (bench, symbols) => set(bench, { symbols }),
  slippage: (bench, [major = "", other = ""]) =>
    set(bench, { slippageMax: { major: decimal(major), other: decimal(other) } }),
  paper: (bench, [symbol = "", price = ""]) => {
    bench.paper.set(symbol, decimal(price));
    return undefined;
  },
  pause: (bench) => {
    bench.opensNot = skipOf("PAUSED");
    return undefined;
  },
  resume: (bench) => {
    bench.opensNot = null;
    return undefined;
  },
  price: (bench, [symbol = "", price = ""]) => {
    bench.prices.set(symbol, decimal(price));
    return undefined;
  },
  lot: (bench, [symbol = "", ...sizes]) => change(bench, symbol, { lotSize: lotOf(sizes) }),
  "market-lot": (bench, [symbol = "", ...sizes]) => change(bench, symbol, { marketLotSize: lotOf(sizes) }),
  tick: (bench, [symbol = "", minPrice = "", maxPrice = "", tickSize = ""]) =>
    change(bench, symbol, {
      priceFilter: { minPrice: decimal(minPrice), maxPrice: decimal(maxPrice), tickSize: decimal(tickSize) },
    }),
  notional: (bench, [symbol = "", minNotional = "", maxNotional = "", ...scope]) =>
    change(bench, symbol, { notional: notionalOf(minNotional, maxNotional, scope) }),
  position: (bench, [symbol = "", most = ""]) => change(bench, symbol, { maxPosition: decimal(most) }),
  allow: (bench, [symbol = "", count = "", what]) =>
    change(bench, symbol, {
      [what === "stops" ? "maxNumAlgoOrders" : "maxNumOrders"]: wholeNumber(count),
    }),
  quote: (bench, [symbol = "", quoteAsset = ""]) => change(bench, symbol, { quoteAsset }),
  halt: (bench, [symbol = ""]) => change(bench, symbol, { status: "HALT" }),
  unlist: (bench, [symbol = ""]) => {
    bench.rules.delete(symbol);
    return undefined;
  },
  buy: (bench, words) => place(bench, "BUY", words),
  sell: (bench, words) => place(bench, "SELL", words),
  fill: (bench, [orderId = ""]) => {
    const id = wholeNumber(orderId);
    const placement = bench.resting.get(id)?.placement;
    if (placement === undefined) throw new Error(`no order ${orderId} rests`);
    bench.fill(id, placement.price > 0n ? placement.price : placement.stopPrice);
    return undefined;
  },
  "fill-copy": (bench, [orderId = ""]) => {
    bench.fillCopy(wholeNumber(orderId));
    return undefined;
  },
  cancel: (bench, [orderId = ""]) => {
    bench.cancel(wholeNumber(orderId));
    return undefined;
  },
};

/**
 * `1000 USDT, 0.5 BTC`; of a contract `-0.5 BTCUSDT` is a short. What is held was had at the price that is
 * set, at a leverage of 1.
 */
function fund(bench: CopyBench, who: Who, [wallet = "", , ...held]: readonly string[]): undefined {
  const trader = bench[who];
  trader.wallet = decimal(wallet);
  trader.holdings.clear();
  for (let at = 0; at < held.length; at += 2) {
    const name = held[at + 1] ?? "";
    const symbol = name.endsWith("USDT") ? name : `${name}USDT`;
    const quantity = decimal<Quantity>((held[at] ?? "").replace("+", ""));
    const size = (quantity < 0n ? -quantity : quantity) as Quantity;
    trader.holdings.set(symbol, { quantity, cost: costUp(bench.prices.get(symbol) ?? ZERO, size) });
  }
  return undefined;
}

function set(bench: CopyBench, changed: Partial<CopySettings>): undefined {
  bench.settings = { ...bench.settings, ...changed };
  return undefined;
}

function change(bench: CopyBench, symbol: string, changed: Partial<SymbolRules>): undefined {
  bench.changeRules(symbol, changed);
  return undefined;
}

function lotOf([minQuantity = "", maxQuantity = "", stepSize = ""]: readonly string[]): LotSize {
  return {
    minQuantity: decimal(minQuantity),
    maxQuantity: decimal(maxQuantity),
    stepSize: decimal(stepSize),
  };
}

function notionalOf(minNotional: string, maxNotional: string, scope: readonly string[]): NotionalFilter {
  return {
    minNotional: decimal(minNotional),
    maxNotional: decimal(maxNotional),
    appliesMinToMarket: !scope.includes("limit"),
    appliesMaxToMarket: !scope.includes("limit"),
    reference: "AVERAGE",
  };
}

function place(bench: CopyBench, side: Side, words: readonly string[]): string {
  const [quantity = "", symbol = ""] = words;
  const price = priceAfter("@", words);
  const stopPrice = priceAfter("stop", words);
  const leverageAt = words.indexOf("leverage");
  const chosen = leverageAt < 0 ? LEVERAGE_DEFAULT : wholeNumber(words[leverageAt + 1] ?? "");
  const scaled = bench.place({
    symbol,
    side,
    orderType: orderTypeOf(price, stopPrice),
    quantity: decimal(quantity),
    price: price ?? ZERO,
    stopPrice: stopPrice ?? ZERO,
    reduceOnly: words.includes("reduce"),
    leverage: bench.type === "SPOT" ? null : chosen,
  });
  return scaled.kind === "SIZED" ? sentInWords(scaled) : skipInWords(scaled.skip);
}

function orderTypeOf(price: Price | null, stopPrice: Price | null): ClientOrderType {
  if (stopPrice !== null) return price === null ? "STOP_LOSS" : "STOP_LOSS_LIMIT";
  return price === null ? "MARKET" : "LIMIT";
}

/** The sent size, and the size before it was cut and snapped. */
function sentInWords(sized: Sized): string {
  return [
    `sends ${formatBriefly(sized.quantity)} of ${formatBriefly(sized.scaledQuantity)}`,
    ...(sized.price > 0n ? [`@ ${formatBriefly(sized.price)}`] : []),
    ...(sized.stopPrice > 0n ? [`stop ${formatBriefly(sized.stopPrice)}`] : []),
    ...(sized.reduceOnly ? ["reduce"] : []),
    ...(sized.leftOut === null ? [] : [`without ${skipInWords(sized.leftOut)}`]),
  ].join(" ");
}

const UNITS = { BASE: " base", QUOTE: " USDT" } as const;

function skipInWords({ reason, filter, wanted, had, unit }: Skip): string {
  const name = filter === null ? reason : `${reason} ${filter}`;
  if (wanted === null || had === null) return name;
  const suffix = unit === null ? "" : UNITS[unit];
  return `${name}: wants ${formatBriefly(wanted)} has ${formatBriefly(had)}${suffix}`;
}

/** `400 of 500 USDT, 0.001 BTC`: available, wallet, and what the copy holds by its own orders. */
function heldBy({ copy, available, type }: CopyBench): string {
  const held = [...copy.holdings].map(([symbol, { quantity }]) =>
    type === "SPOT"
      ? `${formatBriefly(quantity)} ${symbol.replace(/USDT$/, "")}`
      : `${quantity > 0n ? "+" : ""}${formatBriefly(quantity)} ${symbol}`,
  );
  return [`${formatBriefly(available)} of ${formatBriefly(copy.wallet)} USDT`, ...held].join(", ");
}
