// What a diagnosis says, in plain words.
import type { DiagnosisShape } from "../../../../../src/dashboard/shapes.ts";
import { durationInWords } from "../../../ui/duration.ts";

/** A clock that is off by less is not what is wrong. */
const CLOCK_FINE_MS = 500;

export const CHECKS: Readonly<Record<DiagnosisShape["check"], { name: string; means: string }>> = {
  TIMESTAMP: {
    name: "Timestamp",
    means: "The request carries no time that can be read.",
  },
  RECV_WINDOW: {
    name: "Receive window",
    means: "The receive window is not a number that is allowed.",
  },
  SIGNATURE_MISSING: {
    name: "Signature present",
    means: "The request carries no signature.",
  },
  SIGNATURE: {
    name: "Signature",
    means: "The signature does not fit the request as it arrived, made with this key's secret.",
  },
  WINDOW: {
    name: "Time window",
    means: "The request arrived outside of the time for which it was signed.",
  },
  PARAMETERS: {
    name: "Parameters",
    means: "The parameters can't be read as they were sent.",
  },
  HEADER: {
    name: "Headers",
    means: "A header that names the key or signs the request is missing, or the key has ended.",
  },
};

/** "Your clock is 3.2 s behind." Positive is ahead. */
export function clockInWords(offsetMs: number): string {
  const off = Math.abs(offsetMs);
  if (off < CLOCK_FINE_MS) return `Your clock is right, to within ${CLOCK_FINE_MS / 1_000} s.`;
  const length = off < 60_000 ? `${(off / 1_000).toFixed(1)} s` : durationInWords(off / 1_000);
  return `Your clock is ${length} ${offsetMs > 0 ? "ahead" : "behind"}.`;
}

/** How near to its limit a meter is: what comes next when it is reached is a refusal. */
export function toneOfMeter(used: number, limit: number): "accent" | "warn" | "loss" {
  if (used >= limit) return "loss";
  return used >= limit * 0.8 ? "warn" : "accent";
}
