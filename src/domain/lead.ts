// Leads: strategies as copies see them.
import type { Account, StrategyType } from "./account.ts";
import type { Strategy } from "./strategy.ts";

/** A strategy as copies see it: how far its journal has been turned into actions. */
export type Lead = {
  readonly strategyId: string;
  readonly type: StrategyType;
  /** The account as of `version`, the last entry that was turned into actions; null before the first. */
  readonly account: Account | null;
  readonly version: number;
  /** The last action; 0 if there is none. */
  readonly seq: number;
};

/** The current state of a lead that a process has claimed. */
export type ClaimedLead = Strategy & {
  /** The strategy's last entry; higher than the lead's version if entries are not yet turned into actions. */
  readonly version: number;
  /** Grows whenever people change something: a copy, its settings, a request, a kill switch, an account. */
  readonly revision: number;
};
