// What a diagnosis says, in plain words.
import type { DiagnosisJson } from "../../../../../src/dashboard-api/schemas.ts";
import { durationInWords } from "../../../ui/figures/duration.ts";

/** A clock that is off by less is not what is wrong. */
const CLOCK_FINE_MS = 500;

export const CHECKS: Readonly<Record<DiagnosisJson["check"], { name: string; means: string }>> = {
  TIMESTAMP: {
    name: "Timestamp",
    means: "The request has no readable timestamp.",
  },
  RECV_WINDOW: {
    name: "Receive window",
    means: "The receive window (recvWindow) is not an allowed number.",
  },
  SIGNATURE_MISSING: {
    name: "Signature present",
    means: "The request has no signature.",
  },
  SIGNATURE: {
    name: "Signature",
    means: "The signature does not match the received request and this key's secret.",
  },
  WINDOW: {
    name: "Time window",
    means: "The request arrived outside the time window that it was signed for.",
  },
  PARAMETERS: {
    name: "Parameters",
    means: "The parameters can't be parsed.",
  },
  HEADER: {
    name: "Headers",
    means: "The header with the key or the signature is missing, or the key is no longer active.",
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
