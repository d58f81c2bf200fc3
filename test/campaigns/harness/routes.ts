// Where each type is traded and read.
import type { StrategyType } from "../../../src/domain/account.ts";

type Paths = {
  readonly account: string;
  readonly order: string;
  readonly cancelAll: string;
  readonly openOrders: string;
  readonly allOrders: string;
  readonly trades: string;
  readonly bookTicker: string;
};

export const PATHS: { readonly [T in StrategyType]: Paths } = {
  SPOT: {
    account: "/api/v3/account",
    order: "/api/v3/order",
    cancelAll: "/api/v3/openOrders",
    openOrders: "/api/v3/openOrders",
    allOrders: "/api/v3/allOrders",
    trades: "/api/v3/myTrades",
    bookTicker: "/api/v3/ticker/bookTicker",
  },
  FUTURES: {
    account: "/fapi/v3/account",
    order: "/fapi/v1/order",
    cancelAll: "/fapi/v1/allOpenOrders",
    openOrders: "/fapi/v1/openOrders",
    allOrders: "/fapi/v1/allOrders",
    trades: "/fapi/v1/userTrades",
    bookTicker: "/fapi/v1/ticker/bookTicker",
  },
};

/** What only futures have. */
export const LEG_PATHS = {
  order: "/fapi/v1/algoOrder",
  openOrders: "/fapi/v1/openAlgoOrders",
  allOrders: "/fapi/v1/allAlgoOrders",
} as const;
export const POSITION_PATH = "/fapi/v3/positionRisk";
