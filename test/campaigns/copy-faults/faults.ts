// What must never be found of a copy, by kind.
import type { Found } from "../harness/report.ts";

export type CopyFaultKind =
  /**
   * The strategy did something, and no entry of the mirror log says what became of it; or an order that it
   * tells of is not there.
   */
  | "LOST"
  /**
   * The venue has an order that no entry tells of, or one was accepted there twice, or two entries answer one
   * action.
   */
  | "DOUBLED"
  /**
   * Orders of one symbol stand at the venue in another order than the strategy's; or a cancel has come to
   * nothing.
   */
  | "DISORDERED"
  /** It was not copied, and nothing says why; or it is said not to have been copied, and is there. */
  | "UNEXPLAINED"
  /** An entry tells of an order otherwise than the venue has it. */
  | "CHANGED"
  /** What the copy says that it holds is not what its orders have brought, or not what its account has. */
  | "UNBALANCED"
  /**
   * At the end it holds more or less at the venue than its strategy's history entitles it to, and nothing
   * accounts for it.
   */
  | "OFF_TARGET"
  /** It had a position without a stop for too long while its strategy had a stop, or had one when it left. */
  | "NAKED"
  /** An order was sized by what the account never had. */
  | "MISSIZED"
  /** It did not come to an end in time. */
  | "LATE"
  /** The venue's own books, or the leads', are damaged. */
  | "DAMAGED"
  /** A process does not start, ends by itself, or answers what it must not. */
  | "GATEWAY";

export type CopyFault = Found<CopyFaultKind>;
