// The age of the shown data, and the button that reloads it.
import type { UseQueryResult } from "@tanstack/react-query";
import { Button } from "../../../ui/button.tsx";
import { formatTime } from "../../../ui/figures/figures.tsx";

type RefreshedProps = { query: Pick<UseQueryResult, "dataUpdatedAt" | "isFetching" | "refetch"> };

export function Refreshed({ query: { dataUpdatedAt: at, isFetching, refetch } }: RefreshedProps) {
  return (
    <>
      <span className="numeric text-ink-soft text-sm">
        {at === 0 ? "Not loaded yet" : `As of ${formatTime(at, "time")}`}
      </span>
      <Button size="small" onClick={() => void refetch()} aria-disabled={isFetching}>
        Refresh
      </Button>
    </>
  );
}
