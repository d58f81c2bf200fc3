// What a person still lacks before something that needs an approved identity and a second factor.

import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Note } from "../../ui/card.tsx";

type MissingStepsProps = {
  person: PersonJson;
  /** What waits for them. */
  before?: string;
  /** What a code is asked for. */
  asking?: string;
};

export function MissingSteps({
  person,
  before = "Before you can create or revoke a key",
  asking = "each key",
}: MissingStepsProps) {
  const lacksApproval = person.kyc !== "APPROVED";
  const lacksSecondFactor = !person.hasSecondFactor;
  if (!lacksApproval && !lacksSecondFactor) return null;
  return (
    <Note tone="warn" title={before}>
      <ul className="mt-1 list-disc pl-5">
        {lacksApproval && (
          <li>
            {person.kyc === "PENDING"
              ? "An operator has to approve your identity. It is in review."
              : "An operator has to approve your identity."}
          </li>
        )}
        {lacksSecondFactor && <li>You need a second factor: {asking} asks for a code of it.</li>}
      </ul>
      <div className="mt-3 flex flex-wrap gap-2">
        {lacksApproval && (
          <ButtonLink to="/identity" kind="quiet" size="small">
            Identity
          </ButtonLink>
        )}
        {lacksSecondFactor && (
          <ButtonLink to="/security" hash="second-factor" kind="quiet" size="small">
            Set up the second factor
          </ButtonLink>
        )}
      </div>
    </Note>
  );
}
