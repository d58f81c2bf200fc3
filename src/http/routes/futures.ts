// The signed routes of the futures family: those of the specification, and what stock clients ask besides. The older
// versions of a path are aliases, answered with the same body.
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
import { optionalText } from "../parse/fields.ts";
import {
  FUTURES_ORDER_LIST_PARAMETERS,
  FUTURES_TRADE_LIST_PARAMETERS,
  INCOME_PARAMETERS,
  LEG_LIST_PARAMETERS,
} from "../parse/futures-history.ts";
import { FUTURES_ORDER_PARAMETERS } from "../parse/place-futures-order.ts";
import { LEG_PARAMETERS } from "../parse/place-leg.ts";
import { fixed, type SignedRoute, signedRoute } from "../pipeline.ts";
import {
  account,
  accountConfig,
  balance,
  commissionRate,
  income,
  leverageBracket,
  positionRisk,
  symbolConfig,
} from "./futures-account.ts";
import {
  allLegs,
  cancelLeg,
  cancelOpenLegs,
  OPEN_LEGS_PARAMETERS,
  openLegs,
  placeLeg,
  queryLeg,
  SOUGHT_LEG_PARAMETERS,
} from "./futures-legs.ts";
import {
  allOrders,
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
  changeMarginType,
  changePositionMode,
} from "./futures-settings.ts";
import { closeStrategy, SOUGHT_ORDER_PARAMETERS } from "./strategy.ts";

const futures = { access: "signed", family: "FUTURES", placesOrder: false, writes: false } as const;
const read = { ...futures, method: "GET" } as const;
const write = { ...futures, method: "POST", weight: fixed(1), writes: true } as const;
const cancel = { ...write, method: "DELETE" } as const;

/** What is listed for all symbols is much more than for one. */
const byBreadth = (parameters: Parameters<"symbol">): number =>
  optionalText(parameters, "symbol") === null ? 40 : 1;

const POSITION_SYMBOL = optional(
  "text",
  "A listed symbol, or one with a position. One without a position has a row of zeros, with its leverage.",
  { default: "all open positions" },
);

export const FUTURES_ROUTES: readonly SignedRoute[] = [
  signedRoute({
    ...read,
    paths: ["/fapi/v3/account", "/fapi/v2/account"],
    summary: "Balances, margins and open positions",
    parameters: {},
    weight: fixed(5),
    answer: account,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v3/balance", "/fapi/v2/balance"],
    summary: "Balances, as a list",
    parameters: {},
    weight: fixed(5),
    answer: balance,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v3/positionRisk", "/fapi/v2/positionRisk"],
    summary: "Open positions with their risk",
    parameters: { symbol: POSITION_SYMBOL },
    weight: fixed(5),
    answer: positionRisk,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/accountConfig"],
    summary: "The settings of the account",
    parameters: {},
    weight: fixed(5),
    answer: accountConfig,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/symbolConfig"],
    summary: "Leverage by contract",
    parameters: { symbol: SYMBOL_OR_ALL },
    weight: fixed(5),
    answer: symbolConfig,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/leverageBracket"],
    summary: "Risk brackets",
    parameters: { symbol: SYMBOL_OR_ALL },
    weight: fixed(1),
    answer: leverageBracket,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/commissionRate"],
    summary: "The fees of a contract",
    parameters: { symbol: SYMBOL },
    weight: fixed(20),
    answer: commissionRate,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/income"],
    summary: "Every change of the wallet, oldest first",
    parameters: INCOME_PARAMETERS,
    weight: fixed(30),
    answer: income,
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
    answer: changeLeverage,
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
    answer: changeMarginType,
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
    answer: placeOrder,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/order"],
    summary: "Cancel an order",
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    answer: cancelOrder,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/allOpenOrders"],
    summary: "Cancel all open orders of a symbol",
    parameters: { symbol: SYMBOL_OF_ROWS },
    answer: cancelOpenOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/order"],
    summary: "One order",
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    weight: fixed(1),
    answer: queryOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openOrder"],
    summary: "One order, if it is open",
    parameters: SOUGHT_ORDER_PARAMETERS.FUTURES,
    weight: fixed(1),
    answer: queryOpenOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openOrders"],
    summary: "The open orders",
    parameters: { symbol: SYMBOL_OF_ROWS_OR_ALL },
    weight: byBreadth,
    answer: openOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/allOrders"],
    summary: "All orders of a symbol, newest last",
    parameters: FUTURES_ORDER_LIST_PARAMETERS,
    weight: fixed(5),
    answer: allOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/userTrades"],
    summary: "The fills of a symbol, newest last",
    parameters: FUTURES_TRADE_LIST_PARAMETERS,
    weight: fixed(5),
    answer: userTrades,
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/algoOrder"],
    summary: "Place a leg: a stop-loss or a take-profit that closes the position",
    parameters: LEG_PARAMETERS,
    placesOrder: true,
    answer: placeLeg,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/algoOrder"],
    summary: "Cancel a leg",
    parameters: SOUGHT_LEG_PARAMETERS,
    answer: cancelLeg,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/algoOpenOrders"],
    summary: "Cancel all open legs of a symbol",
    parameters: { symbol: SYMBOL_OF_ROWS },
    answer: cancelOpenLegs,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/algoOrder"],
    summary: "One leg",
    parameters: SOUGHT_LEG_PARAMETERS,
    weight: fixed(1),
    answer: queryLeg,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openAlgoOrders"],
    summary: "The open legs, those that wait for their entry among them",
    parameters: OPEN_LEGS_PARAMETERS,
    weight: byBreadth,
    answer: openLegs,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/allAlgoOrders"],
    summary: "All legs of a symbol, newest last",
    parameters: LEG_LIST_PARAMETERS,
    weight: fixed(5),
    answer: allLegs,
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/platform/strategy/close"],
    summary: "Close the strategy for good",
    parameters: {},
    // A strategy that is not LIVE any more says so in the decision, since closing may be repeated until it is done.
    writes: false,
    answer: closeStrategy,
  }),
];
