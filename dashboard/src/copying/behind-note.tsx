// That a copy does not keep up with its strategy, and what that means. Nothing where it does.
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { Time } from "../ui/figures/time.tsx";
import { Note } from "../ui/note.tsx";
import { counted } from "./words.ts";

export function BehindNote({ copy: { behind } }: { copy: Pick<CopyJson, "behind"> }) {
  if (behind === null) return null;
  return (
    <Note
      tone="warn"
      title={`The copy is behind by ${counted(behind.actions, "step of the strategy", "steps of the strategy")}`}
    >
      <p className="mt-1">
        The oldest is from <Time at={behind.since} />. Orders, cancels and exits of the strategy are queued in
        sequence, usually because a response of the exchange is pending. They continue automatically. Entries
        are skipped once they are a minute old; exits are not. If you cannot wait, act at the exchange.
      </p>
    </Note>
  );
}
