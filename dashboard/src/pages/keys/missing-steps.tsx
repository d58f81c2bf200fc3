// What a person has to do before a key or an exchange account, with the way to it. Nothing where nothing is missing.
import { Link } from "@tanstack/react-router";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { buttonLook } from "../../ui/button.tsx";
import { Note } from "../../ui/note.tsx";

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
          <Link to="/identity" className={buttonLook("quiet", "small")}>
            Identity
          </Link>
        )}
        {lacksSecondFactor && (
          <Link to="/security" hash="second-factor" className={buttonLook("quiet", "small")}>
            Set up the second factor
          </Link>
        )}
      </div>
    </Note>
  );
}
