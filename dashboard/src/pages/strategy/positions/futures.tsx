// The positions of a futures strategy, what protects them, and its wallet.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { LegJson } from "../../../../../src/dashboard-api/schemas.ts";
import { balancesQuery, legsQuery, positionsQuery } from "../../../api/trading.ts";
import { shownParts } from "../../../strategies/equity.ts";
import { useEquity } from "../../../strategies/use-equity.ts";
import { CancelDialog, type Cancelling } from "../../../trading/cancel-dialog.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/note.tsx";
import { QueryState, together } from "../../../ui/query.tsx";
import { Balances } from "./balances.tsx";
import { LegTable, legInWords } from "./leg-table.tsx";
import { PositionCard } from "./position-card.tsx";

export function FuturesPositions({ strategyId, canCancel }: { strategyId: string; canCancel: boolean }) {
  const positions = useQuery(positionsQuery(strategyId));
  const legs = useQuery(legsQuery(strategyId, { state: "open" }));
  const balances = useQuery(balancesQuery(strategyId));
  const live = useEquity();
  const parts =
    live === null || balances.data === undefined || positions.data === undefined
      ? null
      : shownParts({ balances: balances.data.rows, positions: positions.data.rows }, live);
  const [cancelling, setCancelling] = useState<Cancelling | null>(null);
  const onCancel = canCancel ? (leg: LegJson) => setCancelling(cancellingOf(leg)) : undefined;
  const armed = legs.data?.rows.filter(({ status }) => status !== "PENDING");
  const pending = legs.data?.rows.filter(({ status }) => status === "PENDING") ?? [];
  return (
    <div className="flex flex-col gap-5">
      <QueryState of={together(positions, legs)} lines={6} />
      {positions.data?.rows.length === 0 && (
        <Card isFlush>
          <EmptyState title="No open positions.">
            A position opens with the first fill. Its liquidation price, margin and funding then show here,
            live.
          </EmptyState>
        </Card>
      )}
      {positions.data?.rows.map((position) => (
        <PositionCard
          key={position.symbol}
          position={position}
          mark={live?.prices.get(position.symbol)?.mark ?? null}
          shownUnrealized={parts?.gains.get(position.symbol) ?? null}
          legs={armed?.filter(({ symbol }) => symbol === position.symbol) ?? position.legs}
          onCancel={onCancel}
        />
      ))}
      {pending.length > 0 && (
        <Card title="Take profits and stop losses of open orders" isFlush>
          <LegTable
            caption="Take profits and stop losses of open orders"
            rows={pending}
            onCancel={onCancel}
            hasSymbol
          />
        </Card>
      )}
      <Balances strategyId={strategyId} title="Wallet" shownTotal={parts?.wallet} />
      <CancelDialog strategyId={strategyId} cancelling={cancelling} onClose={() => setCancelling(null)} />
    </div>
  );
}

function cancellingOf(leg: LegJson): Cancelling {
  return {
    kind: "legs",
    id: leg.legId,
    noun: leg.kind === "TAKE_PROFIT" ? "take profit" : "stop loss",
    summary: `${legInWords(leg)}. The ${leg.status === "PENDING" ? "order" : "position"} stays open without it.`,
  };
}
