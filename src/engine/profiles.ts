// Fill profiles: what trading costs. Values, handed to `decide`.
import type { FillProfile } from "../domain/account.ts";
import { decimal } from "../money/decimal.ts";

/** The specification's own rules: 0.1 % a side. Source: specification section 1. */
export const STANDARD_SPOT: FillProfile = { makerFee: decimal("0.001"), takerFee: decimal("0.001") };
