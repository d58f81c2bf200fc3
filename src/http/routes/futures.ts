// The signed routes of futures strategies: those of the specification, and others that stock clients use. The
// older versions of a path are aliases, answered with the same body.
// Source: specification 4.2; reference exchange, sections 11 to 13.
import type { Parameters } from "../parameters.ts";
import {
  mandatory,
  optional,
  SYMBOL,
  SYMBOL_OF_ROWS,
  SYMBOL_OF_ROWS_OR_ALL,
  SYMBOL_OR_ALL,
} from "../parse/descriptions.ts";
import { optionalText, text } from "../parse/fields.ts";
import {
  FUTURES_ORDER_LIST_PARAMETERS,
  FUTURES_TRADE_LIST_PARAMETERS,
  INCOME_PARAMETERS,
  LEG_LIST_PARAMETERS,
  parseAllFuturesOrders,
  parseAllLegs,
  parseIncomes,
  parseUserTrades,
} from "../parse/futures-history.ts";
import { FUTURES_ORDER_PARAMETERS, parsePlaceFuturesOrder } from "../parse/place-futures-order.ts";
import { LEG_PARAMETERS, parsePlaceLeg } from "../parse/place-leg.ts";
import {
  presentBrackets,
  presentCommission,
  presentLeverage,
  presentSymbolConfig,
} from "../present/contracts.ts";
import { presentAccount, presentBalances, presentConfig, presentIncome } from "../present/futures-account.ts";
import {
  presentAllCanceled,
  presentCanceledLeg,
  presentLeg,
  presentOrder,
  presentTrade,
} from "../present/futures-orders.ts";
import { presentRisk } from "../present/futures-positions.ts";
import { fixed, type Route, signedRoute } from "../route.ts";
import {
  account,
  commissionRate,
  contractsOf,
  income,
  positionRisk,
  storedAccount,
  symbolConfig,
} from "./futures-account.ts";
import {
  allLegs,
  cancelLeg,
  OPEN_LEGS_PARAMETERS,
  openLegs,
  parseOpenLegs,
  parseSoughtLeg,
  placeLeg,
  queryLeg,
  SOUGHT_LEG_PARAMETERS,
} from "./futures-legs.ts";
import {
  allOrders,
  cancelOpenLegs,
  cancelOpenOrders,
  cancelOrder,
  openOrders,
  placeOrder,
  queryOpenOrder,
  queryOrder,
  userTrades,
} from "./futures-orders.ts";
import {
  changeAssetsMode,
  changeLeverage,
  changePositionMode,
  confirmMarginType,
  parseFlag,
  parseLeverage,
  parseMarginType,
} from "./futures-settings.ts";
import {
  closeStrategy,
  parseSoughtOrder,
  replayable,
  SOUGHT_ORDER_PARAMETERS,
  type SoughtOrderName,
} from "./strategy.ts";

const futures = { strategyType: "FUTURES", placesOrder: false, writes: false } as const;
const read = { ...futures, method: "GET" } as const;
const write = { ...futures, method: "POST", weight: fixed(1), writes: true } as const;
const cancel = { ...write, method: "DELETE" } as const;

/** A list for all symbols costs much more than for one. */
const byBreadth = (parameters: Parameters<"symbol">): number =>
  optionalText(parameters, "symbol") === null ? 40 : 1;

const symbolOf = (parameters: Parameters<"symbol">) => text(parameters, "symbol");
const optionalSymbol = (parameters: Parameters<"symbol">) => optionalText(parameters, "symbol");
const soughtOrder = (parameters: Parameters<SoughtOrderName>) => parseSoughtOrder(parameters, "FUTURES");

const POSITION_SYMBOL = optional(
  "text",
  "A listed symbol, or one with a position. One without a position has a row of zeros, with its leverage.",
  { default: "all open positions" },
);

