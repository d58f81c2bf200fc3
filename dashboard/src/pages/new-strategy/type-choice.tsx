// Spot or Futures, with what each means.
import type { StrategyType } from "../../../../src/dashboard-api/schemas.ts";
import { TYPES } from "../../strategies/type-words.ts";

type TypeChoiceProps = { value: StrategyType; onChange: (type: StrategyType) => void };

export function TypeChoice({ value, onChange }: TypeChoiceProps) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-sm">Type</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {(["SPOT", "FUTURES"] as const).map((type) => (
          <label
            key={type}
            className="flex cursor-pointer gap-3 rounded-md border border-line-strong px-3 py-2.5 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2"
          >
            <input
              type="radio"
              name="type"
              value={type}
              checked={type === value}
              onChange={() => onChange(type)}
              className="mt-1 size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              <span className="flex flex-wrap justify-between gap-x-3">
                <span className="font-medium">{TYPES[type].name}</span>
                <span className="numeric">{TYPES[type].balance}</span>
              </span>
              <span className="mt-0.5 block text-ink text-sm">{TYPES[type].says}</span>
            </span>
          </label>
        ))}
      </div>
      <p className="mt-1 text-ink-soft text-sm">
        The starting balance is virtual. The type cannot be changed later.
      </p>
    </fieldset>
  );
}
