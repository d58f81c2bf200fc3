// The strategies, one a row; at phone width one a card.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { StrategyJson } from "../../../../src/dashboard-api/schemas.ts";
import { shownResult } from "../../strategies/equity.ts";
import { TYPES } from "../../strategies/type-words.ts";
import { StaleBadge, StatusBadge } from "../../ui/badge.tsx";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Amount, SignedAmount } from "../../ui/figures/amounts.tsx";
import { Time } from "../../ui/figures/time.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../ui/table.tsx";
import { Sparkline } from "./sparkline.tsx";

/** Prices older than this are marked as stale. */
const STALE_AFTER_MS = 60_000;

type StrategyTableProps = {
  caption: string;
  rows: readonly StrategyJson[] | undefined;
  sparklines: ReadonlyMap<string, readonly string[]>;
  /** When the rows came, Unix ms. */
  loadedAt: number;
  empty: ReactNode;
};

export function StrategyTable({ caption, rows, sparklines, loadedAt, empty }: StrategyTableProps) {
  const columns: readonly Column<StrategyJson>[] = [
    NAME,
    STATUS,
    numberColumn({ header: "Equity", width: "w-[14%]" }, ({ equity, pricedAt, status }) => (
      <span className="inline-flex flex-col items-end">
        <Amount value={equity} decimals={2} asset="USDT" />
        {status !== "CLOSED" && pricedAt !== null && loadedAt - pricedAt > STALE_AFTER_MS && (
          <StaleBadge since={pricedAt} />
        )}
      </span>
    )),
    PROFIT,
    column({ header: "Last 24 h", width: "w-[12%]" }, ({ strategyId }) => (
      <Sparkline equity={sparklines.get(strategyId)} />
    )),
    ORDERS,
    POSITIONS,
    KEY,
  ];
  return (
    <Table
      caption={caption}
      columns={columns}
      rows={rows}
      rowKey={({ strategyId }) => strategyId}
      empty={empty}
    />
  );
}

const NAME: Column<StrategyJson> = headColumn(
  { header: "Strategy", width: "w-[20%]" },
  ({ strategyId, name, type }) => (
    <span className="flex max-w-64 flex-col items-start">
      <Link
        to="/strategies/$strategyId"
        params={{ strategyId }}
        title={name}
        className={`max-w-full truncate ${TEXT_LINK}`}
      >
        {name}
      </Link>
      <span className="font-normal text-ink-soft text-xs">{TYPES[type].name}</span>
    </span>
  ),
);
const STATUS: Column<StrategyJson> = column({ header: "Status", width: "w-[10%]" }, ({ status }) => (
  <StatusBadge status={status} />
));
const PROFIT: Column<StrategyJson> = numberColumn({ header: "Profit", width: "w-[11%]" }, (strategy) => {
  const { profit, percent } = shownResult(strategy);
  return (
    <span className="inline-flex flex-col items-end">
      <SignedAmount value={profit} decimals={2} />
      <span className="text-xs">
        <SignedAmount value={percent} asset="%" />
      </span>
    </span>
  );
});
const ORDERS: Column<StrategyJson> = numberColumn(
  { header: "Orders", width: "w-[8%]" },
  ({ strategyId, openOrders }) => (
    <Link
      to="/strategies/$strategyId/orders"
      params={{ strategyId }}
      className="hover:underline"
      aria-label={`${openOrders} open orders`}
    >
      {openOrders}
    </Link>
  ),
);
const POSITIONS: Column<StrategyJson> = numberColumn(
  { header: "Positions", width: "w-[8%]" },
  ({ strategyId, type, openPositions }) =>
    type === "SPOT" ? null : (
      <Link
        to="/strategies/$strategyId/positions"
        params={{ strategyId }}
        className="hover:underline"
        aria-label={`${openPositions} open positions`}
      >
        {openPositions}
      </Link>
    ),
);
const KEY: Column<StrategyJson> = column(
  { header: "Key, last request", width: "w-[17%]" },
  ({ strategyId, key, status }) => {
    if (key !== null) {
      return (
        <span className="inline-flex max-w-48 flex-col max-md:items-end">
          <span title={key.label} className="max-w-full truncate">
            {key.label}
          </span>
          <span className="text-ink-soft text-xs">
            {key.lastUse === null ? "Never used" : <Time at={key.lastUse.at} />}
          </span>
        </span>
      );
    }
    if (status !== "LIVE") return null;
    return (
      <ButtonLink to="/strategies/$strategyId/settings" params={{ strategyId }} kind="quiet" size="small">
        Bind a key
      </ButtonLink>
    );
  },
);
