// Whether the audit log's chain of hashes holds, and what to do if it does not.
import { Badge } from "../../../ui/badge.tsx";

/** Nothing until it is known. */
export function ChainBadge({ isWhole }: { isWhole: boolean | undefined }) {
  if (isWhole === undefined) return null;
  return (
    <Badge tone={isWhole ? "gain" : "loss"}>
      <span aria-hidden="true">{isWhole ? "✓" : "✕"}</span>
      {isWhole ? "Chain whole" : "Chain broken"}
    </Badge>
  );
}

export function ChainBroken() {
  return (
    <div role="alert" className="rounded-md border border-loss border-l-4 bg-loss-soft px-4 py-3">
      <p className="font-medium">A record of the audit log was changed, removed or inserted.</p>
      <p className="mt-1">
        Run <code className="font-mono">lyrebird audit --verify</code> on the server: it names the first
        position that does not match. Keep a copy of the database as it is, then compare it with a backup.
      </p>
    </div>
  );
}
