// The settings of a copy in a form: how much of the balance, a preset of limits, and under "Settings" each of
// them.

import { type ReactNode, useState } from "react";
import type { StrategyType } from "../../../src/dashboard-api/schemas.ts";
import { Checkbox, Field, RadioCard, Select, TextInput } from "../ui/forms/field.tsx";
import {
  PRESET_NAMES,
  type PresetName,
  presetFor,
  presetOf,
  type SettingsForm,
  type SizeBy,
} from "./settings.ts";

type SettingsFieldsProps = {
  type: StrategyType;
  form: SettingsForm;
  onChange: (changes: Partial<SettingsForm>) => void;
  errors: { readonly [Name in keyof SettingsForm]?: string | undefined };
  /** Of a copy that has started: what the strategy held then is no choice any more. */
  isRunning?: boolean;
};

export function SettingsFields(props: SettingsFieldsProps) {
  const { type, form, onChange, errors, isRunning = false } = props;
  const [isOpen, setIsOpen] = useState(isRunning);
  const hasHiddenError = Object.keys(errors).some((name) => name !== "share");
  return (
    <>
      <ShareField form={form} onChange={onChange} error={errors.share} />
      <PresetChoice type={type} form={form} onChange={onChange} />
      {!isRunning && (
        <Checkbox
          label="Also open what the strategy holds now"
          hint="At the market’s price, when the copy starts, within your limits. Otherwise only new orders are copied."
          name="copyExisting"
          checked={form.copyExisting}
          onChange={({ target }) => onChange({ copyExisting: target.checked })}
          error={errors.copyExisting}
        />
      )}
      <details
        className="border-line border-t pt-3"
        open={isOpen || hasHiddenError}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary className="cursor-pointer font-medium">Settings</summary>
        <div className="mt-4 flex flex-col gap-6">
          {GROUPS.map(({ title, limits }) => (
            <Group key={title} title={title}>
              {title === "Size" && <SizeFields {...props} />}
              {limits.map(
                ([name, label, hint]) =>
                  (name !== "leverageMax" || type === "FUTURES") && (
                    <Limit key={name} {...props} name={name} label={label} hint={hint} />
                  ),
              )}
            </Group>
          ))}
        </div>
      </details>
    </>
  );
}

function ShareField({
  form,
  onChange,
  error,
}: Pick<SettingsFieldsProps, "form" | "onChange"> & { error: string | undefined }) {
  return (
    <Field
      label="Share of the balance"
      hint="The copy trades as if the account had only this share of its balance."
      error={error}
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
  );
}

/** In this order; what each says depends on the kind of the strategy. */
const PRESET_WORDS: Readonly<
  Record<PresetName, { readonly name: string; readonly says: (isFutures: boolean) => string }>
> = {
  PROTECTED: {
    name: "Protected",
    says: (isFutures) =>
      `${isFutures ? "Leverage up to 5, a position up to 2 times and all up to 5 times the equity. " : ""}Slippage up to 0.5 % (BTC, ETH) or 1.5 %, a loss per day up to 10 %, stop loss at −20 %, up to 30 opening orders a minute.`,
  },
  EXACT: {
    name: "Exactly as the strategy",
    says: (isFutures) =>
      `Every order, scaled${isFutures ? ", at the strategy’s leverage" : ""}. No limits and no stop loss.`,
  },
};

function PresetChoice({ type, form, onChange }: Pick<SettingsFieldsProps, "type" | "form" | "onChange">) {
  const chosen = presetOf(type, form);
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-sm">Limits</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {PRESET_NAMES.map((name) => (
          <RadioCard
            key={name}
            name="preset"
            value={name}
            isChosen={name === chosen}
            onChoose={() => onChange(presetFor(type, name))}
            title={PRESET_WORDS[name].name}
            says={PRESET_WORDS[name].says(type === "FUTURES")}
          />
        ))}
      </div>
      <p role="status" className="mt-1 text-ink-soft text-sm">
        {chosen === null
          ? "Your own limits, as set below."
          : "Each of them can be changed under “Settings” below."}
      </p>
    </fieldset>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="min-w-0">
      <legend className="mb-2 font-medium">{title}</legend>
      <div className="grid items-start gap-5 sm:grid-cols-2">{children}</div>
    </fieldset>
  );
}

