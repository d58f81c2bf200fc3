// The fill profile of a strategy as its form has it: which one, the terms of `strict`, and the fee tiers that
// there are. Source: strict fills, section 1.
import { z } from "zod";
import type { StrategyType } from "../domain/account.ts";
import { FEE_DISCOUNTS, FEE_TIERS, type FillProfile, QUEUE_MODELS } from "../domain/fill-profile.ts";
import {
  isLatencyAllowed,
  LATENCY_RULE,
  REFRESH_MS_MAX,
  STRICT_DEFAULTS,
  strictProfile,
  type TierTable,
} from "../engine/matching/terms.ts";
import { DashboardError } from "./errors.ts";
import type { feeTierSchema } from "./schemas/strategies.ts";

/** What is left out has its default; `standard` has no terms. */
export const PROFILE_FIELDS = {
  profile: z.enum(["standard", "strict"]).optional(),
  latencyMs: z
    .union([z.number(), z.strictObject({ p50: z.number(), p90: z.number(), p99: z.number() })])
    .refine(isLatencyAllowed, `is ${LATENCY_RULE}`)
    .optional(),
  queue: z.enum(QUEUE_MODELS).optional(),
  refreshMs: z.int().min(0).max(REFRESH_MS_MAX).optional(),
  fees: z.enum(FEE_TIERS).optional(),
  discount: z.enum(FEE_DISCOUNTS).optional(),
};
type ProfileFields = z.output<z.ZodObject<typeof PROFILE_FIELDS>>;

/**
 * The profile that a form chooses for a strategy of a type; undefined for `standard`. Throws BODY_UNFIT for
 * terms without `strict`, and for a fee tier whose rates are not known.
 */
export function chosenProfile(
  type: StrategyType,
  { profile = "standard", ...terms }: ProfileFields,
  tiers: TierTable,
): FillProfile | undefined {
  const { latencyMs, queue, refreshMs, fees, discount } = terms;
  if (profile === "standard") {
    const given = Object.entries({ latencyMs, queue, refreshMs, fees, discount }).filter(
      ([, term]) => term !== undefined,
    );
    if (given.length === 0) return undefined;
    const fields = Object.fromEntries(given.map(([name]) => [name, "is a term of the profile strict"]));
    throw new DashboardError("BODY_UNFIT", { fields });
  }
  const chosen = strictProfile(
    type,
    {
      ...STRICT_DEFAULTS,
      latency: latencyMs ?? STRICT_DEFAULTS.latency,
      queue: queue ?? STRICT_DEFAULTS.queue,
      refreshMs: refreshMs ?? STRICT_DEFAULTS.refreshMs,
      feeTier: fees ?? STRICT_DEFAULTS.feeTier,
      feeDiscount: discount ?? STRICT_DEFAULTS.feeDiscount,
    },
    tiers,
  );
  if (chosen !== null) return chosen;
  const fault = `has no known rates for ${type.toLowerCase()}`;
  throw new DashboardError("BODY_UNFIT", { fields: { fees: fault } });
}

/** The fee tiers whose rates are known, in order, of both types. */
export function feeTierRows(tiers: TierTable): z.output<typeof feeTierSchema>[] {
  return (["SPOT", "FUTURES"] as const).flatMap((type) =>
    FEE_TIERS.flatMap((tier) => {
      const rates = tiers[type][tier];
      return rates === undefined ? [] : [{ type, tier, ...rates }];
    }),
  );
}

/** The terms of `strict` as the audit trail has them; nothing for `standard`. */
export function termsInAudit(profile: FillProfile | undefined): Readonly<Record<string, string>> {
  if (profile?.strict == null) return {};
  const { latency, queue, refreshMs, feeTier, feeDiscount } = profile.strict;
  const latencyMs = JSON.stringify(latency);
  return {
    profile: profile.name,
    latencyMs,
    queue,
    refreshMs: `${refreshMs}`,
    fees: feeTier,
    discount: feeDiscount,
  };
}
