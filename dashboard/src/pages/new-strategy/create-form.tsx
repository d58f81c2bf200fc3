// Name, type, fill profile and key of a new strategy.

import { useQuery } from "@tanstack/react-query";
import type {
  FeeDiscount,
  FeeTier,
  FillProfileJson,
  KeyJson,
  QueueModel,
  StrategyJson,
  StrategyType,
} from "../../../../src/dashboard-api/schemas.ts";
import { call, outdate } from "../../api/call.ts";
import { feeTiersQuery } from "../../api/strategy.ts";
import { PROFILES, QUEUES, ratesInWords, tierInWords } from "../../strategies/fill-profile.tsx";
import { TYPES } from "../../strategies/type-words.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/card.tsx";
import { RadioCard, Select, TextInput } from "../../ui/forms/field.tsx";
import { type Form, useForm } from "../../ui/forms/form.tsx";

export const NAME_LENGTH_MAX = 60;

type Values = {
  readonly name: string;
  readonly type: StrategyType;
  readonly keyId: string;
  readonly profile: FillProfileJson["name"];
  /** As typed. */
  readonly latencyMs: string;
  readonly refreshMs: string;
  readonly queue: QueueModel;
  readonly fees: FeeTier;
  readonly discount: FeeDiscount;
};

/** The server's own defaults. */
const STRICT_TERMS = {
  latencyMs: "50",
  refreshMs: "5000",
  queue: "trades",
  fees: "regular",
  discount: "none",
} as const;

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
    first: { name: "", type: "SPOT", keyId: chosen?.keyId ?? "", profile: "standard", ...STRICT_TERMS },
    send: ({ name, type, keyId, profile, latencyMs, queue, refreshMs, fees, discount }: Values) =>
      call("POST /strategies", {
        ...{ name, type, keyId },
        // What the profile does not have is not sent.
        ...(profile === "strict" && {
          ...{ profile, queue, fees, discount },
          latencyMs: latencyIn(latencyMs),
          refreshMs: wholeNumber(refreshMs),
        }),
      }),
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
      <TypeChoice value={form.values.type} onChange={(type) => form.set({ type, fees: STRICT_TERMS.fees })} />
      <ProfileChoice form={form} />
      <Select
        label="API key"
        hint="It trades on this strategy only. The list has your live keys that are not bound to an open strategy. If you choose the key of a closed strategy, it can no longer read that strategy."
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

// How orders are filled. Standard has no terms, so those of strict show only with it.

function ProfileChoice({ form }: { form: Pick<Form<Values>, "values" | "set" | "control"> }) {
  const { profile } = form.values;
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium text-sm">Fill profile</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        {(["standard", "strict"] as const).map((each) => (
          <RadioCard
            key={each}
            name="profile"
            value={each}
            isChosen={each === profile}
            onChoose={() => form.set({ profile: each })}
            title={PROFILES[each].name}
            says={PROFILES[each].says}
          />
        ))}
      </div>
      <p className="mt-1 text-ink-soft text-sm">The profile cannot be changed later.</p>
      {profile === "strict" && <StrictTerms form={form} />}
    </fieldset>
  );
}

function StrictTerms({ form }: { form: Pick<Form<Values>, "values" | "control"> }) {
  const tiers = useQuery(feeTiersQuery).data?.rows.filter(({ type }) => type === form.values.type);
  const known = tiers?.map((each) => ({
    value: each.tier,
    label: `${tierInWords(each.tier)}: ${ratesInWords(each)}`,
  }));
  return (
    <div className="mt-4 grid items-start gap-4 sm:grid-cols-2">
      <TextInput
        label="Latency in ms"
        hint="How long an order or a cancel takes to reach the exchange: 0 to 5,000. Or drawn for each of them: the median, 90 % and 99 %, such as 50/120/400."
        autoComplete="off"
        required
        {...form.control("latencyMs")}
      />
      <TextInput
        label="Refresh in ms"
        hint="How long it takes until what you took from the book is there for you again: 0 to 60,000."
        inputMode="numeric"
        autoComplete="off"
        required
        {...form.control("refreshMs")}
      />
      <Select
        label="Canceled orders of others"
        hint="Which of them were in front of your open order; the first choice fills you latest."
        options={Object.entries(QUEUES).map(([value, label]) => ({ value, label }))}
        {...form.control("queue")}
      />
      <Select
        label="Fee tier"
        hint="The rates that the strategy pays for its trades."
        options={known ?? [{ value: form.values.fees, label: tierInWords(form.values.fees) }]}
        {...form.control("fees")}
      />
      <Select
        label="Fee discount"
        hint="Fees are charged in the usual asset either way: the strategy holds no BNB."
        options={DISCOUNTS}
        {...form.control("discount")}
      />
    </div>
  );
}

const DISCOUNTS: readonly { value: FeeDiscount; label: string }[] = [
  { value: "none", label: "None" },
  { value: "bnb", label: "As if paid in BNB" },
];

/** `50`, or the quantiles `50/120/400`. */
function latencyIn(text: string) {
  const [p50 = Number.NaN, p90, p99, ...others] = text.split("/").map(wholeNumber);
  if (p90 === undefined) return p50;
  return others.length === 0 && p99 !== undefined ? { p50, p90, p99 } : Number.NaN;
}

/** What was typed, as the server is to judge it: a text that is no whole number stays one. */
function wholeNumber(text: string): number {
  return /^\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
}
