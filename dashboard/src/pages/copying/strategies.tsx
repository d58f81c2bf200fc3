// The strategies that may be copied: how they did, and how large an account has to be.

import { useQuery } from "@tanstack/react-query";
import { offersQuery, venuesQuery } from "../../api/copying.ts";
import { useSession } from "../../api/session.ts";
import { AddressSelect, useAddress } from "../../app/address.tsx";
import { NotOffered } from "../../copying/not-offered.tsx";
import { listedWords, sortedOffers, sortOf } from "../../copying/sort-offers.ts";
import { MARKET_KINDS } from "../../markets/markets.ts";
import { Button } from "../../ui/button.tsx";
import { Card, EmptyState, QueryState } from "../../ui/card.tsx";
import { SearchForm } from "../../ui/forms/field.tsx";
import { useIsPhone } from "../../ui/hooks.ts";
import { Screen } from "../../ui/page-header.tsx";
import { Pager } from "../../ui/pager.tsx";
import { OfferTable, SORT_NAMES } from "./strategies/offer-table.tsx";

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
      {!isOffered && (
        <Card isFlush>
          <NotOffered />
        </Card>
      )}
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
        <div aria-busy={isPlaceholderData}>
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
        </div>
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
