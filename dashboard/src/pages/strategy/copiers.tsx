// The copiers of the strategy: whether it is open to them, how their copies fare, what was skipped, and
// slippage.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { StrategyCopyingJson, StrategyJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { strategyCopyingQuery } from "../../api/copying.ts";
import { useStrategy } from "../../api/strategy.ts";
import { CopyNumbers, Outcomes, Unclosed } from "../../copying/copy-status.tsx";
import { Gap } from "../../copying/gap.tsx";
import { HaltCard, HaltedNote, WHEN_CLEARED } from "../../copying/halt.tsx";
import { counted } from "../../copying/words.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Placeholder, QueryState } from "../../ui/card.tsx";
import { Meter } from "../../ui/figures/meter.tsx";
import { FormDialog } from "../../ui/forms/form.tsx";
import { Screen } from "../../ui/page-header.tsx";

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
          {data.halted !== null && <StrategyHalted strategyId={strategyId} halted={data.halted} />}
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

type OpenCardProps = { strategy: StrategyJson } & Pick<
  StrategyCopyingJson,
  "isOpen" | "isOffered" | "copiers"
>;

function OpenCard({ strategy, isOpen, isOffered, copiers }: OpenCardProps) {
  const [isAsking, setAsking] = useState(false);
  const { strategyId } = strategy;
  const going = copiers.FOLLOWING + copiers.PAUSED + copiers.CLOSING;
  const isLive = strategy.status === "LIVE";
  return (
    <Card
      title="Open to copiers"
      aside={
        isOpen ? (
          <Badge tone="gain">
            <span aria-hidden="true">✓</span>Open
          </Badge>
        ) : (
          <Badge>Not open</Badge>
        )
      }
    >
      <p className="max-w-prose">{wordsOf({ isLive, isOpen, isOffered })}</p>
      {isLive && (isOpen || isOffered) && (
        <div className="mt-3">
          <Button kind={isOpen ? "quiet" : "primary"} onClick={() => setAsking(true)}>
            {isOpen ? "Close to new copiers…" : "Open to copiers…"}
          </Button>
        </div>
      )}
      <FormDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={isOpen ? "Close to new copiers?" : "Open to copiers?"}
        action={isOpen ? "Close to new copiers" : "Open to copiers"}
        first={{ isOpen: !isOpen }}
        send={(sent) => call("PUT /strategies/:strategyId/copying", { strategyId, ...sent })}
        says={(_answer, sent) =>
          sent.isOpen ? "The strategy is open to copiers" : "The strategy is closed to new copiers"
        }
        outdates={[strategyCopyingQuery(strategyId).queryKey]}
      >
        {() =>
          isOpen ? (
            <ul className="list-disc pl-5">
              <li>It is no longer listed, and nobody new can copy it.</li>
              <li>
                {going === 0
                  ? "Nobody copies it now."
                  : `${counted(going, "copy continues", "copies continue")}.`}
              </li>
            </ul>
          ) : (
            <>
              <p>Every copier of this server then sees:</p>
              <ul className="list-disc pl-5">
                <li>its name, “{strategy.name}”, its type and its age</li>
                <li>its equity curve, return, drawdown and number of trades</li>
                <li>
                  the symbols that it trades, what it holds now (without sizes), and the sizes of its last
                  orders in a preview
                </li>
                <li>how many copy it</li>
              </ul>
              <p>
                A copier sees each of its orders from then on. Nobody sees your name, your address or your
                keys.
              </p>
            </>
          )
        }
      </FormDialog>
    </Card>
  );
}

function wordsOf(its: { isLive: boolean; isOpen: boolean; isOffered: boolean }): string {
  if (!its.isLive) return "A closed strategy can’t be copied.";
  if (!its.isOffered) {
    return its.isOpen
      ? "It is open, but the operator of this server no longer allows any exchange: nobody can start to copy it, and nothing is sent for existing copies."
      : "Copying is not offered here: this server’s operator allows no exchange, so nobody could copy it.";
  }
  return its.isOpen
    ? "It is listed for every copier of this server. Each order, cancel, take profit and stop loss of your bot is mirrored on their exchange accounts, scaled to them; your bot does not wait for that."
    : "Nobody sees it. Open it, and copiers can have its orders mirrored on their own exchange accounts.";
}

/** The kill switch that halts the strategy's copies, the trader's or an operator's. */
function StrategyHalted({
  strategyId,
  halted,
}: {
  strategyId: string;
  halted: NonNullable<StrategyCopyingJson["halted"]>;
}) {
  return (
    <HaltedNote
      title="Copies of this strategy are halted"
      halted={halted}
      text={`Nothing is sent for them; what the strategy does is logged as skipped. ${WHEN_CLEARED}`}
      others="An operator set this kill switch; only an operator can clear it."
      clear={() => call("DELETE /strategies/:strategyId/copying/halt", { strategyId })}
      outdates={[strategyCopyingQuery(strategyId).queryKey]}
    />
  );
}

function CopiersHalt({ strategyId }: { strategyId: string }) {
  return (
    <HaltCard
      title="Halt all copies"
      text="A kill switch for emergencies, such as a bot out of control: nothing is sent for any copy of this strategy, not even cancels and exits, until you clear it. It does not stop your own bot."
      question="Halt all copies of this strategy?"
      consequences={`Copiers see the reason. Their holdings and their open orders at the exchanges stay as they are. ${WHEN_CLEARED}`}
      halt={(reason) => call("POST /strategies/:strategyId/copying/halt", { strategyId, reason })}
      says="All copies are halted"
      outdates={[strategyCopyingQuery(strategyId).queryKey]}
    />
  );
}
