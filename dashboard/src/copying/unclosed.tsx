// The copies of closed strategies that are not closed yet: their number by reason, and who can act on it.
import type { UnclosedJson } from "../../../src/dashboard-api/schemas.ts";
import { counted, UNCLOSED_REASONS } from "./words.ts";

/** Nothing if there are none. */
export function Unclosed({ rows }: { rows: readonly UnclosedJson[] }) {
  if (rows.length === 0) return null;
  return (
    <ul className="mt-3 flex flex-col gap-1 text-sm">
      {rows.map(({ why, count }) => (
        <li key={why}>
          <span className="font-medium">{counted(count, "copy", "copies")}:</span> {UNCLOSED_REASONS[why]}
        </li>
      ))}
    </ul>
  );
}
