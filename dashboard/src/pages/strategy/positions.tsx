// What the strategy holds: positions of a futures strategy, balances of a spot one.

import { useStrategy } from "../../api/use-strategy.ts";
import { PageHeader } from "../../ui/page-header.tsx";
import { Placeholder } from "../../ui/query.tsx";
import { Balances } from "./positions/balances.tsx";
import { FuturesPositions } from "./positions/futures.tsx";

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const title = strategy?.type === "SPOT" ? "Balances" : "Positions";
  return (
    <>
      <PageHeader
        title={title}
        documentTitle={`${title}, ${strategy?.name ?? strategyId}`}
        lead={
          strategy?.type === "SPOT"
            ? "Assets of the strategy. Locked amounts are reserved by open orders."
            : undefined
        }
      />
      {strategy === undefined && <Placeholder lines={5} />}
      {strategy?.type === "SPOT" && <Balances strategyId={strategyId} title="By asset" />}
      {strategy?.type === "FUTURES" && (
        <FuturesPositions strategyId={strategyId} canCancel={strategy.status !== "CLOSED"} />
      )}
    </>
  );
}
