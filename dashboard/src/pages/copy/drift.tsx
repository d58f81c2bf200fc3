// Drift: what the copy should hold beside what it holds, why they differ, and one click that brings them
// together.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { DriftRowJson } from "../../../../src/dashboard-api/schemas.ts";
import { driftQuery, useCopy, useCopyMutation } from "../../api/copying.ts";
import { isOff, repairOf } from "../../copying/drift.ts";
import { CAUSE_NAMES, counted } from "../../copying/words.ts";
import { Badge, Side } from "../../ui/badge.tsx";
import { Button, TextLink } from "../../ui/button.tsx";
import { Card, EmptyState, ErrorNote, Note, QueryState } from "../../ui/card.tsx";
import { magnitude, signOf } from "../../ui/figures/decimals.ts";
import { Amount, Meanings, Price, Time } from "../../ui/figures/figures.tsx";
import { Checkbox } from "../../ui/forms/field.tsx";
import { useIsShown } from "../../ui/hooks.ts";
import { Dialog, DialogActions } from "../../ui/overlays/dialog.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../ui/table.tsx";

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
                ? "All holdings match what a new copy would hold."
                : `${counted(off, "symbol")} off.`}{" "}
            {data.seenAt !== null && (
              <>
                Last updated from the exchange at <Time at={data.seenAt} />.
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
      <Meanings title="What the columns mean" words={COLUMN_WORDS} className="max-w-prose" />

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
  [
    "Scaled holding",
    "What a new copy would hold: the strategy’s holding, scaled to your account and rounded down to the exchange’s step size.",
  ],
  ["Copy", "What the copy bought by its own orders and has not sold."],
  ["Account", "What the exchange account holds in total, including your own coins."],
  ["Off by", "Copy minus scaled holding, and its value."],
] as const;

type DriftTableProps = {
  copyId: string;
  rows: readonly DriftRowJson[] | undefined;
  empty: ReactNode;
};

function DriftTable({ copyId, rows, empty }: DriftTableProps) {
  const cause: Column<DriftRowJson> = column({ header: "Why", width: "w-[34%]" }, (row) => (
    <span className="inline-flex flex-col items-start gap-0.5 max-md:items-end">
      <Badge tone={isOff(row) ? "warn" : "gain"}>
        <span aria-hidden="true">{isOff(row) ? "≠" : "="}</span>
        {CAUSE_NAMES[row.cause]}
      </Badge>
      <span className="whitespace-normal text-sm">
        {row.words} <Line copyId={copyId} entryId={row.entryId} />
      </span>
      {row.parts.length > 1 && (
        <ul aria-label={`Causes of the difference in ${row.symbol}`} className="text-ink-soft text-xs">
          {row.parts.map(({ cause, quantity, entryId }) => (
            <li key={cause}>
              <Price value={quantity} /> {row.asset}: {CAUSE_NAMES[cause]}{" "}
              <Line copyId={copyId} entryId={entryId} />
            </li>
          ))}
        </ul>
      )}
    </span>
  ));
  return (
    <Table
      caption="Drift"
      columns={[SYMBOL, LEAD, TARGET, OWN, ACTUAL, OFF_BY, cause, REPAIR]}
      rows={rows}
      rowKey={({ symbol }) => symbol}
      empty={empty}
    />
  );
}

/** The line of the log that explains it. */
function Line({ copyId, entryId }: { copyId: string; entryId: number | null }) {
  if (entryId === null) return null;
  return (
    <TextLink to="/copies/$copyId/log" params={{ copyId }} search={{ entry: String(entryId) }}>
      Line {entryId}
    </TextLink>
  );
}

const SYMBOL: Column<DriftRowJson> = headColumn("Symbol", ({ symbol, asset }) => (
  <span>
    {symbol}
    <span className="block font-normal text-ink-soft text-xs">in {asset}</span>
  </span>
));
const LEAD = quantity("Strategy", ({ lead }) => lead);
const TARGET = quantity("Scaled holding", ({ target }) => target);
const OWN = quantity("Copy", ({ own }) => own);
const ACTUAL = quantity("Account", ({ actual }) => actual);
const OFF_BY: Column<DriftRowJson> = numberColumn("Off by", ({ difference, value }) => (
  <span className="inline-flex flex-col items-end">
    <span>
      {signOf(difference) > 0 ? "+" : ""}
      <Price value={difference} />
    </span>
    {value !== null && signOf(value) !== 0 && (
      <span className="text-ink-soft text-xs">
        <Amount value={magnitude(value)} decimals={2} asset="USDT" />
      </span>
    )}
  </span>
));
const REPAIR: Column<DriftRowJson> = column("Repair", ({ repair }) =>
  repair === null ? null : (
    <span>
      <Side side={repair.side} /> <Price value={repair.quantity} />
      {repair.increases && <span className="block text-ink-soft text-xs">opens or increases</span>}
    </span>
  ),
);

function quantity(header: string, of: (row: DriftRowJson) => string): Column<DriftRowJson> {
  return numberColumn(header, (row) => <Price value={of(row)} />);
}

// What a repair would send, and the choice of whether it may also open or increase.

type RepairDialogProps = {
  copyId: string;
  rows: readonly DriftRowJson[];
  isOpen: boolean;
  onClose: () => void;
};

function RepairDialog({ isOpen, onClose, ...parts }: RepairDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Bring the copy to what a new copy would hold"
      description="Sends market orders to the exchange. Symbols without a difference are not touched."
    >
      <Repair {...parts} onClose={onClose} />
    </Dialog>
  );
}

function Repair({ copyId, rows, onClose }: Omit<RepairDialogProps, "isOpen">) {
  const [mayIncrease, setMayIncrease] = useState(false);
  const { orders, leftOut } = repairOf(rows, { mayIncrease });
  const hasIncreases = leftOut > 0 || mayIncrease;
  const isShown = useIsShown();
  const repair = useCopyMutation(copyId, "POST /copies/:copyId/repair", {
    says: "The repair has started",
    onDone: () => isShown() && onClose(),
  });
  return (
    <>
      {orders.length === 0 ? (
        <p>Nothing can be reduced.</p>
      ) : (
        <ul aria-label="Orders of the repair" className="flex flex-col gap-1">
          {orders.map(({ symbol, side, quantity, asset, increases }) => (
            <li key={symbol} className="flex flex-wrap justify-between gap-x-4">
              <span>
                <Side side={side} /> {symbol}
              </span>
              <span className="numeric">
                <Price value={quantity} /> {asset}
                <span className="text-ink-soft">, {increases ? "opens or increases" : "reduces"}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
      {leftOut > 0 && (
        <p className="text-ink-soft text-sm">
          {counted(leftOut, "order")} more would open or increase, and {leftOut === 1 ? "is" : "are"} left
          out.
        </p>
      )}
      {hasIncreases && (
        <Checkbox
          label="May also open or increase"
          hint="It then also buys what the copy is missing, at the current market price."
          checked={mayIncrease}
          onChange={({ target }) => setMayIncrease(target.checked)}
        />
      )}
      {repair.error !== null && <ErrorNote error={repair.error} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          disabled={orders.length === 0}
          onClick={() => repair.mutate({ mayIncrease })}
          isBusy={repair.isPending}
        >
          Send {counted(orders.length, "order")}
        </Button>
      </DialogActions>
    </>
  );
}
