// How many copies there are, by how they stand.
import type { CopyShape } from "../../../src/dashboard/shapes.ts";
import { StatusBadge } from "../ui/badge.tsx";
import { COPY_STATUSES } from "./words.ts";

type CopyNumbersProps = { copies: { readonly [S in CopyShape["status"]]: number } };

export function CopyNumbers({ copies }: CopyNumbersProps) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-4">
      {(Object.keys(COPY_STATUSES) as CopyShape["status"][]).map((status) => (
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
