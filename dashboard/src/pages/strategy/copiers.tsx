// The copiers of the strategy: whether it is open to them, how their copies fare, what was skipped, and
// slippage.

import { useQuery } from "@tanstack/react-query";
import type { StrategyCopyingJson } from "../../../../src/dashboard-api/schemas.ts";
import { strategyCopyingQuery } from "../../api/copying.ts";
import { useStrategy } from "../../api/use-strategy.ts";
import { CopyNumbers } from "../../copying/copy-numbers.tsx";
import { Gap } from "../../copying/gap.tsx";
import { Outcomes } from "../../copying/outcomes.tsx";
import { Unclosed } from "../../copying/unclosed.tsx";
import { counted } from "../../copying/words.ts";
import { Card } from "../../ui/card.tsx";
import { Meter } from "../../ui/figures/meter.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { Placeholder, QueryState } from "../../ui/query.tsx";
import { CopiersHalt, HaltedNote } from "./copiers/copiers-halt.tsx";
import { OpenCard } from "./copiers/open-card.tsx";

export function Page() {
  const { strategyId, strategy } = useStrategy();
  const query = useQuery(strategyCopyingQuery(strategyId));
  const { data, error } = query;
  const isKnown = strategy !== undefined && data !== undefined;
  const copies = data === undefined ? 0 : Object.values(data.copiers).reduce((sum, count) => sum + count, 0);
  return (
    <Screen title="Copiers" documentTitle={`Copiers, ${strategy?.name ?? strategyId}`}>
      <QueryState of={query} />
      {!isKnown && error === null && <Placeholder lines={8} />}
      {isKnown && (
        <>
          {data.closing !== null && <Closing {...data.closing} />}
          {data.halted !== null && <HaltedNote strategyId={strategyId} halted={data.halted} />}
          <OpenCard strategy={strategy} {...data} />
          {copies > 0 && (
            <>
              <div className="grid items-start gap-5 xl:grid-cols-2">
                <Card title="Copies">
                  <CopyNumbers copies={data.copiers} behind={data.behind} />
                </Card>
                <Card title="What was copied in the last 30 days">
                  <Outcomes counts={data.counts} />
                </Card>
              </div>
              <Gap gap={data.gap} of="STRATEGY" />
              {data.halted === null && <CopiersHalt strategyId={strategyId} />}
            </>
          )}
        </>
      )}
    </Screen>
  );
}

function Closing({ done, total, left }: NonNullable<StrategyCopyingJson["closing"]>) {
  return (
    <Card title="Closing its copies">
      <Meter
        label={done === total ? "All copies are closed" : "Closed copies"}
        filled={total === 0 ? 1 : done / total}
        value={`${done.toLocaleString("en-GB")} of ${counted(total, "copy", "copies")}`}
      >
        <p className="mt-2 text-ink-soft text-sm">
          Each copy cancels its orders and sells what it holds. If its exchange can’t be reached, this is
          retried until it is done.
        </p>
        <Unclosed rows={left} />
      </Meter>
    </Card>
  );
}