/** Fields that are one text. */
type TextName = Exclude<keyof SettingsForm, "copyExisting" | "sizeBy">;
type LimitProps = SettingsFieldsProps & {
  name: TextName;
  label: string;
  hint: string;
};

/** The fields of each group: name, label and hint. */
const GROUPS: readonly {
  readonly title: string;
  readonly limits: readonly (readonly [name: TextName, label: string, hint: string])[];
}[] = [
  {
    title: "Size",
    limits: [
      ["budget", "Budget, USDT", "The copy works with at most this."],
      [
        "maxPerOrder",
        "Maximum per order, USDT",
        "An order that opens or increases is cut to this value. Empty: no limit.",
      ],
    ],
  },
  {
    title: "Positions",
    limits: [
      [
        "leverageMax",
        "Highest leverage",
        "A higher leverage of the strategy is lowered to this. Empty: the strategy’s.",
      ],
      [
        "positionMax",
        "Maximum of one position, times the equity",
        "Openings are cut to this value. 2 is twice what the copy uses.",
      ],
      [
        "exposureMax",
        "Maximum of all positions, times the equity",
        "Open orders that may open something count as well.",
      ],
      ["symbols", "Symbols", "The only ones that are opened, such as BTCUSDT ETHUSDT. Empty: all."],
    ],
  },
  {
    title: "Orders",
    limits: [
      [
        "slippageMajor",
        "Slippage of BTC and ETH, %",
        "An opening at the market is skipped if the exchange’s price is worse than the strategy’s by more.",
      ],
      ["slippageOther", "Slippage of all others, %", "Exits are sent at any price."],
      ["ordersPerMinuteMax", "Opening orders per minute", "More are skipped. Exits do not count."],
      [
        "closeAfterSeconds",
        "Close missed exits after, seconds",
        "If the strategy’s exit limit was filled and the copy’s was not. Empty: never.",
      ],
    ],
  },
  {
    title: "Loss and gain",
    limits: [
      [
        "stopLoss",
        "Stop loss, % of the equity at the start",
        "At this loss, everything is sold and the copy pauses. Empty: none.",
      ],
      [
        "takeProfit",
        "Take profit, % of the equity at the start",
        "At this gain, everything is sold and the copy pauses. Empty: none.",
      ],
      [
        "lossPerDayMax",
        "Loss per day, % of the equity at 00:00 UTC",
        "While the loss is as large, nothing is opened; it is counted from 0 the next day.",
      ],
    ],
  },
];

function Limit({ name, label, hint, form, onChange, errors }: LimitProps) {
  return (
    <TextInput
      label={label}
      hint={hint}
      name={name}
      inputMode={name === "symbols" ? "text" : "decimal"}
      autoComplete="off"
      value={form[name]}
      onChange={({ target }) => onChange({ [name]: target.value })}
      error={errors[name]}
    />
  );
}

const SIZES: readonly { readonly value: SizeBy; readonly label: string }[] = [
  { value: "RATIO", label: "In proportion to both balances" },
  { value: "FIXED_RATIO", label: "The strategy’s quantity times a fixed ratio" },
  { value: "FIXED_AMOUNT", label: "A fixed amount for each opening" },
];
const FIGURES = {
  FIXED_RATIO: { label: "Ratio", hint: "0.5 is half of the strategy’s quantity." },
  FIXED_AMOUNT: { label: "Amount per opening, USDT", hint: "Exits follow the strategy in proportion." },
} as const;

function SizeFields(props: SettingsFieldsProps) {
  const { form, onChange, errors } = props;
  const { sizeBy } = form;
  return (
    <>
      <Select
        label="Size of openings"
        name="sizeBy"
        value={sizeBy}
        options={SIZES}
        onChange={({ target }) =>
          onChange({ sizeBy: sizeOf(target.value), sizeFigure: target.value === "FIXED_RATIO" ? "1" : "" })
        }
        error={errors.sizeBy}
      />
      {sizeBy !== "RATIO" && <Limit {...props} name="sizeFigure" {...FIGURES[sizeBy]} />}
    </>
  );
}

function sizeOf(value: string): SizeBy {
  return SIZES.find((size) => size.value === value)?.value ?? "RATIO";
}
