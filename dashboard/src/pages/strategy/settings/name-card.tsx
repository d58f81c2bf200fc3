// The strategy's name, and giving it another.

import type { StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { ErrorNote } from "../../../ui/note.tsx";
import { NAME_LENGTH_MAX } from "../../new-strategy/create-form.tsx";

export function NameCard({ strategy }: { strategy: StrategyJson }) {
  const { strategyId } = strategy;
  const form = useForm({
    first: { name: strategy.name },
    send: ({ name }) => call("PUT /strategies/:strategyId/name", { strategyId, name }),
    says: "Name changed",
    outdates: [["strategies"], ["keys"], ["strategy", strategyId, "account"]],
    onDone: ({ name }) => {
      form.set({ name });
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
