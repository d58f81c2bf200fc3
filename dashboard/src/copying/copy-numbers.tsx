// How many copies there are, by how they stand.
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { StatusBadge } from "../ui/badge.tsx";
import { COPY_STATUSES, counted } from "./words.ts";

type CopyNumbersProps = {
  copies: { readonly [S in CopyJson["status"]]: number };
  /** Of them, those that do not keep up with their strategy. */
  behind: number;
};

export function CopyNumbers({ copies, behind }: CopyNumbersProps) {
  return (
    <>
      <Numbers copies={copies} />
      {behind > 0 && (
        <p className="mt-3 text-sm">
          <span className="font-medium text-warn">{counted(behind, "copy is", "copies are")} behind:</span> an
          action of the strategy is more than ten seconds old and not processed yet.
        </p>
      )}
    </>
  );
}

function Numbers({ copies }: Pick<CopyNumbersProps, "copies">) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
      {(Object.keys(COPY_STATUSES) as CopyJson["status"][]).map((status) => (
        <div key={status}>
          <dt>
            <StatusBadge status={status} />
          </dt>
          <dd className="numeric mt-0.5 font-medium text-lg">{copies[status].toLocaleString("en-GB")}</dd>
        </div>
      ))}
    </dl>
  );
}
