// What stock clients ask at their start besides the routes of the specification: with these, ccxt needs nothing but its
// URLs changed. There is no wallet, no margin account and no coin-margined market here, so the honest answer is an empty
// list.
import { fixed, type PublicRoute, type SignedRoute, signedRoute } from "../pipeline.ts";

const signed = {
  access: "signed",
  family: null,
  placesOrder: false,
  writes: false,
  method: "GET",
  weight: fixed(1),
} as const;
const open = { access: "public", method: "GET", parameters: {}, weight: fixed(1) } as const;

export const STARTUP_ROUTES: readonly (PublicRoute | SignedRoute)[] = [
  signedRoute({
    ...signed,
    paths: ["/sapi/v1/capital/config/getall"],
    summary: "The coins of the wallet: there is none here",
    parameters: {},
    answer: () => [],
  }),
  {
    ...open,
    paths: ["/sapi/v1/margin/allPairs"],
    summary: "The pairs of margin trading: there is none here",
    answer: () => [],
  },
  {
    ...open,
    paths: ["/sapi/v1/margin/isolated/allPairs"],
    summary: "The pairs of isolated margin trading: there is none here",
    answer: () => [],
  },
  {
    ...open,
    paths: ["/sapi/v1/system/status"],
    summary: "Whether the service is under maintenance",
    answer: () => ({ status: 0, msg: "normal" }),
  },
  {
    ...open,
    paths: ["/dapi/v1/exchangeInfo"],
    summary: "The coin-margined contracts: there are none here",
    answer: () => ({ symbols: [] }),
  },
];
