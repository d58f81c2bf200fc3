// Name, type and key of a new strategy.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { KeyShape, StrategyShape, StrategyType } from "../../../../src/dashboard/shapes.ts";
import { call } from "../../api/call.ts";
import { asApiError } from "../../api/error.ts";
import { Button, buttonLook } from "../../ui/button.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextInput } from "../../ui/forms/text-input.tsx";
import { ErrorNote } from "../../ui/note.tsx";
import { TypeChoice } from "./type-choice.tsx";

export const NAME_LENGTH_MAX = 60;

type CreateFormProps = {
  /** Those that are free; at least one. */
  keys: readonly KeyShape[];
  /** Chosen beforehand, if it is among them. */
  keyId: string | undefined;
  onCreated: (strategy: StrategyShape) => void;
};

export function CreateForm({ keys, keyId, onCreated }: CreateFormProps) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [type, setType] = useState<StrategyType>("SPOT");
  const [chosen, setChosen] = useState(
    (keys.find((key) => key.keyId === keyId) ?? (keys.length === 1 ? keys[0] : undefined))?.keyId ?? "",
  );
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<StrategyShape>("POST", "/strategies", { name, type, keyId: chosen }),
    onSuccess: async (strategy) => {
      onCreated(strategy);
      await Promise.all([
        queries.invalidateQueries({ queryKey: ["strategies"] }),
        queries.invalidateQueries({ queryKey: ["keys"] }),
      ]);
    },
  });
  const { fields } = asApiError(error ?? new Error());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <TextInput
        label="Name"
        hint="Bots don’t see it; copiers do, if you open the strategy to them. You can change it later."
        name="name"
        autoComplete="off"
        required
        maxLength={NAME_LENGTH_MAX}
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={fields.name}
      />
      <TypeChoice value={type} onChange={setType} />
      <Select
        label="API key"
        hint="It trades on this strategy only. The list has your live keys that are not bound to an open strategy."
        name="keyId"
        required
        placeholder="Choose a key"
        options={keys.map((key) => ({ value: key.keyId, label: `${key.label} · …${key.apiKey.slice(-8)}` }))}
        value={chosen}
        onChange={(event) => setChosen(event.target.value)}
        error={fields.keyId}
      />
      {error !== null && <ErrorNote error={error} />}
      <div className="flex flex-wrap justify-end gap-2 border-line border-t pt-4">
        <Link to="/strategies" className={buttonLook()}>
          Cancel
        </Link>
        <Button type="submit" kind="primary" isBusy={isPending}>
          Create the strategy
        </Button>
      </div>
    </form>
  );
}
