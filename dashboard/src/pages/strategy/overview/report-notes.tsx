// What a reader has to know about a report before believing it. Nothing where it is whole.
import type { PerformanceShape } from "../../../../../src/dashboard/shapes.ts";
import { Note } from "../../../ui/note.tsx";
import { Time } from "../../../ui/time.tsx";

export function ReportNotes({ performance: { isWhole, unpriced, from } }: { performance: PerformanceShape }) {
  if (isWhole && unpriced.length === 0) return null;
  return (
    <Note tone="warn" title="This report is not complete.">
      {!isWhole && (
        <p>
          There were more trades than a report looks at. It begins on <Time at={from} />; what was before is
          missing.
        </p>
      )}
      {unpriced.length > 0 && (
        <p>
          A price of {unpriced.join(", ")} was missing at times. The last known one was taken in its place.
        </p>
      )}
    </Note>
  );
}
