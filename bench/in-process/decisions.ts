// Decisions by themselves: `decide` and `apply` on a thousand accounts, in a mix of what traders do.
import type { Account, StrategyType } from "../../src/domain/account.ts";
import type { Command } from "../../src/domain/command.ts";
import type { FillProfile } from "../../src/domain/fill-profile.ts";
import type { Market } from "../../src/domain/market.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { apply } from "../../src/engine/apply.ts";
import { decide } from "../../src/engine/decide.ts";
import type { Circumstances } from "../../src/engine/decision.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { openStrategy } from "../../src/engine/open-strategy.ts";

export type DecisionMix = {
  readonly type: StrategyType;
  /** `standard` where it is absent. */
  readonly profile?: FillProfile;
  readonly market: Market;
  /** Commands executed before, for every account; not counted. */
  readonly before: readonly Command[];
  /**
   * The commands of every account, repeated in this order; each receives the number of the newest order and
   * the market time, Unix ms.
   */
  readonly script: readonly ((newest: number, at: number) => Command)[];
  readonly refusedInScript: number;
  /** Its description. */
  readonly text: string;
};

/** The usual terms of `strict`, without a latency: a client that waits for its answers would measure that. */
export const STRICT_SPOT = strictSpot();

const ACCOUNTS = 1_000;
const CYCLES = 10;
const AT = 1_790_000_000_000;
/** Between two commands of an account, ms. */
const PAUSE_MS = 1_000;

/** One pass over new accounts: decisions per second, each applied. */
export function decisionsPerSecond(mix: DecisionMix): number {
  const { type, profile, market, before, script, refusedInScript } = mix;
  const accounts = Array.from(
    { length: ACCOUNTS },
    (_, index) => openStrategy(`s${index}`, type, AT, profile).account,
  );
  for (const account of accounts) {
    for (const command of before) {
      if (!carryOut(account, command, { market, at: AT }))
        throw new Error("what comes before is not refused");
    }
  }
  let decided = 0;
  let refused = 0;
  let at = AT;
  const start = performance.now();
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    for (const next of script) {
      at += PAUSE_MS;
      const circumstances = { market, at };
      for (const account of accounts) {
        if (!carryOut(account, next(account.nextOrderId - 1, at), circumstances)) refused += 1;
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

function strictSpot(): FillProfile {
  const profile = strictProfile("SPOT", { ...STRICT_DEFAULTS, latency: 0 });
  if (profile === null) throw new Error("the first fee tier is bundled");
  return profile;
}
