// What the two types of strategies are.
import type { StrategyType } from "../../../src/dashboard-api/schemas.ts";

export const TYPES = {
  SPOT: {
    name: "Spot",
    balance: "200 USDT",
    says: "Buys and sells the assets themselves, with what it owns. No leverage, no shorts. Takes signals as well as the exchange’s routes.",
  },
  FUTURES: {
    name: "Futures",
    balance: "1,000 USDT",
    says: "Trades USDT-margined perpetual contracts, long and short, with leverage and isolated margin. Positions pay or receive funding, and can be liquidated.",
  },
} as const satisfies Record<StrategyType, { name: string; balance: string; says: string }>;
