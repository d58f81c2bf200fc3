// The public routes: no key, no signature, charged to the client's address.
// Source: specification 4.5; reference exchange, sections 5, 6.1 and 9.
import { fixedFuturesWeights, fixedWeights } from "../../market/client/rest/request-weight.ts";
import { publicRoute, type Route } from "../route.ts";
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
  publicRoute("/api/v3/ping", "Whether the service answers", {
    aliases: ["/fapi/v1/ping"],
    weight: fixedWeights["/api/v3/ping"],
    answer: () => ({}),
  }),
  publicRoute("/api/v3/time", "The server's time", {
    aliases: ["/fapi/v1/time"],
    weight: fixedWeights["/api/v3/time"],
    answer: (_input, { wallNow }) => ({ serverTime: wallNow() }),
  }),
  publicRoute("/api/v3/exchangeInfo", "The spot pairs, their filters, and the limits of this service", {
    parameters: SPOT_EXCHANGE_INFO_PARAMETERS,
    weight: 20,
    parse: parseSpotExchangeInfo,
    answer: spotExchangeInfo,
  }),
  publicRoute(
    "/fapi/v1/exchangeInfo",
    "The perpetual contracts, their filters, and the limits of this service",
    {
      parameters: FUTURES_EXCHANGE_INFO_PARAMETERS,
      weight: fixedFuturesWeights["/fapi/v1/exchangeInfo"],
      answer: futuresExchangeInfo,
    },
  ),
  ...SPOT_MARKET_DATA_ROUTES,
  ...FUTURES_MARKET_DATA_ROUTES,
];
