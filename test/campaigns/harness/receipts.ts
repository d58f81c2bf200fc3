// Strategies of both fill profiles, and whether the trades of one under `strict` follow from their receipts,
// by the function behind `lyrebird receipt verify`. Under `standard` there is no receipt.
import { checkReceiptsAlone } from "../../../src/cli/receipt-check.ts";
import { readReceipts } from "../../../src/cli/receipt-file.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import {
  type FillProfile,
  type FillProfileName,
  STANDARD,
  type StrictTerms,
} from "../../../src/domain/fill-profile.ts";
import type { Trade } from "../../../src/domain/order.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../../src/engine/matching/terms.ts";
import { presentReceipt } from "../../../src/http/present/strict.ts";
import type { MasterKey } from "../../../src/keys/master-key.ts";
import { type SeededStrategy, seedStrategies } from "../../../src/keys/seed.ts";
import type { Store } from "../../../src/store/store.ts";

export type ProfiledStrategy = SeededStrategy & { readonly profile: FillProfileName };

/** Little latency, so that hardly less is traded than under `standard`; what was taken comes back slowly. */
const STRICT_TERMS: StrictTerms = {
  ...STRICT_DEFAULTS,
  ...{ latency: { p50: 10, p90: 30, p99: 80 }, queue: "power-3", refreshMs: 60_000 },
};
/** More than a strategy makes. */
const TRADES_MAX = 1_000_000;

/** Makes strategies, of four in a row two under `strict`. */
export async function seedBothProfiles(
  store: Store,
  master: MasterKey,
  wanted: readonly StrategyType[],
): Promise<ProfiledStrategy[]> {
  const all: ProfiledStrategy[] = [];
  for (const [index, type] of wanted.entries()) {
    const strict = index % 4 < 2 ? null : strictProfile(type, STRICT_TERMS);
    const profile = strict ?? STANDARD[type];
    const seeded = await seedStrategies(store, master, [type], Date.now(), { profile });
    all.push(...seeded.map((each) => ({ ...each, profile: profile.name })));
  }
  return all;
}

/** Computes every trade of a strategy in a symbol again from its receipt. */
export async function checkStoredReceipts(
  store: Store,
  strategyId: string,
  symbol: string,
): Promise<{ readonly receipts: number; readonly faults: readonly string[] }> {
  const loaded = await store.loadAccount(strategyId);
  const trades = await store.listTrades(strategyId, { symbol, limit: TRADES_MAX });
  return {
    receipts: trades.filter(({ receipt }) => receipt !== undefined).length,
    // That the strategy is gone is what its journal is checked for.
    faults: loaded === null ? [] : receiptFaults(trades, loaded.account),
  };
}

/** What is wrong with the receipts of all trades of a strategy, which ascend. */
export function receiptFaults(
  trades: readonly Trade[],
  { type, profile }: { readonly type: StrategyType; readonly profile: FillProfile },
): string[] {
  const isStrict = profile.name === "strict";
  const faults = trades.flatMap(({ tradeId, receipt }) =>
    (receipt !== undefined) === isStrict
      ? []
      : [`trade ${tradeId} under ${profile.name} has ${isStrict ? "no" : "a"} receipt`],
  );
  if (!isStrict) return faults;
  const bySymbol = Map.groupBy(trades, ({ symbol }) => symbol);
  for (const [symbol, ofSymbol] of bySymbol) {
    const shown = ofSymbol.flatMap((trade) =>
      trade.receipt ? [presentReceipt({ market: type, trade, receipt: trade.receipt, profile })] : [],
    );
    const rows = readReceipts([{ name: symbol, text: JSON.stringify(shown) }]);
    for (const { tradeId, wrong } of checkReceiptsAlone(rows))
      faults.push(...wrong.map((what) => `trade ${tradeId} does not follow from its receipt: ${what}`));
  }
  return faults;
}
