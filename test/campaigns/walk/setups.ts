// What differs between the walks of the two strategy types, as a value of each; the walks are the same.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import { CONTRACTS } from "./contracts.ts";
import { FuturesOracle } from "./futures-oracle.ts";
import type { Oracle } from "./oracle.ts";
import { PAIRS } from "./pairs.ts";
import { drawFutures } from "./random/entries.ts";
import type { Listing } from "./random/market.ts";
import { drawSpot } from "./random/orders.ts";
import type { Scenario } from "./scenario.ts";

export type WalkSetup = {
  readonly type: StrategyType;
  readonly listings: readonly Listing[];
  /** What somebody asks for next, in order. */
  readonly draw: (scenario: Scenario) => readonly Command[];
  /** For a new life. */
  readonly newOracle: () => Oracle;
};

export const SETUPS: { readonly [T in StrategyType]: WalkSetup } = {
  SPOT: { type: "SPOT", listings: PAIRS, draw: drawSpot, newOracle: () => ({ judge: () => {} }) },
  FUTURES: {
    type: "FUTURES",
    listings: CONTRACTS,
    draw: drawFutures,
    newOracle: () => new FuturesOracle(),
  },
};
