// The strategies that may be copied: how they did, and how large an account has to be.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { OfferJson } from "../../../../src/dashboard-api/schemas.ts";
import { offersQuery, venuesQuery } from "../../api/copying.ts";
import { useSession } from "../../api/session.ts";
import { AddressSelect, useAddress } from "../../app/address.tsx";
import { NotOffered } from "../../copying/not-offered.tsx";
import {
  isLeastFirst,
  listedWords,
  type OfferSort,
  sortedOffers,
  sortOf,
} from "../../copying/sort-offers.ts";
import { TYPE_NAMES } from "../../copying/words.ts";
import { MARKET_KINDS } from "../../markets/markets.ts";
import { Age } from "../../ui/badge.tsx";
import { Button, TEXT_LINK, TextLink } from "../../ui/button.tsx";
import { Card, Dimmed, EmptyState, QueryState } from "../../ui/card.tsx";
import { magnitude } from "../../ui/figures/decimals.ts";
import { Amount, Percent } from "../../ui/figures/figures.tsx";
import { SearchForm } from "../../ui/forms/field.tsx";
import { useIsPhone } from "../../ui/hooks.ts";
import { Pager, Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, Table } from "../../ui/table.tsx";

const SEARCH_LENGTH_MAX = 100;
const TYPES = [
  { value: "", label: "Spot and futures" },
  { value: "SPOT", label: "Spot" },
  { value: "FUTURES", label: "Futures" },
] as const;

export function Page() {
  const { server } = useSession();
  const { search, change } = useAddress();
  const isPhone = useIsPhone();
  const venues = useQuery(venuesQuery).data?.rows;
  const type = TYPES.find(({ value }) => value === search.type)?.value ?? "";
  const sort = sortOf(search.sort);
  const isReversed = search.reversed !== undefined;
  const isOffered = venues === undefined || venues.length > 0;
  const query = useQuery({
    ...offersQuery({ type: type || undefined, search: search.search, before: search.before }),
    enabled: venues !== undefined && isOffered,
  });
  const { data, error, isPlaceholderData } = query;
  return (
    <Screen
      title="Strategies"
      documentTitle="Strategies to copy"
      lead={`Each was opened to copiers by its trader. Its results are those of a virtual account, filled ${MARKET_KINDS[server.market].prices}. They do not predict future results.`}
      actions={
        <>
          <AddressSelect name="type" label="Type" value={type} options={TYPES} replace width="w-60" />
          {isPhone && (
            <AddressSelect
              name="sort"
              label="Sort by"
              value={sort}
              options={Object.entries(SORT_NAMES).map(([value, label]) => ({ value, label }))}
              forgets="reversed"
              replace
              width="w-56"
            />
          )}
        </>
      }
    >
      <QueryState of={query} />
      {!isOffered && <NotOffered />}
      {isOffered && (
        <SearchForm
          key={search.search ?? ""}
          label="Name of the strategy"
          maxLength={SEARCH_LENGTH_MAX}
          searched={search.search ?? ""}
          onSearch={(text) => change({ search: text, before: undefined })}
        />
      )}
      {isOffered && (error === null || data !== undefined) && (
        <Dimmed isOld={isPlaceholderData}>
          {data !== undefined && data.total > 0 && (
            <p className="mb-2 max-w-prose text-ink-soft text-sm">
              {listedWords({ shown: data.rows.length, total: data.total })}
            </p>
          )}
          <Card isFlush>
            <OfferTable
              rows={data && sortedOffers(data.rows, sort, isReversed)}
              sort={sort}
              isReversed={isReversed}
              onSort={(next) =>
                change(
                  { sort: next, reversed: next === sort && !isReversed ? "1" : undefined },
                  { replace: true },
                )
              }
              empty={
                search.search === undefined ? (
                  <EmptyState title="No strategy is open to copiers now.">
                    A trader opens a strategy to copiers on its page “Copiers”. It is then listed here.
                  </EmptyState>
                ) : (
                  <EmptyState
                    title="No strategy has this in its name."
                    action={
                      <Button onClick={() => change({ search: undefined, before: undefined })}>
                        Show all strategies
                      </Button>
                    }
                  />
                )
              }
            />
            <Pager what="strategies" before={search.before} next={data?.next} />
          </Card>
        </Dimmed>
      )}
      <details className="text-sm">
        <summary className="py-1 text-ink-soft hover:text-ink">What the smallest balance means</summary>
        <p className="max-w-prose py-2 text-ink-soft">
          Orders are scaled to your account, and the exchange rejects orders below its minimum quantity and
          value. With the first balance, all of the strategy’s recent orders would have been large enough;
          with the second, 95 % of them; with the third, 80 %. An order that is too small is skipped, never
          made larger. If the copy uses half of your balance, you need twice as much. Orders can be skipped
          for other reasons too: exits of what the strategy held before you started are skipped whatever your
          balance is.
        </p>
      </details>
    </Screen>
  );
}

// Strategies on offer, one a row; the heads of the columns sort them.

const SORT_NAMES: Readonly<Record<OfferSort, string>> = {
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

function OfferTable({ rows, sort, isReversed, onSort, empty }: OfferTableProps) {
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
      <span className="font-normal text-ink-soft text-xs">{TYPE_NAMES[type]}</span>
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
