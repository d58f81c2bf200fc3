// What a copy is worth by the exchange's last word, and how far that is from its stop loss.

import type { CopyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { useCopyMutation } from "../../../api/copying.ts";
import { Button } from "../../../ui/button.tsx";
import { Card, ErrorNote, Placeholder } from "../../../ui/card.tsx";
import {
  grouped,
  percentOf,
  rounded,
  roundedDifference,
  signOf,
  subtract,
} from "../../../ui/figures/decimals.ts";
import { Amount, Facts, fact, Percent, SignedAmount, Time } from "../../../ui/figures/figures.tsx";
import { Meter } from "../../../ui/figures/meter.tsx";

/** From here on the bar is red, per cent. */
const NEAR_PERCENT = 75;

export function WorthCard({ copy }: { copy: CopyJson | undefined }) {
  if (copy === undefined) {
    return <Placeholder lines={6} title="Worth" />;
  }
  const { equity, startEquity, resultRate, realized, fees, asset, seenAt, startedAt, endedAt } = copy;
  const profit = equity === null || startEquity === null ? null : roundedDifference(equity, startEquity, 2);
  return (
    <Card title="Worth" aside={copy.status === "STOPPED" ? undefined : <Look copy={copy} />}>
      <div className="flex flex-col gap-4">
        <Facts
          facts={[
            fact("Equity", <Amount value={equity} decimals={2} asset={asset} />),
            fact("At the start", <Amount value={startEquity} decimals={2} asset={asset} />),
            fact(
              "Result",
              profit !== null && (
                <>
                  <SignedAmount value={profit} decimals={2} asset={asset} />{" "}
                  <span className="whitespace-nowrap">
                    (<Percent rate={resultRate} isSigned />)
                  </span>
                </>
              ),
            ),
            fact("Realized", <SignedAmount value={realized} decimals={2} asset={asset} />),
            fact("Fees paid", <Amount value={fees} decimals={2} asset={asset} />),
            fact("Open orders", copy.restingOrders.toLocaleString("en-GB")),
            fact("Began", <Time at={startedAt} />),
            endedAt === null
              ? fact("Last account update", seenAt === null ? "not yet" : <Time at={seenAt} />)
              : fact("Ended", <Time at={endedAt} />),
          ]}
        />
        {copy.status !== "STOPPED" && <StopLine copy={copy} />}
        {copy.status !== "STOPPED" && copy.takesAt !== null && (
          <p className="text-ink-soft text-sm">
            The take profit acts at {grouped(rounded(copy.takesAt, 2))} {copy.asset}.
          </p>
        )}
      </div>
    </Card>
  );
}

function StopLine({ copy: { equity, stopsFrom, stopsAt, asset } }: { copy: CopyJson }) {
  if (stopsAt === null) return <p className="text-ink-soft text-sm">No stop loss is set.</p>;
  const line = `${grouped(rounded(stopsAt, 2))} ${asset}`;
  if (equity === null || stopsFrom === null) {
    return <p className="text-ink-soft text-sm">The stop loss acts at {line}.</p>;
  }
  const lost = subtract(stopsFrom, equity);
  const percent = signOf(lost) > 0 ? (percentOf(lost, subtract(stopsFrom, stopsAt), 0) ?? "0") : "0";
  return (
    <Meter
      label={`Stop loss at ${line}`}
      filled={Number(percent) / 100}
      value={`${percent} % of the loss limit used`}
      tone={Number(percent) >= NEAR_PERCENT ? "loss" : "accent"}
    />
  );
}

function Look({ copy: { copyId, pending } }: { copy: CopyJson }) {
  const { mutate, error, isPending } = useCopyMutation(copyId, "POST /copies/:copyId/look", {
    says: "Updating from the exchange",
  });
  const isUnderWay = pending.includes("LOOK");
  return (
    <span className="flex flex-col items-end gap-2">
      <Button size="small" onClick={() => mutate({})} isBusy={isPending} disabled={isUnderWay}>
        {isUnderWay ? "Updating" : "Update from the exchange"}
      </Button>
      {error !== null && <ErrorNote error={error} />}
    </span>
  );
}
