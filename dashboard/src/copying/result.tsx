// What a copy has made of the equity that it began with.
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { Percent, SignedAmount } from "../ui/figures/amounts.tsx";
import { roundedDifference } from "../ui/figures/decimals.ts";

type ResultProps = { copy: Pick<CopyJson, "equity" | "startEquity" | "resultRate" | "asset"> };

/** A dash until the exchange has been asked. */
export function Result({ copy: { equity, startEquity, resultRate, asset } }: ResultProps) {
  const profit = equity === null || startEquity === null ? null : roundedDifference(equity, startEquity, 2);
  return (
    <span className="inline-flex flex-col items-end">
      <SignedAmount value={profit} decimals={2} asset={asset} />
      {resultRate !== null && (
        <span className="text-xs">
          <Percent rate={resultRate} isSigned />
        </span>
      )}
    </span>
  );
}
