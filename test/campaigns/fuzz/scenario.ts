// What a request is drawn from besides chance: its sender, the known state of that strategy, and the markets.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import type { Pair } from "./pairs.ts";

/** One name and one value, both as they shall be on the wire: encoded, or wrongly so. */
export type Parameter = readonly [name: string, value: string];

/** An order, or a leg, as the answer to its placement named it. */
export type KnownOrder = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly symbol: string;
};

/** Keys that are not the strategy's own. */
export type OtherKeys = {
  /** Of strategies that nobody may move: each is only sent where the other type trades. */
  readonly bystanders: { readonly [T in StrategyType]: readonly Credentials[] };
  /** Bound to no strategy. */
  readonly unbound: readonly Credentials[];
  readonly revoked: readonly Credentials[];
};

export type Scenario = {
  readonly type: StrategyType;
  readonly strategy: Credentials;
  readonly others: OtherKeys;
  /** The pairs, or contracts, that this strategy mostly trades. */
  readonly pairs: readonly Pair[];
  readonly allPairs: readonly Pair[];
  /** By client id: what it has placed. */
  readonly orders: Map<string, KnownOrder>;
  /** The same of legs. */
  readonly legs: Map<string, KnownOrder>;
};
