// The signed routes of the futures family: those of the specification, and what stock clients ask besides. The older
// versions of a path are aliases, answered with the same body.
// Source: specification 4.2; reference exchange, sections 11 to 13.
import type { Parameters } from "../parameters.ts";
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
  LEG_ID_PARAMETERS,
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

export const FUTURES_ROUTES: readonly SignedRoute[] = [
  signedRoute({
    ...read,
    paths: ["/fapi/v3/account", "/fapi/v2/account"],
    parameters: [],
    weight: fixed(5),
    answer: account,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v3/balance", "/fapi/v2/balance"],
    parameters: [],
    weight: fixed(5),
    answer: balance,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v3/positionRisk", "/fapi/v2/positionRisk"],
    parameters: ["symbol"],
    weight: fixed(5),
    answer: positionRisk,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/accountConfig"],
    parameters: [],
    weight: fixed(5),
    answer: accountConfig,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/symbolConfig"],
    parameters: ["symbol"],
    weight: fixed(5),
    answer: symbolConfig,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/leverageBracket"],
    parameters: ["symbol"],
    weight: fixed(1),
    answer: leverageBracket,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/commissionRate"],
    parameters: ["symbol"],
    weight: fixed(20),
    answer: commissionRate,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/income"],
    parameters: INCOME_PARAMETERS,
    weight: fixed(30),
    answer: income,
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/leverage"],
    parameters: ["symbol", "leverage"],
    answer: changeLeverage,
  }),
  signedRoute({
    ...write,
    paths: ["/fapi/v1/marginType"],
    parameters: ["symbol", "marginType"],
    answer: changeMarginType,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/positionSide/dual"],
    parameters: [],
    weight: fixed(30),
    answer: () => ({ dualSidePosition: false }),
  }),
  signedRoute({
    ...write,
    paths: ["/fapi/v1/positionSide/dual"],
    parameters: ["dualSidePosition"],
    answer: changePositionMode,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/multiAssetsMargin"],
    parameters: [],
    weight: fixed(30),
    answer: () => ({ multiAssetsMargin: false }),
  }),
  signedRoute({
    ...write,
    paths: ["/fapi/v1/multiAssetsMargin"],
    parameters: ["multiAssetsMargin"],
    answer: changeAssetsMode,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/feeBurn"],
    parameters: [],
    weight: fixed(30),
    answer: () => ({ feeBurn: false }),
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/order"],
    parameters: FUTURES_ORDER_PARAMETERS,
    placesOrder: true,
    answer: placeOrder,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/order"],
    parameters: SOUGHT_ORDER_PARAMETERS,
    answer: cancelOrder,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/allOpenOrders"],
    parameters: ["symbol"],
    answer: cancelOpenOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/order"],
    parameters: SOUGHT_ORDER_PARAMETERS,
    weight: fixed(1),
    answer: queryOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openOrder"],
    parameters: SOUGHT_ORDER_PARAMETERS,
    weight: fixed(1),
    answer: queryOpenOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openOrders"],
    parameters: ["symbol"],
    weight: byBreadth,
    answer: openOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/allOrders"],
    parameters: FUTURES_ORDER_LIST_PARAMETERS,
    weight: fixed(5),
    answer: allOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/userTrades"],
    parameters: FUTURES_TRADE_LIST_PARAMETERS,
    weight: fixed(5),
    answer: userTrades,
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/algoOrder"],
    parameters: LEG_PARAMETERS,
    placesOrder: true,
    answer: placeLeg,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/algoOrder"],
    parameters: SOUGHT_LEG_PARAMETERS,
    answer: cancelLeg,
  }),
  signedRoute({
    ...cancel,
    paths: ["/fapi/v1/algoOpenOrders"],
    parameters: ["symbol"],
    answer: cancelOpenLegs,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/algoOrder"],
    parameters: SOUGHT_LEG_PARAMETERS,
    weight: fixed(1),
    answer: queryLeg,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/openAlgoOrders"],
    parameters: ["symbol", "algoType", ...LEG_ID_PARAMETERS],
    weight: byBreadth,
    answer: openLegs,
  }),
  signedRoute({
    ...read,
    paths: ["/fapi/v1/allAlgoOrders"],
    parameters: LEG_LIST_PARAMETERS,
    weight: fixed(5),
    answer: allLegs,
  }),

  signedRoute({
    ...write,
    paths: ["/fapi/v1/platform/strategy/close"],
    parameters: [],
    // A strategy that is not LIVE any more says so in the decision, since closing may be repeated until it is done.
    writes: false,
    answer: closeStrategy,
  }),
];
