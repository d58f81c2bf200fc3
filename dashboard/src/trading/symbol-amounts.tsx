// Prices and quantities of a symbol with the decimals of its tick and its step, so that they stand below one another digit by digit.
// What has more digits than that keeps them.
import { useStrategy } from "../api/strategy.ts";
import { decimalsOfStep, useSymbols } from "../markets/markets.ts";
import { Amount } from "../ui/figures/amounts.tsx";

type SymbolAmountProps = { symbol: string; value: string | null };

export function SymbolPrice({ symbol, value }: SymbolAmountProps) {
  return <Aligned symbol={symbol} value={value} step="tickSize" />;
}

export function SymbolQuantity({ symbol, value }: SymbolAmountProps) {
  return <Aligned symbol={symbol} value={value} step="stepSize" />;
}

function Aligned({ symbol, value, step }: SymbolAmountProps & { step: "tickSize" | "stepSize" }) {
  const { strategy } = useStrategy();
  const { data } = useSymbols(strategy?.type);
  const rules = data?.rows.find((row) => row.symbol === symbol);
  if (value === null || rules === undefined) return <Amount value={value} />;
  return <Amount value={value} decimals={Math.max(decimalsOfStep(rules[step]), decimalsOfStep(value))} />;
}
