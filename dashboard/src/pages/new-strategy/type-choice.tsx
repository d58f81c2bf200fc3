// Spot or Futures, with what each means.

import type { StrategyType } from "../../../../src/dashboard-api/schemas.ts";
import { TYPES } from "../../strategies/type-words.ts";
import { RadioCard } from "../../ui/forms/radio-card.tsx";

type TypeChoiceProps = { value: StrategyType; onChange: (type: StrategyType) => void };

export function TypeChoice({ value, onChange }: TypeChoiceProps) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-sm">Type</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {(["SPOT", "FUTURES"] as const).map((type) => (
          <RadioCard
            key={type}
            name="type"
            value={type}
            isChosen={type === value}
            onChoose={() => onChange(type)}
            title={TYPES[type].name}
            aside={<span className="numeric">{TYPES[type].balance}</span>}
            says={TYPES[type].says}
          />
        ))}
      </div>
      <p className="mt-1 text-ink-soft text-sm">
        The starting balance is virtual. The type cannot be changed later.
      </p>
    </fieldset>
  );
}
