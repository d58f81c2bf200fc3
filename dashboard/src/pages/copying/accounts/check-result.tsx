// What the exchange said of an account, point by point.

import type { AccountCheckJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Amount, AvailableAmount, Facts, fact } from "../../../ui/figures/figures.tsx";

type Check = AccountCheckJson["checks"][number];

export function CheckResult({ check }: { check: AccountCheckJson }) {
  const { checks, wallet, available, asset } = check;
  return (
    <>
      <ul aria-label="What was checked" className="flex flex-col gap-2">
        {checks.map(({ name, isGood, words }) => {
          const { sign, word, look } = lookOf(isGood);
          return (
            <li key={name} className="grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-2">
              <span
                aria-hidden="true"
                className={`mt-0.5 flex size-5 items-center justify-center rounded-full border text-xs ${look}`}
              >
                {sign}
              </span>
              <span className="min-w-0">
                <span className="block font-medium">
                  {NAMES[name]}
                  <span className="sr-only">: {word}</span>
                </span>
                <span className="block break-words text-ink-soft text-sm">{words}</span>
              </span>
            </li>
          );
        })}
      </ul>
      <Facts
        facts={[
          fact("Balance", <Amount value={wallet} decimals={2} asset={asset} />),
          fact("Available", <AvailableAmount value={available} decimals={2} asset={asset} />),
        ]}
      />
    </>
  );
}

const NAMES: Readonly<Record<Check["name"], string>> = {
  KEY: "Key and secret",
  BALANCE: "Reading the balance",
  TRADING: "Permission to trade",
  WITHDRAWAL: "Permission to withdraw",
  POSITION_MODE: "Position mode",
};

function lookOf(isGood: boolean | null): { sign: string; word: string; look: string } {
  if (isGood === null) return { sign: "?", word: "unknown", look: "border-line-strong text-ink-soft" };
  return isGood
    ? { sign: "✓", word: "OK", look: "border-gain bg-gain-soft text-gain" }
    : { sign: "✕", word: "not OK", look: "border-loss bg-loss-soft text-loss" };
}
