// Every row of the dashboard's server. The browser infers its client from the type of this table; a test
// calls each row in every role.
import type { z } from "zod";
import type { ParamOf } from "./route.ts";
import { ACCOUNT_ROUTES } from "./routes/account.ts";
import { CLOSING_ROUTES } from "./routes/closing.ts";
import { COPY_ROUTES } from "./routes/copies.ts";
import { COPY_CONTROL_ROUTES } from "./routes/copy-control.ts";
import { COPY_LOG_ROUTES } from "./routes/copy-log.ts";
import { COPYING_ACCOUNT_ROUTES } from "./routes/copying-accounts.ts";
import { COPYING_OFFER_ROUTES } from "./routes/copying-offers.ts";
import { HOLDING_ROUTES } from "./routes/holdings.ts";
import { KEY_ROUTES } from "./routes/keys.ts";
import { KYC_ROUTES } from "./routes/kyc.ts";
import { MARKET_ROUTES } from "./routes/markets.ts";
import { OPERATOR_COPYING_ROUTES } from "./routes/operator-copying.ts";
import { OPERATOR_PEOPLE_ROUTES } from "./routes/operator-people.ts";
import { OPERATOR_SERVICE_ROUTES } from "./routes/operator-service.ts";
import { ORDER_ROUTES } from "./routes/orders.ts";
import { PERFORMANCE_ROUTES } from "./routes/performance.ts";
import { REQUEST_ROUTES } from "./routes/requests.ts";
import { SECOND_FACTOR_ROUTES } from "./routes/second-factor.ts";
import { SESSION_ROUTES } from "./routes/session.ts";
import { SIGNAL_ROUTES } from "./routes/signals.ts";
import { STRATEGY_ROUTES } from "./routes/strategies.ts";
import { STRATEGY_COPYING_ROUTES } from "./routes/strategy-copying.ts";

export const ALL_ROUTES = [
  ...SESSION_ROUTES,
  ...ACCOUNT_ROUTES,
  ...SECOND_FACTOR_ROUTES,
  ...KYC_ROUTES,
  ...KEY_ROUTES,
  ...STRATEGY_ROUTES,
  ...CLOSING_ROUTES,
  ...ORDER_ROUTES,
  ...HOLDING_ROUTES,
  ...SIGNAL_ROUTES,
  ...REQUEST_ROUTES,
  ...PERFORMANCE_ROUTES,
  ...MARKET_ROUTES,
  ...COPYING_ACCOUNT_ROUTES,
  ...COPYING_OFFER_ROUTES,
  ...COPY_ROUTES,
  ...COPY_CONTROL_ROUTES,
  ...COPY_LOG_ROUTES,
  ...STRATEGY_COPYING_ROUTES,
  ...OPERATOR_PEOPLE_ROUTES,
  ...OPERATOR_SERVICE_ROUTES,
  ...OPERATOR_COPYING_ROUTES,
];

type DashboardRow = (typeof ALL_ROUTES)[number];

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : unknown;

/**
 * By method and path, what the browser sends (the parts of the path, and the fields of the query or the body)
 * and gets.
 */
export type Endpoints = {
  readonly [Row in DashboardRow as Row["name"]]: {
    readonly parameters: Readonly<Record<ParamOf<Row["name"]>, string | number>> &
      Input<Row["query"]> &
      Input<Row["body"]>;
    readonly answer: Input<Row["output"]>;
  };
};
