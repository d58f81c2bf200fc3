// How a strategy begins: with its virtual seed, posted like any other money.
import { type Account, emptyAccount, type Seed, type StrategyType } from "../domain/account.ts";
import type { StrategyOpened } from "../domain/event.ts";
import { type FillProfile, STANDARD } from "../domain/fill-profile.ts";
import type { Income } from "../domain/income.ts";
import { decimal } from "../money/decimal.ts";
import { apply } from "./apply.ts";

/** The starting balance of a strategy. Source: specification section 1. */
const SEEDS: { readonly [T in StrategyType]: Seed } = {
  SPOT: { asset: "USDT", amount: decimal("200") },
  FUTURES: { asset: "USDT", amount: decimal("1000") },
};

/** The starting balance by type; its asset is the strategy's unit. */
export function seedOf(type: StrategyType): Seed {
  return SEEDS[type];
}

/**
 * A new account, its first event and the incomes of that. `at` is market time, Unix ms. The profile is
 * `standard` unless another one is given.
 */
export function openStrategy(
  strategyId: string,
  type: StrategyType,
  at: number,
  profile: FillProfile = STANDARD[type],
): { account: Account; event: StrategyOpened; incomes: readonly Income[] } {
  const { asset, amount } = SEEDS[type];
  const event: StrategyOpened = {
    type: "StrategyOpened",
    at,
    ...(profile.strict !== null && { profile }),
    postings: [{ from: "seed", to: "free", asset, amount }],
  };
  const account = emptyAccount(strategyId, type);
  const { incomes } = apply(account, event);
  return { account, event, incomes };
}
