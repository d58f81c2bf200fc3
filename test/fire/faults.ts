// What must never be found after the fire: what crashes must not do either, and a signal that nobody has finished in time.
import type { Fault, FaultKind } from "../crash/faults.ts";

export type FireFaultKind = FaultKind | "LATE";
export type FireFault = { readonly kind: FireFaultKind; readonly what: string } | Fault;
