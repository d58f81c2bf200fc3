import type { ReactNode } from "react";
import type { CopyJson, EntryCountsJson, UnclosedJson } from "../../../src/dashboard-api/schemas.ts";
import { Badge, StatusBadge } from "../ui/badge.tsx";
import { TextLink } from "../ui/button.tsx";
import { Facts, fact } from "../ui/figures/figures.tsx";
import { Meter } from "../ui/figures/meter.tsx";
import { ratesOf } from "./rates.ts";
import { COPY_STATUSES, counted, REASONS, SKIP_NAMES, UNCLOSED_REASONS } from "./words.ts";

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

// How many copies there are, by how they stand.

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

// The copies of closed strategies that are not closed yet: their number by reason, and who can act on it.

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

type OutcomesProps = {
  counts: EntryCountsJson;
  /** Of a copy's own page: where its log is. */
  copyId?: string;
};

export function Outcomes({ counts, copyId }: OutcomesProps) {
  const { placed, skipped, failed, byReason } = counts;
  const total = placed + skipped + failed;
  const rates = ratesOf(counts);
  if (total === 0) {
    return (
      <p className="text-ink-soft">
        Nothing has been copied or skipped yet. Copying starts with the strategy’s next order.
      </p>
    );
  }
  const figure = (count: number, rate: string, status?: string): ReactNode => (
    <span>
      <span className="numeric font-medium text-lg">{count.toLocaleString("en-GB")}</span>{" "}
      <span className="numeric text-ink-soft">{rate}</span>
      {copyId !== undefined && status !== undefined && count > 0 && (
        <>
          {" "}
          <TextLink to="/copies/$copyId/log" params={{ copyId }} search={{ status }}>
            Show
          </TextLink>
        </>
      )}
    </span>
  );
  return (
    <div className="flex flex-col gap-4">
      <Facts
        facts={[
          fact("Placed at the exchange", figure(placed, rates.placed)),
          fact("Skipped, by a rule", figure(skipped, rates.skipped, "SKIPPED")),
          fact("Failed at the exchange", figure(failed, rates.failed, "FAILED")),
        ]}
      />
      {byReason.length > 0 && (
        <div className="flex flex-col gap-2.5">
          <h3 className="font-medium text-sm">Why orders were not copied</h3>
          {[...byReason]
            .sort((one, other) => other.count - one.count)
            .map(({ reason, count }) => (
              <Meter
                key={reason}
                label={SKIP_NAMES[reason]}
                filled={count / total}
                value={`${count.toLocaleString("en-GB")} of ${total.toLocaleString("en-GB")}`}
                tone="warn"
              />
            ))}
        </div>
      )}
    </div>
  );
}
