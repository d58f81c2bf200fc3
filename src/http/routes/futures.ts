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
import { keyRoutes, type Route } from "../route.ts";
import { counterfactualsRoute } from "./counterfactuals.ts";
import { receiptsRoute } from "./fill-receipts.ts";
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
  cancelAll,
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

const futures = keyRoutes("FUTURES");

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
  futures("GET /fapi/v3/account", "Balances, margins and open positions", {
    aliases: ["/fapi/v2/account"],
    weight: 5,
    answer: account,
    present: ({ account, standings }) => presentAccount(account, standings),
  }),
  futures("GET /fapi/v3/balance", "Balances, as a list", {
    aliases: ["/fapi/v2/balance"],
    weight: 5,
    answer: storedAccount,
    present: presentBalances,
  }),
  futures("GET /fapi/v3/positionRisk", "Open positions with their risk", {
    aliases: ["/fapi/v2/positionRisk"],
    parameters: { symbol: POSITION_SYMBOL },
    weight: 5,
    parse: optionalSymbol,
    answer: positionRisk,
    present: (standings) => standings.map(presentRisk),
  }),
  futures("GET /fapi/v1/accountConfig", "The settings of the account", {
    weight: 5,
    answer: storedAccount,
    present(account) {
      const { feeBurn, ...config } = presentConfig(account);
      return config;
    },
  }),
  futures("GET /fapi/v1/symbolConfig", "Leverage by contract", {
    parameters: { symbol: SYMBOL_OR_ALL },
    weight: 5,
    parse: optionalSymbol,
    answer: symbolConfig,
    present: (contracts) => contracts.map(presentSymbolConfig),
  }),
  futures("GET /fapi/v1/leverageBracket", "Risk brackets", {
    parameters: { symbol: SYMBOL_OR_ALL },
    parse: optionalSymbol,
    answer: contractsOf,
    present: (contracts) => contracts.map(({ symbol, terms }) => presentBrackets(symbol, terms)),
  }),
  futures("GET /fapi/v1/commissionRate", "The fees of a contract", {
    parameters: { symbol: SYMBOL },
    weight: 20,
    parse: symbolOf,
    answer: commissionRate,
    present: ({ symbol, profile }) => presentCommission(symbol, profile),
  }),
  futures("GET /fapi/v1/income", "Every change of the wallet, oldest first", {
    parameters: INCOME_PARAMETERS,
    weight: 30,
    parse: parseIncomes,
    answer: income,
    present: (incomes) => incomes.map(presentIncome),
  }),

  futures("POST /fapi/v1/leverage", "Set the leverage of a contract", {
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
  futures("POST /fapi/v1/marginType", "Confirm that margin is isolated", {
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
  futures("GET /fapi/v1/positionSide/dual", "Whether positions have two sides: they do not", {
    weight: 30,
    answer: () => ({ dualSidePosition: false }),
  }),
  futures("POST /fapi/v1/positionSide/dual", "Always refused: positions are one-way", {
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
  futures("GET /fapi/v1/multiAssetsMargin", "Whether there are several margin assets: there are not", {
    weight: 30,
    answer: () => ({ multiAssetsMargin: false }),
  }),
  futures("POST /fapi/v1/multiAssetsMargin", "Always refused: there is one margin asset", {
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
  futures("GET /fapi/v1/feeBurn", "Whether fees are paid in another asset: they are not", {
    weight: 30,
    answer: () => ({ feeBurn: false }),
  }),

  futures("POST /fapi/v1/order", "Place an order", {
    parameters: FUTURES_ORDER_PARAMETERS,
    placesOrder: true,
    parse: parsePlaceFuturesOrder,
    answer: placeOrder,
    present: (placed) => replayable(presentOrder(placed), placed.replayed),
  }),
  futures("DELETE /fapi/v1/order", "Cancel an order", {
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    parse: soughtOrder,
    answer: cancelOrder,
    present: presentOrder,
  }),
  futures("DELETE /fapi/v1/allOpenOrders", "Cancel all open orders of a symbol", {
    parameters: { symbol: SYMBOL_OF_ROWS },
    parse: symbolOf,
    answer: cancelAll("CancelOpenOrders"),
    present: presentAllCanceled,
  }),
  futures("GET /fapi/v1/order", "One order", {
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    parse: soughtOrder,
    answer: queryOrder,
    present: presentOrder,
  }),
  futures("GET /fapi/v1/openOrder", "One order, if it is open", {
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    parse: soughtOrder,
    answer: queryOpenOrder,
    present: presentOrder,
  }),
  futures("GET /fapi/v1/openOrders", "The open orders", {
    parameters: { symbol: SYMBOL_OF_ROWS_OR_ALL },
    weight: byBreadth,
    parse: optionalSymbol,
    answer: openOrders,
    present: (orders) => orders.map(presentOrder),
  }),
  futures("GET /fapi/v1/allOrders", "All orders of a symbol, newest last", {
    parameters: FUTURES_ORDER_LIST_PARAMETERS,
    weight: 5,
    parse: parseAllFuturesOrders,
    answer: allOrders,
    present: (orders) => orders.map(presentOrder),
  }),
  futures("GET /fapi/v1/userTrades", "The fills of a symbol, newest last", {
    parameters: FUTURES_TRADE_LIST_PARAMETERS,
    weight: 5,
    parse: parseUserTrades,
    answer: userTrades,
    present: ({ trades, digits }) => trades.map((trade) => presentTrade(trade, digits)),
  }),

  futures("POST /fapi/v1/algoOrder", "Place a leg: a stop-loss or a take-profit that closes the position", {
    parameters: LEG_PARAMETERS,
    placesOrder: true,
    parse: parsePlaceLeg,
    answer: placeLeg,
    present: (placed) => replayable(presentLeg(placed), placed.replayed),
  }),
  futures("DELETE /fapi/v1/algoOrder", "Cancel a leg", {
    parameters: SOUGHT_LEG_PARAMETERS,
    parse: parseSoughtLeg,
    answer: cancelLeg,
    present: presentCanceledLeg,
  }),
  futures("DELETE /fapi/v1/algoOpenOrders", "Cancel all open legs of a symbol", {
    parameters: { symbol: SYMBOL_OF_ROWS },
    parse: symbolOf,
    answer: cancelAll("CancelOpenLegs"),
    present: presentAllCanceled,
  }),
  futures("GET /fapi/v1/algoOrder", "One leg", {
    parameters: SOUGHT_LEG_PARAMETERS,
    parse: parseSoughtLeg,
    answer: queryLeg,
    present: presentLeg,
  }),
  futures("GET /fapi/v1/openAlgoOrders", "The open legs, those that wait for their entry among them", {
    parameters: OPEN_LEGS_PARAMETERS,
    weight: byBreadth,
    parse: parseOpenLegs,
    answer: openLegs,
    present: (legs) => legs.map(presentLeg),
  }),
  futures("GET /fapi/v1/allAlgoOrders", "All legs of a symbol, newest last", {
    parameters: LEG_LIST_PARAMETERS,
    weight: 5,
    parse: parseAllLegs,
    answer: allLegs,
    present: (legs) => legs.map(presentLeg),
  }),

  receiptsRoute("FUTURES", "/fapi/v1/platform/fillReceipts"),
  counterfactualsRoute("FUTURES", "/fapi/v1/platform/counterfactuals"),
  futures("POST /fapi/v1/platform/strategy/close", "Close the strategy for good", {
    writes: false,
    answer: closeStrategy,
  }),
];
