// That a copy does not keep up with its strategy, and what that means. Nothing where it does.
import type { CopyShape } from "../../../src/dashboard/shapes.ts";
import { Note } from "../ui/note.tsx";
import { Time } from "../ui/time.tsx";
import { counted } from "./words.ts";

export function BehindNote({ copy: { behind } }: { copy: Pick<CopyShape, "behind"> }) {
  if (behind === null) return null;
  return (
    <Note
      tone="warn"
      title={`The copy is behind by ${counted(behind.actions, "step of the strategy", "steps of the strategy")}`}
    >
      <p className="mt-1">
        The oldest is of <Time at={behind.since} />. Orders, cancels and exits of the strategy wait, in their
        order, most often for an answer of the exchange. They go on by themselves. What would open something
        is skipped once it is a minute old; what closes something is not. If you cannot wait, act at the
        exchange.
      </p>
    </Note>
  );
}
