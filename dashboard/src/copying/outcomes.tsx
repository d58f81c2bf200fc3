import type { ReactNode } from "react";
import type { EntryCountsJson } from "../../../src/dashboard-api/schemas.ts";
import { TextLink } from "../ui/button.tsx";
import { Facts, fact } from "../ui/figures/figures.tsx";
import { Meter } from "../ui/figures/meter.tsx";
import { ratesOf } from "./rates.ts";
import { SKIP_NAMES } from "./words.ts";

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
