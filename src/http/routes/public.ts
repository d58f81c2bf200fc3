// The public routes: no key, no signature, charged to the client's address.
// Source: specification 4.5; reference exchange, sections 5, 6.1 and 9.
import { fixedFuturesWeights, fixedWeights } from "../../market/client/rest/request-weight.ts";
import { fixed, type PublicRoute } from "../pipeline.ts";
import {
  FUTURES_EXCHANGE_INFO_PARAMETERS,
  futuresExchangeInfo,
  SPOT_EXCHANGE_INFO_PARAMETERS,
  spotExchangeInfo,
} from "./exchange-info.ts";
import { FUTURES_MARKET_DATA_ROUTES } from "./futures-market-data.ts";
import { SPOT_MARKET_DATA_ROUTES } from "./spot-market-data.ts";

const open = { access: "public", method: "GET", parameters: {} } as const;

export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  {
    ...open,
    paths: ["/api/v3/ping", "/fapi/v1/ping"],
    summary: "Whether the service answers",
    weight: fixed(fixedWeights["/api/v3/ping"]),
    answer: () => ({}),
  },
  {
    ...open,
    paths: ["/api/v3/time", "/fapi/v1/time"],
    summary: "The server's time",
    weight: fixed(fixedWeights["/api/v3/time"]),
    answer: (_parameters, { wallNow }) => ({ serverTime: wallNow() }),
  },
  {
    ...open,
    paths: ["/api/v3/exchangeInfo"],
    summary: "The spot pairs, their filters, and the limits of this service",
    parameters: SPOT_EXCHANGE_INFO_PARAMETERS,
    weight: fixed(20),
    answer: spotExchangeInfo,
  },
  {
    ...open,
    paths: ["/fapi/v1/exchangeInfo"],
    summary: "The perpetual contracts, their filters, and the limits of this service",
    parameters: FUTURES_EXCHANGE_INFO_PARAMETERS,
    weight: fixed(fixedFuturesWeights["/fapi/v1/exchangeInfo"]),
    answer: futuresExchangeInfo,
  },
  ...SPOT_MARKET_DATA_ROUTES,
  ...FUTURES_MARKET_DATA_ROUTES,
];
