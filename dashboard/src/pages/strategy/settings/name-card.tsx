// The strategy's name, and giving it another.

import type { StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { Card } from "../../../ui/card.tsx";
import { SubmitForm } from "../../../ui/forms/submit-form.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
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
      <SubmitForm
        form={form}
        action="Change the name"
        kind="quiet"
        isDisabled={form.values.name.trim() === strategy.name}
      >
        <TextInput
          label="Name"
          hint="Bots don’t see it; copiers do, if you open the strategy to them."
          autoComplete="off"
          required
          maxLength={NAME_LENGTH_MAX}
          {...form.control("name")}
        />
      </SubmitForm>
    </Card>
  );
}