export const FUTURES_ROUTES: readonly Route[] = [
  signedRoute({
    ...read,
    paths: ["/fapi/v3/account", "/fapi/v2/account"],
    summary: "Balances, margins and open positions",
    parameters: {},
    weight: fixed(5),
    answer: account,
    present: ({ account, standings }) => presentAccount(account, standings),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v3/balance", "/fapi/v2/balance"],
    summary: "Balances, as a list",
    parameters: {},
    weight: fixed(5),
    answer: storedAccount,
    present: presentBalances,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v3/positionRisk", "/fapi/v2/positionRisk"],
    summary: "Open positions with their risk",
    parameters: { symbol: POSITION_SYMBOL },
    weight: fixed(5),
    parse: optionalSymbol,
    answer: positionRisk,
    present: (standings) => standings.map(presentRisk),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/accountConfig"],
    summary: "The settings of the account",
    parameters: {},
    weight: fixed(5),
    answer: storedAccount,
    present(account) {
      const { feeBurn, ...config } = presentConfig(account);
      return config;
    },
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/symbolConfig"],
    summary: "Leverage by contract",
    parameters: { symbol: SYMBOL_OR_ALL },
    weight: fixed(5),
    parse: optionalSymbol,
    answer: symbolConfig,
    present: (contracts) => contracts.map(presentSymbolConfig),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/leverageBracket"],
    summary: "Risk brackets",
    parameters: { symbol: SYMBOL_OR_ALL },
    weight: fixed(1),
    parse: optionalSymbol,
    answer: contractsOf,
    present: (contracts) => contracts.map(({ symbol, terms }) => presentBrackets(symbol, terms)),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/commissionRate"],
    summary: "The fees of a contract",
    parameters: { symbol: SYMBOL },
    weight: fixed(20),
    parse: symbolOf,
    answer: commissionRate,
    present: ({ symbol, profile }) => presentCommission(symbol, profile),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/income"],
    summary: "Every change of the wallet, oldest first",
    parameters: INCOME_PARAMETERS,
    weight: fixed(30),
    parse: parseIncomes,
    answer: income,
    present: (incomes) => incomes.map(presentIncome),
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/leverage"],
    summary: "Set the leverage of a contract",
    parameters: {
      symbol: SYMBOL,
      leverage: mandatory(
        "count",
        "Above the highest leverage of the contract it counts as that one, and the answer says so.",
        { min: 1, example: "10" },
      ),
    },
    parse: parseLeverage,
    answer: changeLeverage,
    present: ({ symbol, leverage, terms }) => presentLeverage(symbol, leverage, terms),
  }),
  signedRoute({
    ...write,
    paths: ["/fapi/v1/marginType"],
    summary: "Confirm that margin is isolated",
    parameters: {
      symbol: SYMBOL,
      marginType: mandatory("text", "`CROSSED` is refused with -2010.", {
        values: ["ISOLATED"],
        example: "ISOLATED",
      }),
    },
    parse: parseMarginType,
    answer: confirmMarginType,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/positionSide/dual"],
    summary: "Whether positions have two sides: they do not",
    parameters: {},
    weight: fixed(30),
    answer: () => ({ dualSidePosition: false }),
  }),
  signedRoute({
    ...write,
    paths: ["/fapi/v1/positionSide/dual"],
    summary: "Always refused: positions are one-way",
    parameters: {
      dualSidePosition: mandatory(
        "flag",
        "`false` is refused with -4059, since it is so already; `true` with -2010.",
        { example: "false" },
      ),
    },
    parse: (parameters) => parseFlag(parameters, "dualSidePosition"),
    answer: changePositionMode,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/multiAssetsMargin"],
    summary: "Whether there are several margin assets: there are not",
    parameters: {},
    weight: fixed(30),
    answer: () => ({ multiAssetsMargin: false }),
  }),
  signedRoute({
    ...write,
    paths: ["/fapi/v1/multiAssetsMargin"],
    summary: "Always refused: there is one margin asset",
    parameters: {
      multiAssetsMargin: mandatory(
        "flag",
        "`false` is refused with -4171, since it is so already; `true` with -2010.",
        { example: "false" },
      ),
    },
    parse: (parameters) => parseFlag(parameters, "multiAssetsMargin"),
    answer: changeAssetsMode,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/feeBurn"],
    summary: "Whether fees are paid in another asset: they are not",
    parameters: {},
    weight: fixed(30),
    answer: () => ({ feeBurn: false }),
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/order"],
    summary: "Place an order",
    parameters: FUTURES_ORDER_PARAMETERS,
    placesOrder: true,
    parse: parsePlaceFuturesOrder,
    answer: placeOrder,
    present: (placed) => replayable(presentOrder(placed), placed.replayed),
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/order"],
    summary: "Cancel an order",
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    parse: soughtOrder,
    answer: cancelOrder,
    present: presentOrder,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/allOpenOrders"],
    summary: "Cancel all open orders of a symbol",
    parameters: { symbol: SYMBOL_OF_ROWS },
    parse: symbolOf,
    answer: cancelOpenOrders,
    present: presentAllCanceled,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/order"],
    summary: "One order",
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    weight: fixed(1),
    parse: soughtOrder,
    answer: queryOrder,
    present: presentOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openOrder"],
    summary: "One order, if it is open",
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    weight: fixed(1),
    parse: soughtOrder,
    answer: queryOpenOrder,
    present: presentOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openOrders"],
    summary: "The open orders",
    parameters: { symbol: SYMBOL_OF_ROWS_OR_ALL },
    weight: byBreadth,
    parse: optionalSymbol,
    answer: openOrders,
    present: (orders) => orders.map(presentOrder),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/allOrders"],
    summary: "All orders of a symbol, newest last",
    parameters: FUTURES_ORDER_LIST_PARAMETERS,
    weight: fixed(5),
    parse: parseAllFuturesOrders,
    answer: allOrders,
    present: (orders) => orders.map(presentOrder),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/userTrades"],
    summary: "The fills of a symbol, newest last",
    parameters: FUTURES_TRADE_LIST_PARAMETERS,
    weight: fixed(5),
    parse: parseUserTrades,
    answer: userTrades,
    present: ({ trades, digits }) => trades.map((trade) => presentTrade(trade, digits)),
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/algoOrder"],
    summary: "Place a leg: a stop-loss or a take-profit that closes the position",
    parameters: LEG_PARAMETERS,
    placesOrder: true,
    parse: parsePlaceLeg,
    answer: placeLeg,
    present: (placed) => replayable(presentLeg(placed), placed.replayed),
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/algoOrder"],
    summary: "Cancel a leg",
    parameters: SOUGHT_LEG_PARAMETERS,
    parse: parseSoughtLeg,
    answer: cancelLeg,
    present: presentCanceledLeg,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/algoOpenOrders"],
    summary: "Cancel all open legs of a symbol",
    parameters: { symbol: SYMBOL_OF_ROWS },
    parse: symbolOf,
    answer: cancelOpenLegs,
    present: presentAllCanceled,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/algoOrder"],
    summary: "One leg",
    parameters: SOUGHT_LEG_PARAMETERS,
    weight: fixed(1),
    parse: parseSoughtLeg,
    answer: queryLeg,
    present: presentLeg,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openAlgoOrders"],
    summary: "The open legs, those that wait for their entry among them",
    parameters: OPEN_LEGS_PARAMETERS,
    weight: byBreadth,
    parse: parseOpenLegs,
    answer: openLegs,
    present: (legs) => legs.map(presentLeg),
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/allAlgoOrders"],
    summary: "All legs of a symbol, newest last",
    parameters: LEG_LIST_PARAMETERS,
    weight: fixed(5),
    parse: parseAllLegs,
    answer: allLegs,
    present: (legs) => legs.map(presentLeg),
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/platform/strategy/close"],
    summary: "Close the strategy for good",
    parameters: {},
    writes: false,
    answer: closeStrategy,
  }),
];
