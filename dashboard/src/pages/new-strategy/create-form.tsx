// Name, type and key of a new strategy.

import type { KeyJson, StrategyJson, StrategyType } from "../../../../src/dashboard-api/schemas.ts";
import { call, outdate } from "../../api/call.ts";
import { TYPES } from "../../strategies/type-words.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/card.tsx";
import { RadioCard, Select, TextInput } from "../../ui/forms/field.tsx";
import { useForm } from "../../ui/forms/form.tsx";

export const NAME_LENGTH_MAX = 60;

type CreateFormProps = {
  /** Those that are free; at least one. */
  keys: readonly KeyJson[];
  /** Chosen beforehand, if it is among them. */
  keyId: string | undefined;
  onCreated: (strategy: StrategyJson) => void;
};

export function CreateForm({ keys, keyId, onCreated }: CreateFormProps) {
  const chosen = keys.find((key) => key.keyId === keyId) ?? (keys.length === 1 ? keys[0] : undefined);
  const form = useForm({
    first: { name: "", type: "SPOT" as StrategyType, keyId: chosen?.keyId ?? "" },
    send: (values) => call("POST /strategies", values),
    onDone: (strategy) => {
      onCreated(strategy);
      outdate(["strategies"], ["keys"]);
    },
  });
  return (
    <form onSubmit={form.onSubmit} className="flex flex-col gap-5">
      <TextInput
        label="Name"
        hint="Bots don’t see it; copiers do, if you open the strategy to them. You can change it later."
        autoComplete="off"
        required
        maxLength={NAME_LENGTH_MAX}
        {...form.control("name")}
      />
      <TypeChoice value={form.values.type} onChange={(type) => form.set({ type })} />
      <Select
        label="API key"
        hint="It trades on this strategy only. The list has your live keys that are not bound to an open strategy."
        required
        placeholder="Choose a key"
        options={keys.map((key) => ({ value: key.keyId, label: `${key.label} · …${key.apiKey.slice(-8)}` }))}
        {...form.control("keyId")}
      />
      {form.error !== null && <ErrorNote error={form.error} />}
      <div className="flex flex-wrap justify-end gap-2 border-line border-t pt-4">
        <ButtonLink to="/strategies" kind="quiet">
          Cancel
        </ButtonLink>
        <Button type="submit" kind="primary" isBusy={form.isBusy}>
          Create the strategy
        </Button>
      </div>
    </form>
  );
}

// Spot or Futures, with what each means.

type TypeChoiceProps = { value: StrategyType; onChange: (type: StrategyType) => void };

function TypeChoice({ value, onChange }: TypeChoiceProps) {
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
