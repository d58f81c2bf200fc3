import type { CopyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { REASONS } from "../../../copying/words.ts";
import { TextLink } from "../../../ui/links.tsx";
import { Note } from "../../../ui/note.tsx";

const TITLES = {
  PAUSED: "The copy is paused",
  CLOSING: "The copy is being closed",
  STOPPED: "The copy has ended",
} as const;

/** Nothing while it follows. */
export function ReasonNote({ copy: { status, reason } }: { copy: CopyJson }) {
  if (status === "FOLLOWING") return null;
  const needsAccount = reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";
  return (
    <Note tone={status === "STOPPED" ? "accent" : "warn"} title={TITLES[status]}>
      {reason !== null && (
        <p className="mt-1">
          {REASONS[reason].says} {status === "PAUSED" || reason !== "COPIER" ? REASONS[reason].action : ""}
        </p>
      )}
      {status === "CLOSING" && (
        <p className="mt-1">
          Its orders are canceled and what it holds is sold; each of these orders is in the log. You don’t
          have to do anything.
        </p>
      )}
      {needsAccount && status !== "STOPPED" && (
        <p className="mt-1">
          <TextLink to="/copying/accounts">Go to the exchange accounts</TextLink>
        </p>
      )}
    </Note>
  );
}
