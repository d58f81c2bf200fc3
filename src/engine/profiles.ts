// Fill profiles: what trading costs. Values, handed to `decide`.
import type { FillProfile, StrategyType } from "../domain/account.ts";
import { decimal } from "../money/decimal.ts";

/**
 * The specification's own rules: 0.1 % a side on spot, 0.02 % and 0.05 % on futures. Source: specification
 * section 1.
 */
export const STANDARD: { readonly [T in StrategyType]: FillProfile } = {
  SPOT: { makerFee: decimal("0.001"), takerFee: decimal("0.001") },
  FUTURES: { makerFee: decimal("0.0002"), takerFee: decimal("0.0005") },
};
