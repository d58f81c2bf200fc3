// The frame of all pages of one copy: what it copies, its status, its worth, its tabs and its live updates.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Outlet } from "@tanstack/react-router";
import type { CopyJson } from "../../../../src/dashboard-api/schemas.ts";
import { isApiError } from "../../api/call.ts";
import { copyQuery } from "../../api/copying.ts";
import { CopyStatus } from "../../copying/copy-status.tsx";
import { hostOf } from "../../copying/words.ts";
import { useWatch } from "../../live/use-live.ts";
import { Skeleton } from "../../ui/card.tsx";
import { Amount, Percent } from "../../ui/figures/figures.tsx";
import { Instead, type Tab, Tabs, Where } from "../../ui/page-header.tsx";

const route = getRouteApi("/copies/$copyId");

export function CopyFrame() {
  const { copyId } = route.useParams();
  const { data: copy, error } = useQuery(copyQuery(copyId));
  useWatch("copy", [copyId]);
  if (isApiError(error, "NOT_FOUND")) {
    return (
      <Instead
        title="There is no such copy"
        why="The address may be mistyped, or it belongs to somebody else."
        to="/copying"
        action="Go to your copies"
      />
    );
  }
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-x-6">
        {copy === undefined ? (
          <span aria-busy={error === null} className="flex min-h-8 w-72 items-center">
            {error === null && <Skeleton />}
          </span>
        ) : (
          <>
            <CopyName copy={copy} />
            <Worth copy={copy} />
          </>
        )}
      </div>
      <Tabs label="Copy" tabs={tabsOf(copyId)} />
      <Outlet />
    </>
  );
}

function CopyName({ copy }: { copy: CopyJson }) {
  const { strategyName, family: type, account } = copy;
  return (
    <Where of="/copying" title="Your copies">
      <span className="font-medium">{strategyName}</span>
      <span className="text-ink-soft">
        {type.toLowerCase()}, on {account.label} at {hostOf(account.venue)}
      </span>
      <CopyStatus copy={copy} />
    </Where>
  );
}

function Worth({ copy: { equity, resultRate, asset } }: { copy: CopyJson }) {
  return (
    <dl className="flex min-h-8 flex-wrap items-baseline gap-x-4 text-sm">
      <div className="flex items-baseline gap-x-1.5">
        <dt className="text-ink-soft">Equity</dt>
        <dd className="font-semibold text-lg">
          <Amount value={equity} decimals={2} asset={asset} />
        </dd>
      </div>
      <div>
        <dt className="sr-only">Result since it began</dt>
        <dd>
          <Percent rate={resultRate} isSigned />
        </dd>
      </div>
    </dl>
  );
}

function tabsOf(copyId: string): readonly Tab[] {
  const params = { copyId };
  return [
    { label: "Overview", to: "/copies/$copyId", params, isExact: true },
    { label: "Mirror log", to: "/copies/$copyId/log", params },
    { label: "Drift", to: "/copies/$copyId/drift", params },
    { label: "Settings", to: "/copies/$copyId/settings", params },
  ];
}
