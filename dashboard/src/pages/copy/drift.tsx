// Drift: what the copy should hold beside what it holds, why they differ, and one click that brings them together.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { driftQuery } from "../../api/copying.ts";
import { useCopy, useCopyMutation } from "../../api/use-copy.ts";
import { isOff, repairOf } from "../../copying/drift.ts";
import { counted } from "../../copying/words.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Time } from "../../ui/figures/time.tsx";
import { EmptyState, ErrorNote, Note } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";
import { DriftTable } from "./drift/drift-table.tsx";
import { RepairDialog } from "./drift/repair-dialog.tsx";

export function Page() {
  const { copyId, copy } = useCopy();
  const query = useQuery(driftQuery(copyId));
  const { data, error } = query;
  const [isRepairing, setRepairing] = useState(false);
  const look = useCopyMutation(copyId, "POST /copies/:copyId/look", { says: "Updating from the exchange" });
  const isUnderWay = data?.pending.includes("REPAIR") ?? false;
  const off = data?.rows.filter(isOff).length ?? 0;
  const repairs = data === undefined ? 0 : repairOf(data.rows, { mayIncrease: true }).orders.length;
  const canSend = copy !== undefined && copy.status !== "STOPPED" && copy.halted === null;
  return (
    <Screen
      title="Drift"
      documentTitle={`Drift, ${copy?.strategyName ?? "copy"}`}
      lead={
        data === undefined || data.hiddenBecause !== null ? undefined : (
          <>
            {data.rows.length === 0
              ? "Nothing is held."
              : off === 0
                ? "All holdings match their targets."
                : `${counted(off, "symbol")} off.`}{" "}
            {data.seenAt !== null && (
              <>
                Last updated from the exchange at <Time at={data.seenAt} format="time" />.
              </>
            )}
          </>
        )
      }
      actions={
        canSend ? (
          <>
            <Button
              onClick={() => look.mutate({})}
              isBusy={look.isPending || data?.pending.includes("LOOK") === true}
            >
              Update from the exchange
            </Button>
            {repairs > 0 && (
              <Button kind="primary" onClick={() => setRepairing(true)} disabled={isUnderWay}>
                Repair…
              </Button>
            )}
          </>
        ) : undefined
      }
    >
      <QueryState of={query} />
      {look.error !== null && <ErrorNote error={look.error} />}
      {isUnderWay && (
        <Note title="A repair is in progress">
          <p>Its orders show in the log, and this page changes by itself when it is done.</p>
        </Note>
      )}
      {(error === null || data !== undefined) && (
        <Card isFlush>
          <DriftTable
            copyId={copyId}
            rows={data?.rows}
            empty={
              data?.hiddenBecause == null ? (
                <EmptyState title="Neither the strategy nor the copy holds anything.">
                  Once the strategy buys, this table compares its holdings with those that your copy should
                  have.
                </EmptyState>
              ) : (
                <EmptyState title="No drift is shown once a copy does not follow its strategy.">
                  {data.hiddenBecause}
                </EmptyState>
              )
            }
          />
        </Card>
      )}
      <details className="text-sm">
        <summary className="py-1 text-ink-soft hover:text-ink">What the columns mean</summary>
        <dl className="grid max-w-prose gap-x-4 gap-y-2 py-2 sm:grid-cols-[auto_1fr]">
          {COLUMN_WORDS.map(([name, means]) => (
            <div key={name} className="sm:contents">
              <dt className="font-medium">{name}</dt>
              <dd className="text-ink-soft">{means}</dd>
            </div>
          ))}
        </dl>
      </details>

      <RepairDialog
        copyId={copyId}
        rows={data?.rows ?? []}
        isOpen={isRepairing}
        onClose={() => setRepairing(false)}
      />
    </Screen>
  );
}

const COLUMN_WORDS = [
  ["Strategy", "What the strategy holds on its virtual account."],
  ["Target", "The strategy’s holding, scaled to your account and rounded down to the exchange’s step size."],
  ["Copy", "What the copy bought by its own orders and has not sold."],
  ["Account", "What the exchange account holds in total, including your own coins."],
  ["Off by", "Copy minus target, and its value."],
] as const;
