// The exchanges that may be used, and the state of their accounts.
import type { OperatorCopyingJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Badge, Missing } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { perCent } from "../../../ui/figures/decimals.ts";
import { Time } from "../../../ui/figures/time.tsx";
import { type Column, Table } from "../../../ui/table.tsx";

type Venue = OperatorCopyingJson["venues"][number];
type VenueTableProps = { rows: readonly Venue[]; onHalt: (origin: string) => void };

export function VenueTable({ rows, onHalt }: VenueTableProps) {
  const action: Column<Venue> = {
    key: "action",
    header: "Action",
    cell: ({ origin, isHalted }) =>
      isHalted ? null : (
        <Button size="small" onClick={() => onHalt(origin)} aria-label={`Halt ${origin}`}>
          Halt
        </Button>
      ),
  };
  return (
    <Table
      caption="Exchanges"
      columns={[...COLUMNS, action]}
      rows={rows}
      rowKey={({ origin }) => origin}
      empty="None."
    />
  );
}

/**
 * One line for each family and copier: whether the exchange answers, until when the copier pauses, and how
 * much of the budget is used. The line names the copier if several report.
 */
function Health({ health, isOneOfSeveral }: { health: Venue["health"][number]; isOneOfSeveral: boolean }) {
  const { family, isAnswering, failure, lastAnswerAt, pausedUntil, budgetUsed, copier, isSilent } = health;
  return (
    <div className="whitespace-normal text-sm">
      {family === "SPOT" ? "Spot" : "Futures"}
      {isOneOfSeveral && <span className="break-all"> ({copier})</span>}:{" "}
      {isSilent && (
        <span className="text-warn">
          no report since <Time at={health.reportedAt} />; last status:{" "}
        </span>
      )}
      {isAnswering ? (
        "answers"
      ) : (
        <span className="text-loss">
          no answer{lastAnswerAt === null ? " yet" : " since "}
          {lastAnswerAt !== null && <Time at={lastAnswerAt} />}
          {failure !== null && <span className="break-words">: {failure}</span>}
        </span>
      )}
      {pausedUntil !== null && (
        <span className="text-warn">
          , paused by the exchange until <Time at={pausedUntil} format="time" />
        </span>
      )}
      , <span className="numeric">{perCent(budgetUsed)} %</span> of its budget used
    </div>
  );
}

const COLUMNS: readonly Column<Venue>[] = [
  {
    key: "origin",
    header: "Exchange",
    width: "w-[30%]",
    isRowHeader: true,
    cell: ({ origin }) => <span className="whitespace-normal break-all">{origin}</span>,
  },
  {
    key: "accounts",
    header: "Accounts",
    align: "right",
    cell: ({ accounts }) => accounts.toLocaleString("en-GB"),
  },
  {
    key: "failed",
    header: "Keys refused",
    align: "right",
    cell: ({ failed }) => (
      <span className={failed > 0 ? "text-loss" : ""}>{failed.toLocaleString("en-GB")}</span>
    ),
  },
  {
    key: "health",
    header: "Answers",
    cell: ({ health }) =>
      health.length === 0 ? (
        <Missing />
      ) : (
        health.map((each) => (
          <Health
            key={`${each.copier} ${each.family}`}
            health={each}
            isOneOfSeveral={health.some(({ copier }) => copier !== each.copier)}
          />
        ))
      ),
  },
  {
    key: "state",
    header: "State",
    cell: ({ isHalted }) =>
      isHalted ? (
        <Badge tone="loss">
          <span aria-hidden="true">■</span>Halted
        </Badge>
      ) : (
        <Badge tone="gain">
          <span aria-hidden="true">✓</span>In use
        </Badge>
      ),
  },
];
