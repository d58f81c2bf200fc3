// What a reader has to know about a report before believing it. Nothing where it is whole.
import type { PerformanceJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Time } from "../../../ui/figures/time.tsx";
import { Note } from "../../../ui/note.tsx";

export function ReportNotes({ performance: { isWhole, unpriced, from } }: { performance: PerformanceJson }) {
  if (isWhole && unpriced.length === 0) return null;
  return (
    <Note tone="warn" title="This report is not complete.">
      {!isWhole && (
        <p>
          There are more trades than a report covers. It starts on <Time at={from} />; earlier trades are
          missing.
        </p>
      )}
      {unpriced.length > 0 && (
        <p>Prices of {unpriced.join(", ")} were missing at times. The last known price was used instead.</p>
      )}
    </Note>
  );
}
