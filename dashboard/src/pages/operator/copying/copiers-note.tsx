// The running copiers that have reported lately, or a note that there is none.
import type { OperatorCopyingJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Time } from "../../../ui/figures/time.tsx";
import { Note } from "../../../ui/note.tsx";

export function CopiersNote({ copiers }: Pick<OperatorCopyingJson, "copiers">) {
  const [last] = copiers;
  if (last === undefined) {
    return (
      <Note tone="warn" title="No copier has reported yet.">
        Nothing is copied until one runs: a server with the role{" "}
        <code className="font-mono text-sm">all</code>, or a process with the role{" "}
        <code className="font-mono text-sm">copier</code> on the same database.
      </Note>
    );
  }
  if (last.isSilent) {
    return (
      <Note tone="warn" title="Copiers no longer report.">
        The last one, <span className="break-all">{last.copier}</span>, was heard of{" "}
        <Time at={last.reportedAt} />. Nothing is copied until one runs again; the status of exchanges below
        is the last one reported.
      </Note>
    );
  }
  return (
    <p className="text-ink-soft text-sm">
      {copiers.length === 1 ? "One copier is running: " : `${copiers.length} copiers are running: `}
      {copiers.map(({ copier, reportedAt }, index) => (
        <span key={copier}>
          {index > 0 && "; "}
          <span className="break-all">{copier}</span>, last report at <Time at={reportedAt} format="time" />
        </span>
      ))}
    </p>
  );
}
