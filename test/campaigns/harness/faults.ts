// What must never be found after a crash, by kind.
import type { Found } from "./report.ts";

export type FaultKind =
  /** It was acknowledged and is gone. */
  | "LOST"
  /** One client id, two orders. */
  | "DOUBLED"
  /** It is there in a state that may not follow from what was acknowledged. */
  | "CHANGED"
  /** It was refused, or never sent, and is there. */
  | "UNASKED"
  /**
   * A number of the sequence is missing, trades do not add up to their order, or balances not to the trades.
   */
  | "UNBALANCED"
  /** Replaying the journal does not give the stored account. */
  | "JOURNAL"
  /** The database itself is damaged. */
  | "DAMAGED"
  /** The gateway does not start, does not answer, answers what it must not, or ends without saying why. */
  | "GATEWAY";

export type Fault = Found<FaultKind>;

/** Something that only the gateway can be at fault for, where there is no going on. */
export class GatewayFault extends Error {}
