// The signed routes of the futures family: those of the specification, and what stock clients ask besides. The older
// versions of a path are aliases, answered with the same body.
// Source: specification 4.2; reference exchange, sections 11 to 13.
import { optionalText } from "../parse/fields.ts";
import { fixed, type SignedRoute } from "../pipeline.ts";
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
import { allLegs, cancelLeg, cancelOpenLegs, openLegs, placeLeg, queryLeg } from "./futures-legs.ts";
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
import { closeStrategy } from "./strategy.ts";

const futures = { access: "signed", family: "FUTURES", placesOrder: false, writes: false } as const;
const read = { ...futures, method: "GET" } as const;
const write = { ...futures, method: "POST", weight: fixed(1), writes: true } as const;
const cancel = { ...write, method: "DELETE" } as const;

/** What is listed for all symbols is much more than for one. */
const byBreadth: SignedRoute["weight"] = (parameters) =>
  optionalText(parameters, "symbol") === null ? 40 : 1;

export const FUTURES_ROUTES: readonly SignedRoute[] = [
  { ...read, paths: ["/fapi/v3/account", "/fapi/v2/account"], weight: fixed(5), answer: account },
  { ...read, paths: ["/fapi/v3/balance", "/fapi/v2/balance"], weight: fixed(5), answer: balance },
  {
    ...read,
    paths: ["/fapi/v3/positionRisk", "/fapi/v2/positionRisk"],
    weight: fixed(5),
    answer: positionRisk,
  },
  { ...read, paths: ["/fapi/v1/accountConfig"], weight: fixed(5), answer: accountConfig },
  { ...read, paths: ["/fapi/v1/symbolConfig"], weight: fixed(5), answer: symbolConfig },
  { ...read, paths: ["/fapi/v1/leverageBracket"], weight: fixed(1), answer: leverageBracket },
  { ...read, paths: ["/fapi/v1/commissionRate"], weight: fixed(20), answer: commissionRate },
  { ...read, paths: ["/fapi/v1/income"], weight: fixed(30), answer: income },

  { ...write, paths: ["/fapi/v1/leverage"], answer: changeLeverage },
  { ...write, paths: ["/fapi/v1/marginType"], answer: changeMarginType },
  {
    ...read,
    paths: ["/fapi/v1/positionSide/dual"],
    weight: fixed(30),
    answer: () => ({ dualSidePosition: false }),
  },
  { ...write, paths: ["/fapi/v1/positionSide/dual"], answer: changePositionMode },
  {
    ...read,
    paths: ["/fapi/v1/multiAssetsMargin"],
    weight: fixed(30),
    answer: () => ({ multiAssetsMargin: false }),
  },
  { ...write, paths: ["/fapi/v1/multiAssetsMargin"], answer: changeAssetsMode },
  { ...read, paths: ["/fapi/v1/feeBurn"], weight: fixed(30), answer: () => ({ feeBurn: false }) },

  { ...write, paths: ["/fapi/v1/order"], placesOrder: true, answer: placeOrder },
  { ...cancel, paths: ["/fapi/v1/order"], answer: cancelOrder },
  { ...cancel, paths: ["/fapi/v1/allOpenOrders"], answer: cancelOpenOrders },
  { ...read, paths: ["/fapi/v1/order"], weight: fixed(1), answer: queryOrder },
  { ...read, paths: ["/fapi/v1/openOrder"], weight: fixed(1), answer: queryOpenOrder },
  { ...read, paths: ["/fapi/v1/openOrders"], weight: byBreadth, answer: openOrders },
  { ...read, paths: ["/fapi/v1/allOrders"], weight: fixed(5), answer: allOrders },
  { ...read, paths: ["/fapi/v1/userTrades"], weight: fixed(5), answer: userTrades },

  { ...write, paths: ["/fapi/v1/algoOrder"], placesOrder: true, answer: placeLeg },
  { ...cancel, paths: ["/fapi/v1/algoOrder"], answer: cancelLeg },
  { ...cancel, paths: ["/fapi/v1/algoOpenOrders"], answer: cancelOpenLegs },
  { ...read, paths: ["/fapi/v1/algoOrder"], weight: fixed(1), answer: queryLeg },
  { ...read, paths: ["/fapi/v1/openAlgoOrders"], weight: byBreadth, answer: openLegs },
  { ...read, paths: ["/fapi/v1/allAlgoOrders"], weight: fixed(5), answer: allLegs },

  {
    ...write,
    paths: ["/fapi/v1/platform/strategy/close"],
    // A strategy that is not LIVE any more says so in the decision, since closing may be repeated until it is done.
    writes: false,
    answer: closeStrategy,
  },
];
