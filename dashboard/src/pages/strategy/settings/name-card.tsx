// The strategy's name, and giving it another.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { StrategyShape } from "../../../../../src/dashboard/shapes.ts";
import { call } from "../../../api/call.ts";
import { fieldsOf } from "../../../api/error.ts";
import { pathOf } from "../../../api/trading.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { ErrorNote } from "../../../ui/note.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";
import { NAME_LENGTH_MAX } from "../../new-strategy/create-form.tsx";

export function NameCard({ strategy }: { strategy: StrategyShape }) {
  const queries = useQueryClient();
  const [name, setName] = useState(strategy.name);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<StrategyShape>("PUT", pathOf(strategy.strategyId, "name"), { name }),
    onSuccess: (renamed) => {
      setName(renamed.name);
      toast("Name changed");
      void queries.invalidateQueries({ queryKey: ["strategies"] });
      void queries.invalidateQueries({ queryKey: ["keys"] });
      void queries.invalidateQueries({ queryKey: ["strategy", strategy.strategyId, "account"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate();
  };
  return (
    <Card title="Name">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextInput
          label="Name"
          hint="Bots don’t see it; copiers do, if you open the strategy to them."
          name="name"
          autoComplete="off"
          required
          maxLength={NAME_LENGTH_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={fieldsOf(error).name}
        />
        {error !== null && <ErrorNote error={error} />}
        <div>
          <Button type="submit" isBusy={isPending} disabled={name.trim() === strategy.name}>
            Change the name
          </Button>
        </div>
      </form>
    </Card>
  );
}
