// Scenarios of futures strategies: the contracts they are played on, and the steps that only they have.
import type { Account, Position } from "../../domain/account.ts";
import type { LegType } from "../../domain/leg.ts";
import type { Side } from "../../domain/order.ts";
import { MINUTE_MS } from "../../domain/order-counts.ts";
import type { Bracket } from "../../domain/symbol.ts";
import { decimal, formatBriefly, type Price, ZERO } from "../../money/decimal.ts";
import { emptyLedgerAccounts } from "../../money/posting.ts";
import { type Contract, contractOf } from "../futures/contract.ts";
import { entryPriceOf, liquidationPrice } from "../futures/margin.ts";
import { contractRules } from "./contract-rules.ts";
import { signed } from "./event-words.ts";
import type { MarketStub } from "./market-stub.ts";
import {
  inOrder,
  priceAfter,
  quietly,
  type ScenarioSetup,
  timeInForceIn,
  type Workbench,
  wholeNumber,
} from "./workbench.ts";

const SECOND_MS = 1_000;
const MARGIN_ASSET = "USDT";

export const FUTURES: ScenarioSetup = {
  type: "FUTURES",
  rules: [contractRules("BTC"), contractRules("ETH")],
  steps: {
    buy: (bench, words) => place(bench, "BUY", words),
    sell: (bench, words) => place(bench, "SELL", words),
    stop: (bench, words) => placeLeg(bench, "STOP_MARKET", words),
    profit: (bench, words) => placeLeg(bench, "TAKE_PROFIT_MARKET", words),
    leverage: (bench, [symbol = "", leverage = ""]) =>
      bench.carryOut({ type: "ChangeLeverage", symbol, leverage: wholeNumber(leverage) }),
    mark: (bench, [symbol = "", price = ""]) => mark(bench, symbol, decimal(price)),
    trade: (bench, [symbol = "", price = ""]) => {
      bench.market.setLastPrice(symbol, decimal(price));
      return bench.confirm(symbol);
    },
    unmarked: quietly((market, [symbol = ""]) => market.setMarkPrice(symbol, null)),
    funding: (bench, words) => settle(bench, words),
    time: (bench, [time = ""]) => {
      bench.at = timeOfDay(time);
      return "nothing";
    },
    liquidate: (bench, words) =>
      bench.carryOut({ type: "LiquidatePosition", symbol: words[0] ?? "", seen: seenIn(words) }),
    fire: (bench, words) =>
      bench.carryOut({ type: "TriggerLeg", legId: wholeNumber(words[1] ?? ""), seen: seenIn(words) }),
    fill: (bench, words) => {
      const foundAt = words.indexOf("found");
      return bench.carryOut({
        type: "FillRestingOrder",
        orderId: wholeNumber(words[0] ?? ""),
        seen: seenIn(words),
        ...(foundAt === -1 ? {} : { seenAt: timeOfDay(words[foundAt + 1] ?? "") }),
      });
    },
    allow: quietly((market, [symbol = "", count = "", what]) => {
      const limit = wholeNumber(count);
      market.changeRules(symbol, what === "legs" ? { maxNumAlgoOrders: limit } : { maxNumOrders: limit });
    }),
    largest: quietly((market, [symbol = "", maxQuantity = ""]) => {
      const { marketLotSize } = contractIn(market, symbol);
      market.changeRules(symbol, {
        marketLotSize: marketLotSize && { ...marketLotSize, maxQuantity: decimal(maxQuantity) },
      });
    }),
    protect: quietly((market, [symbol = "", share = ""]) => {
      const { contract } = contractIn(market, symbol);
      market.changeRules(symbol, { contract: { ...contract, triggerProtect: decimal(share) } });
    }),
    types: quietly((market, [symbol = "", ...orderTypes]) => market.changeRules(symbol, { orderTypes })),
    notional: quietly((market, [symbol = "", minNotional = ""]) => {
      const { notional } = contractIn(market, symbol);
      market.changeRules(symbol, {
        notional: notional && { ...notional, minNotional: decimal(minNotional) },
      });
    }),
    bracket: quietly((market, [symbol = "", leverage = "", maintenanceRate = "", notionalCap = ""]) => {
      const { contract } = contractIn(market, symbol);
      const only: Bracket = {
        bracket: 1,
        initialLeverage: wholeNumber(leverage),
        notionalFloor: ZERO,
        notionalCap: decimal(notionalCap),
        maintenanceRate: decimal(maintenanceRate),
        cum: ZERO,
      };
      market.changeRules(symbol, { contract: { ...contract, brackets: [only] } });
    }),
  },
  held,
};

