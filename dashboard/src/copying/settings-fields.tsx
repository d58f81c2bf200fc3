// The settings of a copy in a form: how much of the balance, at most how much an order, and where it ends.
import { Field } from "../ui/field.tsx";
import { TextInput } from "../ui/text-input.tsx";
import type { SettingsForm } from "./settings.ts";

type SettingsFieldsProps = {
  form: SettingsForm;
  onChange: (changes: Partial<SettingsForm>) => void;
  errors: { readonly [Name in keyof SettingsForm]?: string | undefined };
};

export function SettingsFields({ form, onChange, errors }: SettingsFieldsProps) {
  return (
    <>
      <Field
        label="Share of the balance"
        hint="The copy trades as if the account had only this share of its balance."
        error={errors.share}
      >
        {(control) => (
          <div className="flex items-center gap-3">
            <input
              type="range"
              aria-label="Share of the balance, slider"
              min={1}
              max={100}
              step={1}
              // A share that is typed may lie between two of its steps.
              value={/^\d+(\.\d+)?$/.test(form.share) ? form.share : "1"}
              onChange={({ target }) => onChange({ share: target.value })}
              className="min-w-0 grow accent-accent"
            />
            <span className="flex shrink-0 items-center gap-1.5">
              <input
                {...control}
                name="share"
                inputMode="decimal"
                autoComplete="off"
                required
                value={form.share}
                onChange={({ target }) => onChange({ share: target.value })}
                className="numeric min-h-9 w-20 rounded-md border border-line-strong bg-surface px-3 py-1.5 text-right text-base aria-invalid:border-loss"
              />
              %
            </span>
          </div>
        )}
      </Field>
      <div className="grid gap-5 sm:grid-cols-2">
        <TextInput
          label="Maximum per order, USDT"
          hint="An order that opens or increases is cut to this value. Empty: no limit."
          name="maxPerOrder"
          inputMode="decimal"
          autoComplete="off"
          value={form.maxPerOrder}
          onChange={({ target }) => onChange({ maxPerOrder: target.value })}
          error={errors.maxPerOrder}
        />
        <TextInput
          label="Stop loss, % of the equity at the start"
          hint="At this loss, everything is sold and the copy pauses. Empty: none."
          name="stopLoss"
          inputMode="decimal"
          autoComplete="off"
          value={form.stopLoss}
          onChange={({ target }) => onChange({ stopLoss: target.value })}
          error={errors.stopLoss}
        />
      </div>
    </>
  );
}
