// The status of a copy in a badge and, if it does not follow, the reason.
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { Badge, StatusBadge } from "../ui/badge.tsx";
import { REASONS } from "./words.ts";

export function CopyStatus({ copy }: { copy: Pick<CopyJson, "status" | "reason" | "halted" | "behind"> }) {
  const { status, reason, halted, behind } = copy;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1 max-md:justify-end">
      <StatusBadge status={status} />
      {halted !== null && status !== "STOPPED" && (
        <Badge tone="loss">
          <span aria-hidden="true">■</span>Halted
        </Badge>
      )}
      {behind !== null && <Badge tone="warn">Behind</Badge>}
      {reason !== null && <span className="text-ink-soft text-xs">{REASONS[reason].short}</span>}
    </span>
  );
}
