// The public routes: no key, no signature, charged to the client's address.
// Source: specification 4.5; reference exchange, sections 5, 6.1 and 9.
import { fixedFuturesWeights, fixedWeights } from "../../market/client/request-weight.ts";
import { fixed, type PublicRoute } from "../pipeline.ts";
import { futuresExchangeInfo, spotExchangeInfo } from "./exchange-info.ts";
import { FUTURES_MARKET_DATA_ROUTES } from "./futures-market-data.ts";
import { SPOT_MARKET_DATA_ROUTES } from "./spot-market-data.ts";

const open = { access: "public", method: "GET" } as const;

export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  {
    ...open,
    paths: ["/api/v3/ping", "/fapi/v1/ping"],
    weight: fixed(fixedWeights["/api/v3/ping"]),
    answer: () => ({}),
  },
  {
    ...open,
    paths: ["/api/v3/time", "/fapi/v1/time"],
    weight: fixed(fixedWeights["/api/v3/time"]),
    answer: (_parameters, { wallNow }) => ({ serverTime: wallNow() }),
  },
  { ...open, paths: ["/api/v3/exchangeInfo"], weight: fixed(20), answer: spotExchangeInfo },
  {
    ...open,
    paths: ["/fapi/v1/exchangeInfo"],
    weight: fixed(fixedFuturesWeights["/fapi/v1/exchangeInfo"]),
    answer: futuresExchangeInfo,
  },
  ...SPOT_MARKET_DATA_ROUTES,
  ...FUTURES_MARKET_DATA_ROUTES,
];
