// The terms of the fill profile `strict` as people give them, when a strategy is made; and the fee tiers,
// bundled or from a file. Source: strict fills, section 1.
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { StrategyType } from "../domain/account.ts";
import {
  FEE_DISCOUNTS,
  FEE_TIERS,
  type FeeDiscount,
  type FeeTier,
  type FillProfile,
  type Latency,
  QUEUE_MODELS,
  type QueueModel,
} from "../domain/fill-profile.ts";
import {
  BUNDLED_TIERS,
  isLatencyAllowed,
  LATENCY_RULE,
  STRICT_DEFAULTS,
  strictProfile,
  type TierTable,
} from "../engine/matching/terms.ts";
import { parseDecimal, type Rate, SCALE } from "../money/decimal.ts";
import { ConfigError } from "./config.ts";

const rate = z.string().transform((text, context): Rate => {
  const parsed = parseDecimal(text);
  if (typeof parsed === "bigint" && parsed < SCALE) return parsed as Rate;
  context.addIssue({ code: "custom", message: 'is not a share of one, such as "0.0009"' });
  return z.NEVER;
});
const tiers = z.partialRecord(z.enum(FEE_TIERS), z.strictObject({ maker: rate, taker: rate })).optional();
const tierFile = z.strictObject({ spot: tiers, futures: tiers });

/** The bundled fee tiers, with those of a file in their place. Throws ConfigError if it cannot be read. */
export function feeTiersOf(file: string | null): TierTable {
  if (file === null) return BUNDLED_TIERS;
  const { spot, futures } = readTierFile(file);
  return {
    SPOT: { ...BUNDLED_TIERS.SPOT, ...spot },
    FUTURES: { ...BUNDLED_TIERS.FUTURES, ...futures },
  };
}

function readTierFile(file: string) {
  try {
    return tierFile.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ConfigError(`FEE_TIERS ${JSON.stringify(file)} is no file of fee tiers: ${reason}`);
  }
}

/** The options of the profile, as texts. */
export type ProfileOptions = {
  readonly profile?: string | undefined;
  readonly latency?: string | undefined;
  readonly queue?: string | undefined;
  readonly fees?: string | undefined;
  readonly discount?: string | undefined;
};

/**
 * The profile that options choose for a strategy of a type; undefined for `standard`. Throws ConfigError for
 * values that there are not, and for terms of `strict` without it.
 */
export function profileOf(
  type: StrategyType,
  { profile = "standard", latency, queue, fees, discount }: ProfileOptions,
  tierTable: TierTable,
): FillProfile | undefined {
  if (profile === "standard") {
    const term = Object.entries({ latency, queue, fees, discount }).find(([, value]) => value !== undefined);
    if (term === undefined) return undefined;
    throw new ConfigError(`--${term[0]} is a term of --profile strict`);
  }
  if (profile !== "strict") {
    throw new ConfigError(`--profile is standard or strict, not ${JSON.stringify(profile)}`);
  }
  const terms = {
    ...STRICT_DEFAULTS,
    latency: latency === undefined ? STRICT_DEFAULTS.latency : latencyOption(latency),
    queue: queue === undefined ? STRICT_DEFAULTS.queue : oneOf<QueueModel>("queue", QUEUE_MODELS, queue),
    feeTier: fees === undefined ? STRICT_DEFAULTS.feeTier : oneOf<FeeTier>("fees", FEE_TIERS, fees),
    feeDiscount:
      discount === undefined
        ? STRICT_DEFAULTS.feeDiscount
        : oneOf<FeeDiscount>("discount", FEE_DISCOUNTS, discount),
  };
  const chosen = strictProfile(type, terms, tierTable);
  if (chosen !== null) return chosen;
  throw new ConfigError(
    `the rates of ${terms.feeTier} are not known for ${type.toLowerCase()}: FEE_TIERS names a file that has them`,
  );
}

/** `80`, or the quantiles `50/120/400`. */
function latencyOption(text: string): Latency {
  const [p50 = Number.NaN, p90, p99] = text.split("/").map(Number);
  const latency = p90 === undefined || p99 === undefined ? p50 : { p50, p90, p99 };
  if (/^\d{1,4}(\/\d{1,4}\/\d{1,4})?$/.test(text) && isLatencyAllowed(latency)) return latency;
  throw new ConfigError(
    `--latency in ms is ${LATENCY_RULE}, such as 50/120/400; not ${JSON.stringify(text)}`,
  );
}

function oneOf<Value extends string>(option: string, values: readonly Value[], text: string): Value {
  const value = values.find((each) => each === text);
  if (value !== undefined) return value;
  throw new ConfigError(`--${option} is one of ${values.join(", ")}, not ${JSON.stringify(text)}`);
}
