// Closing the strategy for good: first what it would do, then its name to be typed; then, while a market is
// waited for, what is left.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ClosePreviewJson, StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { outdate } from "../../../api/query-client.ts";
import { closePreviewQuery, summaryQuery } from "../../../api/strategy.ts";
import { useAddress } from "../../../app/use-address.ts";
import { shownResult } from "../../../strategies/equity.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Amount, SignedAmount } from "../../../ui/figures/amounts.tsx";
import { Facts } from "../../../ui/figures/facts.tsx";
import { Time } from "../../../ui/figures/time.tsx";
import { ConfirmByTyping } from "../../../ui/forms/confirm-by-typing.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";
import { QueryState } from "../../../ui/query.tsx";
import { ClosePreview } from "./close-preview.tsx";
import { closeInWords } from "./close-words.ts";

export function CloseCard({ strategy }: { strategy: StrategyJson }) {
  const { search, change } = useAddress();
  const { status } = strategy;
  const isLookedAt = search.close !== undefined;
  return (
    <Card title={TITLES[status]}>
      <div role="status" className="sr-only">
        {status !== "LIVE" && TITLES[status]}
      </div>
      <div className="flex flex-col gap-4">
        {status === "LIVE" && (
          <p>
            Closing cancels open orders and sells or closes holdings at market. The strategy then no longer
            trades; its history stays. It can’t be reopened.
          </p>
        )}
        {status === "LIVE" && !isLookedAt && (
          <div>
            <Button onClick={() => change({ close: "1" }, { replace: true })}>Show what closing does</Button>
          </div>
        )}
        {status === "LIVE" && isLookedAt && <Closing strategy={strategy} />}
        {status === "CLOSING" && <Remaining strategy={strategy} />}
        {status === "CLOSED" && (
          <Facts
            facts={[
              { label: "Equity", value: <Amount value={strategy.equity} decimals={2} asset="USDT" /> },
              { label: "Profit", value: <SignedAmount value={shownResult(strategy).profit} asset="USDT" /> },
              { label: "Created", value: <Time at={strategy.createdAt} /> },
            ]}
          />
        )}
      </div>
    </Card>
  );
}

const TITLES = {
  LIVE: "Close this strategy",
  CLOSING: "Being closed",
  CLOSED: "Closed",
} as const satisfies Record<StrategyJson["status"], string>;

function Closing({ strategy }: { strategy: StrategyJson }) {
  const { strategyId, type } = strategy;
  const [isAsking, setAsking] = useState(false);
  const closing = useClosing(strategyId, () => setAsking(false));
  // While it is being closed there is nothing left to be previewed.
  const isUnderWay = closing.isPending || closing.isSuccess;
  const query = useQuery({
    ...closePreviewQuery(strategyId),
    enabled: !isUnderWay,
  });
  const { data, refetch, isFetching } = query;
  if (data === undefined) return <QueryState of={query} lines={6} isBare />;
  const words = closeInWords(data);
  return (
    <>
      <ClosePreview preview={data} isFutures={type === "FUTURES"} />
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="danger" onClick={() => setAsking(true)}>
          Close the strategy
        </Button>
        <Button onClick={() => void refetch()} isBusy={isFetching}>
          Refresh
        </Button>
      </div>
      <ConfirmByTyping
        isOpen={isAsking}
        onClose={() => {
          setAsking(false);
          closing.reset();
        }}
        title="Close this strategy for good?"
        confirmation={data.confirmation}
        action="Close the strategy"
        form={{ onSubmit: () => closing.mutate(data), isBusy: closing.isPending, error: closing.error }}
      >
        {words.length === 0 ? (
          <p>There are no open orders and nothing to sell.</p>
        ) : (
          <ul className="list-disc pl-5">
            {words.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
      </ConfirmByTyping>
    </>
  );
}

function useClosing(strategyId: string, onClosed: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ confirmation }: ClosePreviewJson) =>
      call("POST /strategies/:strategyId/close", { strategyId, confirmation }),
    onSuccess: (strategy) => {
      queries.setQueryData(summaryQuery(strategyId).queryKey, strategy);
      toast(strategy.status === "CLOSED" ? "Strategy closed" : "The strategy is being closed");
      onClosed();
      outdate(["strategies"], ["keys"], ["strategy", strategyId]);
    },
  });
}

/** Shown while the strategy waits for prices to close; the page updates itself when they arrive. */
function Remaining({ strategy: { strategyId, type } }: { strategy: StrategyJson }) {
  const query = useQuery(closePreviewQuery(strategyId));
  return (
    <>
      <ol className="list-decimal pl-5">
        <li>Orders, take profits and stop losses are canceled.</li>
        <li>
          {query.data === undefined || query.data.waitingFor.length === 0
            ? "What is held is being sold."
            : `Waiting for prices of ${query.data.waitingFor.join(", ")}: holdings there are sold as soon as prices arrive.`}
        </li>
        <li>Then it is closed. You need not do anything.</li>
      </ol>
      <QueryState of={query} />
      {query.data !== undefined && <ClosePreview preview={query.data} isFutures={type === "FUTURES"} />}
    </>
  );
}
