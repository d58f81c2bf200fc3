/**
 * Finds the route of a request and answers it; whatever goes wrong has the exchange's shape `{ code, msg }`.
 */
import type { StrategyType } from "../../domain/account.ts";
import type { Faults } from "./faults.ts";
import { type Params, RequestFault, readParams } from "./request.ts";
import { futuresRoutes } from "./rest-futures.ts";
import { markRoutes } from "./rest-marks.ts";
import { spotRoutes } from "./rest-spot.ts";
import type { FuturesSource, Source } from "./source.ts";

export type Markets = { readonly SPOT: Source; readonly FUTURES: FuturesSource };

export type Reply = { readonly status: number; readonly body: string };

export type RestRequest = {
  readonly markets: Markets;
  /** Routes that are refused with 503 at present. */
  readonly refusals: Faults;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** The present in market time, Unix ms. */
  readonly at: number;
};

export function answerRest(request: RestRequest): Reply {
  const { target } = request;
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? "" : target.slice(mark + 1);
  try {
    const answer = routeOf(request, path);
    return { status: 200, body: JSON.stringify(answer(readParams(query), request.at)) };
  } catch (error) {
    const fault = error instanceof RequestFault ? error : unknownFault;
    return { status: fault.status, body: JSON.stringify({ code: fault.code, msg: fault.message }) };
  }
}

const allFuturesRoutes = { ...futuresRoutes, ...markRoutes };

const unknownFault = new RequestFault(-1000, "An unknown error occurred while processing the request.", 500);

function routeOf(request: RestRequest, path: string): (params: Params, at: number) => unknown {
  const { method, refusals } = request;
  const { SPOT: spot, FUTURES: futures } = request.markets;
  const spotRoute = Object.hasOwn(spotRoutes, path) ? spotRoutes[path] : undefined;
  const futuresRoute = Object.hasOwn(allFuturesRoutes, path) ? allFuturesRoutes[path] : undefined;
  if (method === "GET" && spotRoute) {
    return (params, at) => {
      refuseStruck(refusals, "SPOT", params);
      return spotRoute(spot, params, at);
    };
  }
  if (method === "GET" && futuresRoute) {
    return (params, at) => {
      refuseStruck(refusals, "FUTURES", params);
      return futuresRoute(futures, params, at);
    };
  }
  throw new RequestFault(-5000, `Path ${path}, Method ${method} is invalid`, 404);
}

// A request that names a struck symbol is refused; lists of all symbols are answered.
function refuseStruck(refusals: Faults, type: StrategyType, params: Params): void {
  const named = [
    ...(params.get("symbol") ?? "").split(","),
    params.get("pair") ?? "",
    ...(params.get("symbols") ?? "").split(/[^A-Z0-9]+/),
  ];
  if (refusals.hits(type) || named.some((symbol) => refusals.hits(type, symbol))) {
    throw new RequestFault(
      -1008,
      "Server is currently overloaded with other requests. Please try again in a few minutes.",
      503,
    );
  }
}
