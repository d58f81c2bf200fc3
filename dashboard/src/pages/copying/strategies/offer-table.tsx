// Strategies on offer, one a row; the heads of the columns sort them.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { OfferJson } from "../../../../../src/dashboard-api/schemas.ts";
import { isLeastFirst, type OfferSort } from "../../../copying/sort-offers.ts";
import { FAMILY_NAMES } from "../../../copying/words.ts";
import { TEXT_LINK, TextLink } from "../../../ui/button.tsx";
import { magnitude } from "../../../ui/figures/decimals.ts";
import { durationInWords } from "../../../ui/figures/duration.ts";
import { Amount, Percent } from "../../../ui/figures/figures.tsx";
import { useNow } from "../../../ui/hooks.ts";
import { type Column, column, headColumn, numberColumn, Table } from "../../../ui/table.tsx";

export const SORT_NAMES: Readonly<Record<OfferSort, string>> = {
  return: "Return",
  drawdown: "Drawdown",
  age: "Age",
  copiers: "Copiers",
  smallest: "Smallest balance",
};

type OfferTableProps = {
  rows: readonly OfferJson[] | undefined;
  sort: OfferSort;
  /** The worst first. */
  isReversed: boolean;
  onSort: (sort: OfferSort) => void;
  empty: ReactNode;
};

export function OfferTable({ rows, sort, isReversed, onSort, empty }: OfferTableProps) {
  const sorting = (name: OfferSort): Pick<Column<OfferJson>, "sort"> => ({
    sort: {
      state: name !== sort ? null : isReversed ? "reversed" : "sorted",
      isLeastFirst: isLeastFirst(name),
      onSort: () => onSort(name),
    },
  });
  return (
    <Table
      caption="Strategies to copy"
      columns={[
        NAME,
        { ...RETURN, ...sorting("return") },
        { ...DRAWDOWN, ...sorting("drawdown") },
        { ...AGE, ...sorting("age") },
        { ...COPIERS, ...sorting("copiers") },
        { ...SMALLEST, ...sorting("smallest") },
        OWN,
      ]}
      rows={rows}
      rowKey={({ strategyId }) => strategyId}
      empty={empty}
    />
  );
}

const NAME: Column<OfferJson> = headColumn(
  { header: "Strategy", width: "w-[24%]" },
  ({ strategyId, name, type }) => (
    <span className="flex max-w-72 flex-col items-start">
      <Link
        to="/copying/strategies/$strategyId"
        params={{ strategyId }}
        title={name}
        className={`max-w-full truncate ${TEXT_LINK}`}
      >
        {name}
      </Link>
      <span className="font-normal text-ink-soft text-xs">{FAMILY_NAMES[type]}</span>
    </span>
  ),
);
const RETURN: Column<OfferJson> = numberColumn(SORT_NAMES.return, ({ performance }) =>
  performance === null ? null : <Percent rate={performance.returnRate} isSigned />,
);
const DRAWDOWN: Column<OfferJson> = numberColumn(SORT_NAMES.drawdown, ({ performance }) =>
  performance === null ? null : <Percent rate={magnitude(performance.maxDrawdown)} />,
);
const AGE: Column<OfferJson> = numberColumn(SORT_NAMES.age, ({ createdAt }) => <Age since={createdAt} />);
const COPIERS: Column<OfferJson> = numberColumn(SORT_NAMES.copiers, ({ copiers }) =>
  copiers.toLocaleString("en-GB"),
);
const SMALLEST: Column<OfferJson> = numberColumn(SORT_NAMES.smallest, ({ smallestBalances }) =>
  smallestBalances === null ? null : (
    <span className="inline-flex flex-col items-end">
      <span>
        <Amount value={smallestBalances.all} decimals={2} asset="USDT" />
      </span>
      <span className="text-ink-soft text-xs">
        95 %: <Amount value={smallestBalances.most} decimals={2} /> · 80 %:{" "}
        <Amount value={smallestBalances.many} decimals={2} />
      </span>
    </span>
  ),
);
const OWN: Column<OfferJson> = column("Yours", ({ copyId }) =>
  copyId === null ? null : (
    <TextLink to="/copies/$copyId" params={{ copyId }}>
      You copy it
    </TextLink>
  ),
);

export function Age({ since }: { since: number }) {
  return durationInWords((useNow() - since) / 1_000);
}
