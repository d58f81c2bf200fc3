// Chooses the path of a request: a route of the gateway's own table, so that a new route is covered at once,
// and sometimes a path without a route.
import type { StrategyType } from "../../../src/domain/account.ts";
import { methodOfRoute } from "../../../src/http/pipeline.ts";
import type { Route } from "../../../src/http/route.ts";
import { ROUTES } from "../../../src/http/server.ts";
import type { Draw } from "./draw.ts";

export type Goal = {
  /** Null if there is no such route. */
  readonly route: Route | null;
  readonly method: string;
  readonly path: string;
  /** What it is counted under. */
  readonly name: string;
};

/** What a strategy is about: trading, or running into one of the budgets on purpose. */
export type Mood = "TRADES" | "FLOODS_ORDERS" | "FLOODS_READS" | "FLOODS_PUBLIC";

const UNKNOWN_PATH = "(no such path)";
const OTHER_METHOD = "(another method)";

/** What a route costs that uses a budget up within a few dozen requests. */
const HEAVY = 20;

/** Where the web application begins, which is for clients that take anything. */
export const START_PATH = "/";

const UNKNOWN_PATHS: readonly string[] = [
  START_PATH,
  ..."/__proto__|/constructor|/botany|/strategies|/v3/account|/futures/data/openInterestHist|/stream".split(
    "|",
  ),
  ..."/favicon.ico|/api|/api/v3|/api/v3/".split("|"),
  // Nearly a route.
  ..."/api/v3/order/|/api/v3/Order|/api/v3//order|//api/v3/order|/api/v1/order|/api/v3/order;a=1".split("|"),
  ..."/api/v3/%6Frder|/api/v3/order%00|/api/v3/order%2F|/api/v3/%2e%2e/order|/api/v3/../v3/order".split("|"),
  // Routes that the exchange has.
  ..."/api/v3/order/test|/api/v3/sor/order|/api/v3/tradeFee|/sapi/v1/asset/tradeFee|/dapi/v1/order".split(
    "|",
  ),
  ..."/fapi/v9/order|/fapi/v1/Order|/fapi/v1/order/|/fapi/v1/order/test|/fapi/v1/batchOrders".split("|"),
  ..."/fapi|/fapi/v1/positionMargin|/fapi/v1/listenKeys|/bot|/bot/v1/spot/none".split("|"),
  // No encoding.
  ..."/%|/%zz|/%c0%af|/bot/v1/%zz".split("|"),
];
const OTHER_METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"];

/** Where the strategies of a type go. */
type Goals = { readonly [M in Mood]: readonly Route[] };
const GOALS: { readonly [T in StrategyType]: Goals } = { SPOT: goalsOf("SPOT"), FUTURES: goalsOf("FUTURES") };

function goalsOf(type: StrategyType): Goals {
  const own = ROUTES.filter((route) => route.access === "signed" && route.strategyType === type);
  return {
    // Each route as often as its share says.
    TRADES: ROUTES.flatMap((route) => new Array<Route>(shareOf(route, type)).fill(route)),
    FLOODS_ORDERS: own.filter((route) => route.access === "signed" && route.placesOrder),
    FLOODS_READS: own.filter((route) => route.weight(new Map()) >= HEAVY),
    FLOODS_PUBLIC: ROUTES.filter((route) => route.access === "public" && route.weight(new Map()) >= HEAVY),
  };
}

/**
 * Placements come often, since the rest is about orders; the end of a strategy comes seldom, since nothing
 * follows it, and so does a route of the other type, which is refused.
 */
function shareOf(route: Route, type: StrategyType): number {
  if (route.access === "public") return 2;
  if (route.access === "key") return 6;
  if (route.strategyType !== type && route.strategyType !== null) return 1;
  if (route.paths[0].endsWith("/strategy/close")) return 2;
  if (route.placesOrder) return route.paths[0].endsWith("/algoOrder") ? 45 : 90;
  return route.writes ? 18 : 10;
}

/** Where the next request of a strategy goes. */
export function drawGoal(draw: Draw, mood: Mood, type: StrategyType): Goal {
  if (mood !== "TRADES") return goalAt(draw, draw.pick(GOALS[type][mood]));
  const elsewhere = draw.below(40);
  if (elsewhere === 0) {
    const method = draw.pick(OTHER_METHODS);
    return { route: null, method, path: draw.pick(UNKNOWN_PATHS), name: UNKNOWN_PATH };
  }
  const goal = goalAt(draw, draw.pick(GOALS[type].TRADES));
  if (elsewhere > 1) return goal;
  const method = draw.pick(OTHER_METHODS);
  const routeMethod = methodOfRoute(method);
  const route = ROUTES.find((each) => each.method === routeMethod && each.paths.includes(goal.path)) ?? null;
  return { ...goal, method, route, name: route === null ? OTHER_METHOD : nameOf(route) };
}

function goalAt(draw: Draw, route: Route): Goal {
  return { route, method: route.method, path: draw.pick(route.paths), name: nameOf(route) };
}

/** What a route is counted under. */
export function nameOf({ method, paths }: Route): string {
  return `${method} ${paths[0]}`;
}
