// Routes that stock clients call when they start: with these, ccxt needs no change but its URLs. There is no
// wallet, no margin account and no coin-margined market here, so the answer is an empty list.
import { keyRoutes, publicRoute, type Route } from "../route.ts";

export const STARTUP_ROUTES: readonly Route[] = [
  keyRoutes(null)("GET /sapi/v1/capital/config/getall", "The coins of the wallet: there is none here", {
    answer: () => [],
  }),
  publicRoute("/sapi/v1/margin/allPairs", "The pairs of margin trading: there is none here", {
    answer: () => [],
  }),
  publicRoute(
    "/sapi/v1/margin/isolated/allPairs",
    "The pairs of isolated margin trading: there is none here",
    {
      answer: () => [],
    },
  ),
  publicRoute("/sapi/v1/system/status", "Whether the service is under maintenance", {
    answer: () => ({ status: 0, msg: "normal" }),
  }),
  publicRoute("/dapi/v1/exchangeInfo", "The coin-margined contracts: there are none here", {
    answer: () => ({ symbols: [] }),
  }),
];
