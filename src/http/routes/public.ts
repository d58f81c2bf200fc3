// The public routes: no key, no signature, charged to the client's address.
// Source: specification 4.5; reference exchange, sections 5, 6.1 and 9.
import { fixedFuturesWeights, fixedWeights } from "../../market/client/rest/request-weight.ts";
import { fixed, publicRoute, type Route } from "../route.ts";
import {
  FUTURES_EXCHANGE_INFO_PARAMETERS,
  futuresExchangeInfo,
  parseSpotExchangeInfo,
  SPOT_EXCHANGE_INFO_PARAMETERS,
  spotExchangeInfo,
} from "./exchange-info.ts";
import { FUTURES_MARKET_DATA_ROUTES } from "./futures-market-data.ts";
import { SPOT_MARKET_DATA_ROUTES } from "./spot-market-data.ts";

export const PUBLIC_ROUTES: readonly Route[] = [
  publicRoute({
    paths: ["/api/v3/ping", "/fapi/v1/ping"],
    summary: "Whether the service answers",
    parameters: {},
    weight: fixed(fixedWeights["/api/v3/ping"]),
    answer: () => ({}),
  }),
  publicRoute({
    paths: ["/api/v3/time", "/fapi/v1/time"],
    summary: "The server's time",
    parameters: {},
    weight: fixed(fixedWeights["/api/v3/time"]),
    answer: (_input, { wallNow }) => ({ serverTime: wallNow() }),
  }),
  publicRoute({
    paths: ["/api/v3/exchangeInfo"],
    summary: "The spot pairs, their filters, and the limits of this service",
    parameters: SPOT_EXCHANGE_INFO_PARAMETERS,
    weight: fixed(20),
    parse: parseSpotExchangeInfo,
    answer: spotExchangeInfo,
  }),
  publicRoute({
    paths: ["/fapi/v1/exchangeInfo"],
    summary: "The perpetual contracts, their filters, and the limits of this service",
    parameters: FUTURES_EXCHANGE_INFO_PARAMETERS,
    weight: fixed(fixedFuturesWeights["/fapi/v1/exchangeInfo"]),
    answer: futuresExchangeInfo,
  }),
  ...SPOT_MARKET_DATA_ROUTES,
  ...FUTURES_MARKET_DATA_ROUTES,
];