function place(bench: Workbench, side: Side, words: readonly string[]): string {
  const [quantity = "", symbol = ""] = words;
  const price = priceAfter("@", words);
  const takeProfitPrice = priceAfter("tp", words);
  const stopLossPrice = priceAfter("sl", words);
  const leverageAt = words.indexOf("leverage");
  return bench.carryOut({
    type: "PlaceOrder",
    symbol,
    side,
    orderType: price === null ? "MARKET" : "LIMIT",
    size: { quantity: decimal(quantity) },
    price,
    stopPrice: null,
    clientOrderId: `step-${bench.at}`,
    timeInForce: timeInForceIn(words),
    entry: {
      reduceOnly: words.includes("reduce"),
      attached:
        takeProfitPrice === null && stopLossPrice === null ? null : { takeProfitPrice, stopLossPrice },
      leverage: leverageAt === -1 ? null : wholeNumber(words[leverageAt + 1] ?? ""),
    },
  });
}

function placeLeg(
  bench: Workbench,
  legType: LegType,
  [side = "", symbol = "", price = "", ...options]: readonly string[],
): string {
  return bench.carryOut({
    type: "PlaceLeg",
    symbol,
    side: side === "buy" ? "BUY" : "SELL",
    legType,
    triggerPrice: decimal(price),
    clientLegId: `step-${bench.at}`,
    workingType: options.includes("contract") ? "CONTRACT_PRICE" : "MARK_PRICE",
    priceProtect: options.includes("protect"),
  });
}

/** The mark price moves, and reaches positions and legs. */
function mark(bench: Workbench, symbol: string, price: Price): string {
  bench.market.setMarkPrice(symbol, price);
  const confirmed = bench.confirm(symbol);
  return inOrder([confirmed, bench.executeHits(bench.index().takeAtMark(symbol, price))]);
}

function settle(bench: Workbench, words: readonly string[]): string {
  const [symbol = "", rate = ""] = words;
  const dueAt = words.indexOf("due");
  const fundingTime = dueAt === -1 ? bench.at : timeOfDay(words[dueAt + 1] ?? "");
  const markPrice = seenIn(words);
  return bench.carryOut({
    type: "SettleFunding",
    settlement: { symbol, fundingTime, rate: decimal(rate), markPrice },
  });
}

function seenIn(words: readonly string[]): Price {
  const seen = priceAfter("@", words);
  if (seen === null) throw new Error(`a price stands after "@": ${words.join(" ")}`);
  return seen;
}

/** Market time of `08:00` or `08:00:05`, Unix ms of the first day. */
function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(":").map(wholeNumber);
  return (hours * 60 + minutes) * MINUTE_MS + seconds * SECOND_MS;
}

/** `free+locked USDT`, and where there are positions what their wallets hold in all and each of them. */
function held({ balances, positions }: Account, market: MarketStub): string {
  const { free, locked, isolated } = balances.get(MARGIN_ASSET) ?? emptyLedgerAccounts();
  return [
    `${formatBriefly(free)}+${formatBriefly(locked)} ${MARGIN_ASSET}`,
    ...(isolated === 0n ? [] : [`isolated ${formatBriefly(isolated)}`]),
    ...[...positions.values()].map((position) => positionInWords(position, market)),
  ].join(", ");
}

function positionInWords(position: Position, market: MarketStub): string {
  const liquidation = liquidationPrice(position, contractIn(market, position.symbol).contract);
  return [
    `${position.symbol} ${signed(position.quantity)} @ ${formatBriefly(entryPriceOf(position))}`,
    `wallet ${formatBriefly(position.isolatedWallet)}`,
    `liq ${liquidation === null ? "none" : formatBriefly(liquidation)}`,
  ].join(" ");
}

function contractIn(market: MarketStub, symbol: string): Contract {
  const contract = contractOf(market, symbol);
  if (contract === null) throw new Error(`a scenario speaks of contracts that there are: ${symbol}`);
  return contract;
}
