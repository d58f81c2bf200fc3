import type { KeyJson, PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { journeyOf } from "../welcome/journey.ts";

/** `keys` are undefined while they are loaded. */
type NextStepProps = { person: PersonJson; keys: readonly KeyJson[] | undefined };

export function NextStep({ person, keys }: NextStepProps) {
  if (keys === undefined) {
    return (
      <div aria-busy="true" className="px-4 py-8">
        <Skeleton lines={4} />
      </div>
    );
  }
  const step = journeyOf({ person, keys, strategies: [], hasOrder: false }).find(
    ({ state }) => state === "OPEN" || state === "WAITING",
  );
  const isReady = step === undefined || step.name === "STRATEGY";
  return (
    <EmptyState
      title="No strategies yet."
      action={
        isReady ? (
          <ButtonLink to="/strategies/new">New strategy</ButtonLink>
        ) : (
          <ButtonLink to="/welcome">See all steps</ButtonLink>
        )
      }
    >
      <p>A strategy is a virtual account that your bot trades with one API key.</p>
      {!isReady && (
        <p className="mt-2 text-ink">
          {step.state === "WAITING" ? "Waiting" : "First"}: {lowerFirst(step.title)}. {step.says}
        </p>
      )}
    </EmptyState>
  );
}

/** Within a sentence; "API" stays as it is. */
function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
