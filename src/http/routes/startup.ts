// Routes that stock clients call when they start: with these, ccxt needs no change but its URLs. There is no
// wallet, no margin account and no coin-margined market here, so the answer is an empty list.
import { fixed, publicRoute, type Route, signedRoute } from "../route.ts";

const open = { parameters: {}, weight: fixed(1) } as const;
const signed = { ...open, method: "GET", strategyType: null, placesOrder: false, writes: false } as const;

export const STARTUP_ROUTES: readonly Route[] = [
  signedRoute({
    ...signed,
    paths: ["/sapi/v1/capital/config/getall"],
    summary: "The coins of the wallet: there is none here",
    answer: () => [],
  }),
  publicRoute({
    ...open,
    paths: ["/sapi/v1/margin/allPairs"],
    summary: "The pairs of margin trading: there is none here",
    answer: () => [],
  }),
  publicRoute({
    ...open,
    paths: ["/sapi/v1/margin/isolated/allPairs"],
    summary: "The pairs of isolated margin trading: there is none here",
    answer: () => [],
  }),
  publicRoute({
    ...open,
    paths: ["/sapi/v1/system/status"],
    summary: "Whether the service is under maintenance",
    answer: () => ({ status: 0, msg: "normal" }),
  }),
  publicRoute({
    ...open,
    paths: ["/dapi/v1/exchangeInfo"],
    summary: "The coin-margined contracts: there are none here",
    answer: () => ({ symbols: [] }),
  }),
];
