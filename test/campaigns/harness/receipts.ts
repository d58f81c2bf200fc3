// Whether the trades of a strategy under `strict` follow from their receipts, by the function behind
// `lyrebird receipt verify`. Under `standard` there is no receipt.
import { checkReceiptsAlone } from "../../../src/cli/receipt-check.ts";
import { readReceipts } from "../../../src/cli/receipt-file.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { FillProfile } from "../../../src/domain/fill-profile.ts";
import type { Trade } from "../../../src/domain/order.ts";
import { presentReceipt } from "../../../src/http/present/strict.ts";

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
