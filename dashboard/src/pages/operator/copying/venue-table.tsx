// The exchanges that may be used, and the state of their accounts.
import type { OperatorCopyingJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Badge, Missing } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { perCent } from "../../../ui/figures/decimals.ts";
import { Time } from "../../../ui/figures/figures.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";

type Venue = OperatorCopyingJson["venues"][number];
type VenueTableProps = { rows: readonly Venue[]; onHalt: (origin: string) => void };

export function VenueTable({ rows, onHalt }: VenueTableProps) {
  const action: Column<Venue> = column("Action", ({ origin, isHalted }) =>
    isHalted ? null : (
      <Button size="small" onClick={() => onHalt(origin)} aria-label={`Halt ${origin}`}>
        Halt
      </Button>
    ),
  );
  return (
    <Table caption="Exchanges" columns={[...COLUMNS, action]} rows={rows} rowKey={({ origin }) => origin} />
  );
}

/**
 * One line for each type and copier: whether the exchange answers, until when the copier pauses, and how
 * much of the budget is used. The line names the copier if several report.
 */
function Health({ health, isOneOfSeveral }: { health: Venue["health"][number]; isOneOfSeveral: boolean }) {
  const {
    family: type,
    isAnswering,
    failure,
    lastAnswerAt,
    pausedUntil,
    budgetUsed,
    copier,
    isSilent,
  } = health;
  return (
    <div className="whitespace-normal text-sm">
      {type === "SPOT" ? "Spot" : "Futures"}
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
          , paused by the exchange until <Time at={pausedUntil} />
        </span>
      )}
      , <span className="numeric">{perCent(budgetUsed)} %</span> of its budget used
    </div>
  );
}

const COLUMNS: readonly Column<Venue>[] = [
  headColumn({ header: "Exchange", width: "w-[30%]" }, ({ origin }) => (
    <span className="whitespace-normal break-all">{origin}</span>
  )),
  numberColumn("Accounts", ({ accounts }) => accounts.toLocaleString("en-GB")),
  numberColumn("Keys refused", ({ failed }) => (
    <span className={failed > 0 ? "text-loss" : ""}>{failed.toLocaleString("en-GB")}</span>
  )),
  column("Answers", ({ health }) =>
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
  ),
  column("State", ({ isHalted }) =>
    isHalted ? (
      <Badge tone="loss">
        <span aria-hidden="true">■</span>Halted
      </Badge>
    ) : (
      <Badge tone="gain">
        <span aria-hidden="true">✓</span>In use
      </Badge>
    ),
  ),
];
