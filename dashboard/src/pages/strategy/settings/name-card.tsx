// The strategy's name, and giving it another.

import { useQueryClient } from "@tanstack/react-query";
import type { StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { ErrorNote } from "../../../ui/note.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";
import { NAME_LENGTH_MAX } from "../../new-strategy/create-form.tsx";

export function NameCard({ strategy }: { strategy: StrategyJson }) {
  const queries = useQueryClient();
  const { strategyId } = strategy;
  const form = useForm({
    first: { name: strategy.name },
    send: ({ name }) => call("PUT /strategies/:strategyId/name", { strategyId, name }),
    onDone: ({ name }) => {
      form.set({ name });
      toast("Name changed");
      void queries.invalidateQueries({ queryKey: ["strategies"] });
      void queries.invalidateQueries({ queryKey: ["keys"] });
      void queries.invalidateQueries({ queryKey: ["strategy", strategyId, "account"] });
    },
  });
  return (
    <Card title="Name">
      <form onSubmit={form.onSubmit} className="flex flex-col gap-4">
        <TextInput
          label="Name"
          hint="Bots don’t see it; copiers do, if you open the strategy to them."
          autoComplete="off"
          required
          maxLength={NAME_LENGTH_MAX}
          {...form.control("name")}
        />
        {form.error !== null && <ErrorNote error={form.error} />}
        <div>
          <Button type="submit" isBusy={form.isBusy} disabled={form.values.name.trim() === strategy.name}>
            Change the name
          </Button>
        </div>
      </form>
    </Card>
  );
}
