import { useState } from "react";
import type { StrategyCopyingJson, StrategyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { strategyCopyingQuery } from "../../../api/copying.ts";
import { counted } from "../../../copying/words.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { FormDialog } from "../../../ui/forms/dialog-form.tsx";

type OpenCardProps = { strategy: StrategyJson } & Pick<
  StrategyCopyingJson,
  "isOpen" | "isOffered" | "copiers"
>;

export function OpenCard({ strategy, isOpen, isOffered, copiers }: OpenCardProps) {
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
        first={{}}
        send={() => call("PUT /strategies/:strategyId/copying", { strategyId, isOpen: !isOpen })}
        says={isOpen ? "The strategy is closed to new copiers" : "The strategy is open to copiers"}
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
