// Decisions by themselves: `decide` and `apply` on a thousand accounts, in a mix of what traders do.
import type { Account, StrategyType } from "../../src/domain/account.ts";
import type { Command } from "../../src/domain/command.ts";
import type { Market } from "../../src/domain/market.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide } from "../../src/engine/decide.ts";
import type { Circumstances } from "../../src/engine/decision.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";

export type DecisionMix = {
  readonly type: StrategyType;
  readonly market: Market;
  /** Commands executed before, for every account; not counted. */
  readonly before: readonly Command[];
  /** The commands of every account, repeated in this order; each receives the number of the newest order. */
  readonly script: readonly ((newest: number) => Command)[];
  readonly refusedInScript: number;
  /** Its description. */
  readonly text: string;
};

const ACCOUNTS = 1_000;
const CYCLES = 10;
const AT = 1_790_000_000_000;

/** One pass over new accounts: decisions per second, each applied. */
export function decisionsPerSecond({ type, market, before, script, refusedInScript }: DecisionMix): number {
  const circumstances = { market, at: AT };
  const accounts = Array.from(
    { length: ACCOUNTS },
    (_, index) => openStrategy(`s${index}`, type, AT).account,
  );
  for (const account of accounts) {
    for (const command of before) {
      if (!carryOut(account, command, circumstances)) throw new Error("what comes before is not refused");
    }
  }
  let decided = 0;
  let refused = 0;
  const start = performance.now();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    for (const next of script) {
      for (const account of accounts) {
        if (!carryOut(account, next(account.nextOrderId - 1), circumstances)) refused += 1;
        decided += 1;
      }
    }
  }
  const seconds = (performance.now() - start) / 1_000;
  const expected = (decided * refusedInScript) / script.length;
  if (refused !== expected)
    throw new Error(`of ${decided} decisions ${refused} were refused, not ${expected}`);
  return decided / seconds;
}

/** Decides a command and applies what happened; answers whether anything did. */
export function carryOut(account: Account, command: Command, circumstances: Circumstances): boolean {
  const decision = decide(account, command, circumstances);
  if (isRefusal(decision)) return false;
  for (const event of decision.events) apply(account, event);
  return true;
}
