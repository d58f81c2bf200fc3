// Orders on other terms in plain words. Nothing is said that the rows do not have.
import type { AlternativeJson, CounterfactualJson } from "../../../../../src/dashboard-api/schemas.ts";
import { grouped, magnitude, signOf, trimZeros } from "../../../ui/figures/decimals.ts";

type Terms = Pick<AlternativeJson, "profile" | "latencyMs">;

/** What terms they are. */
export function termsInWords({ profile, latencyMs }: Terms): string {
  switch (profile) {
    case "standard":
      return "Standard: whole, at the best price";
    case "strict":
      return latencyMs === 0 ? "Strict, no latency" : `Strict, ${latencyMs} ms latency`;
    case "own":
      return `As it was, ${grouped(String(latencyMs))} ms latency`;
  }
}

/** What became of the order on these terms. */
export function statusInWords({ status, profile }: Pick<AlternativeJson, "status" | "profile">): string {
  switch (status) {
    case "FILLED":
      return "Filled";
    case "PARTIALLY_FILLED":
      return profile === "own" ? "Partly filled" : "Partly filled, and still open then";
    case "NEW":
      return profile === "own" ? "Open" : "Still open then";
    case "CANCELED":
      return "Canceled";
    case "EXPIRED":
      return "Expired";
    case "REJECTED":
      return "Would be rejected";
  }
}

/** What the terms would have changed: a difference is what they cost more. */
export function differenceInWords(difference: string | null, asset: string): string {
  if (difference === null) return "Not comparable";
  const sign = signOf(difference);
  if (sign === 0) return "The same";
  return `${grouped(trimZeros(magnitude(difference)))} ${asset} ${sign < 0 ? "better" : "worse"}`;
}

/** Why there are no rows; null where there are some. */
export function absenceInWords(state: CounterfactualJson["state"]): string | null {
  switch (state) {
    case "COMPLETE":
      return null;
    case "RUNNING":
      return "Still being computed: the order has to end, and the slowest alternative to arrive.";
    case "WINDOW_GONE":
      return "Not known: the server was restarted, market data was missed, or too many orders were compared at a time.";
    case "NONE":
      return "Stops and the service's own orders are not compared: they begin at the exchange.";
  }
}
