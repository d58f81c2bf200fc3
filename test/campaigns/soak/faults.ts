// What the streams must not do: each kind is counted, and the first few of each are kept.
import type { Found } from "../harness/report.ts";

/** What a report calls each kind. */
export const FAULT_LABELS = {
  ID_WENT_BACK: "ids that went back",
  BAD_BOOK: "books out of order, crossed or too long",
  BAD_CANDLE: "candles of another length, or that contradict themselves",
  OLDER_CANDLE: "older candles after newer ones",
  TICK_AFTER_FINAL: "ticks of a candle after its final",
  FINAL_TWICE: "finals that came twice",
  FINAL_MISSED: "finals that never came before what follows",
  SILENT: "silences above 5 s outside of an outage",
  UNASKED: "messages that nobody asked for",
  UNSAID: "outages without a message to every subscription",
  REFUSED: "subscriptions that were refused",
  CUT_OFF: "connections that the gateway ended",
  NOT_BACK: "clients that did not get in",
  MEMORY: "memory that grew",
  GATEWAY: "other faults of the gateway",
} as const;
export type FaultKind = keyof typeof FAULT_LABELS;
export type Fault = Found<FaultKind>;

/** So many of each kind are kept. */
const KEPT_MAX = 5;

export class Faults {
  readonly counts = Object.fromEntries(Object.keys(FAULT_LABELS).map((kind) => [kind, 0])) as {
    [Kind in FaultKind]: number;
  };
  readonly kept: Fault[] = [];

  add(fault: Fault): void {
    this.counts[fault.kind] += 1;
    if (this.counts[fault.kind] <= KEPT_MAX) this.kept.push(fault);
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }
}
