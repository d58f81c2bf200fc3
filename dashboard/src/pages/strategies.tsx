// The strategies of the person: what each is worth, and the way to a new one.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { KeyJson, PersonJson, StrategyJson } from "../../../src/dashboard-api/schemas.ts";
import { usePerson } from "../api/session.ts";
import { keysQuery, sparklinesQuery, strategiesQuery } from "../api/strategy.ts";
import { useChanges, useLive, useWatch } from "../live/use-live.ts";
import { shownResult } from "../strategies/equity.ts";
import { ProfileBadge } from "../strategies/fill-profile.tsx";
import { TYPES } from "../strategies/type-words.ts";
import { StaleBadge, StatusBadge } from "../ui/badge.tsx";
import { ButtonLink, TEXT_LINK } from "../ui/button.tsx";
import { Card, EmptyState, QueryState, Skeleton } from "../ui/card.tsx";
import { signOf, subtract } from "../ui/figures/decimals.ts";
import { Amount, SignedAmount, Time } from "../ui/figures/figures.tsx";
import { Screen } from "../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../ui/table.tsx";
import { sparklinePoints } from "./strategies/sparkline-path.ts";
import { journeyOf } from "./welcome/journey.ts";

const LIST_EVERY_MS = 2_000;
const EQUITY_EVERY_MS = 5_000;
const PICTURES_EVERY_MS = 30_000;

export function Page() {
  const person = usePerson();
  const list = useQuery(strategiesQuery);
  const keys = useQuery(keysQuery);
  const pictures = useQuery(sparklinesQuery);
  const going = list.data?.rows.filter(({ status }) => status !== "CLOSED");
  const closed = list.data?.rows.filter(({ status }) => status === "CLOSED") ?? [];
  useLiveList(going?.map(({ strategyId }) => strategyId) ?? []);
  const sparklines = new Map(pictures.data?.rows.map(({ strategyId, equity }) => [strategyId, equity]));
  const isKnown = list.data !== undefined;
  return (
    <Screen
      title="Strategies"
      lead="Each strategy is a virtual account, traded by the bot that has its key."
      actions={
        isKnown && list.data.rows.length > 0 ? (
          <ButtonLink to="/strategies/new">New strategy</ButtonLink>
        ) : undefined
      }
    >
      <QueryState of={list} />
      {(list.error === null || isKnown) && (
        <Card isFlush>
          <StrategyTable
            caption="Strategies"
            rows={going}
            sparklines={sparklines}
            loadedAt={list.dataUpdatedAt}
            empty={
              <NextStep person={person} keys={keys.data?.rows ?? (keys.error === null ? undefined : [])} />
            }
          />
          {going !== undefined && going.length > 0 && (
            <p className="border-line border-t px-4 py-2 text-ink-soft text-xs">
              Equity at the last prices of <Time at={list.dataUpdatedAt} format="time" />. It comes in by
              itself, every few seconds, and orders and fills at once.
            </p>
          )}
        </Card>
      )}
      {closed.length > 0 && (
        <Card title="Closed" isFlush>
          <StrategyTable
            caption="Closed strategies"
            rows={closed}
            sparklines={sparklines}
            loadedAt={list.dataUpdatedAt}
            empty="None."
          />
        </Card>
      )}
    </Screen>
  );
}

/** The list is loaded again as fills and orders happen and as prices move, its pictures more seldom. */
function useLiveList(strategyIds: readonly string[]): void {
  const queries = useQueryClient();
  useWatch("strategy", strategyIds);
  useChanges(
    LIST_EVERY_MS,
    () => true,
    () => void queries.invalidateQueries({ queryKey: ["strategies"] }, { cancelRefetch: false }),
  );
  // The market moves the equity of what nobody trades, which no change tells.
  useLive("heartbeat", () => {
    const lastAt = queries.getQueryState(strategiesQuery.queryKey)?.dataUpdatedAt ?? 0;
    if (strategyIds.length === 0 || document.hidden || Date.now() - lastAt < EQUITY_EVERY_MS) return;
    void queries.invalidateQueries({ queryKey: ["strategies"] }, { cancelRefetch: false });
  });
  useChanges(
    PICTURES_EVERY_MS,
    ({ what }) => what.includes("account"),
    () => void queries.invalidateQueries({ queryKey: ["sparklines"] }, { cancelRefetch: false }),
  );
}

// The strategies, one a row; at phone width one a card.

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

function StrategyTable({ caption, rows, sparklines, loadedAt, empty }: StrategyTableProps) {
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
  ({ strategyId, name, type, fillProfile }) => (
    <span className="flex max-w-64 flex-col items-start">
      <Link
        to="/strategies/$strategyId"
        params={{ strategyId }}
        title={name}
        className={`max-w-full truncate ${TEXT_LINK}`}
      >
        {name}
      </Link>
      <span className="flex items-center gap-1.5 font-normal text-ink-soft text-xs">
        {TYPES[type].name}
        <ProfileBadge profile={fillProfile} />
      </span>
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

const SIZE = { width: 96, height: 24 };

/** The recent course of equity. It is hidden from screen readers, which read the figures beside it. */
function Sparkline({ equity }: { equity: readonly string[] | undefined }) {
  const points = equity === undefined ? null : sparklinePoints(equity, SIZE);
  const [first = "0"] = equity ?? [];
  const direction = signOf(subtract(equity?.at(-1) ?? "0", first));
  const look = direction === 0 ? "text-ink-soft" : direction > 0 ? "text-gain" : "text-loss";
  return (
    <svg
      {...SIZE}
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      aria-hidden="true"
      className={`inline ${look}`}
    >
      {points !== null && <polyline points={points} fill="none" stroke="currentColor" strokeWidth={1.5} />}
    </svg>
  );
}

/** `keys` are undefined while they are loaded. */
type NextStepProps = { person: PersonJson; keys: readonly KeyJson[] | undefined };

function NextStep({ person, keys }: NextStepProps) {
  if (keys === undefined) {
    return (
      <div aria-busy="true" className="px-4 py-8">
        <Skeleton lines={4} />
      </div>
    );
  }
  const step = journeyOf({ person, keys, strategies: [], hasOrder: false }).find(
    ({ state }) => state === "OPEN" || state === "WAITING",
  );
  const isReady = step === undefined || step.name === "STRATEGY";
  return (
    <EmptyState
      title="No strategies yet."
      action={
        isReady ? (
          <ButtonLink to="/strategies/new">New strategy</ButtonLink>
        ) : (
          <ButtonLink to="/welcome">See all steps</ButtonLink>
        )
      }
    >
      <p>A strategy is a virtual account that your bot trades with one API key.</p>
      {!isReady && (
        <p className="mt-2 text-ink">
          {step.state === "WAITING" ? "Waiting" : "First"}: {lowerFirst(step.title)}. {step.says}
        </p>
      )}
    </EmptyState>
  );
}

/** Within a sentence; "API" stays as it is. */
function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
