// The process that sends. It is given the keys once, then one load after another, and answers with what it
// measured.
import { constants, setPriority } from "node:os";
import { type Exchange, type Load, type Loaded, type Pace, run } from "./load.ts";
import type { Credentials } from "./requests.ts";
import {
  type ByFamily,
  GOOD_STATUS,
  PROOF,
  type RequestKind,
  Requests,
  type Target,
  type Trips,
} from "./requests.ts";
import type { WireConnection } from "./wire.ts";

export type SenderSetup = {
  readonly credentials: ByFamily<readonly Credentials[]>;
  readonly trips: Trips;
  /**
   * Whether a database shares its core: the database then has priority, since a sender that never sleeps
   * would block it.
   */
  readonly yieldsToDatabase?: boolean;
};
export type SenderTask = Load & {
  readonly kind: RequestKind;
  readonly target: Target;
  readonly pace: Pace;
};
export type SenderAnswer = {
  readonly loaded: Loaded | null;
  /** Good answers of the whole run, the warming up included. */
  readonly goodCount: number;
  /** The failure, if there was one: the run is then no figure. */
  readonly failure: string | null;
};

const FAILURE_TEXT_MAX = 300;
/** Statuses of an overloaded server, valid if it sends Retry-After. */
const SHED_STATUSES: readonly number[] = [429, 503];
const RETRY_AFTER = /\r\nretry-after: [0-9]+(?:\r\n|$)/i;

process.once("message", ({ credentials, trips, yieldsToDatabase = false }: SenderSetup) => {
  if (yieldsToDatabase) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const requests = new Requests(credentials, trips);
  process.on("message", async (task: SenderTask) => {
    process.send?.(await carryOut(task, requests));
  });
  process.send?.("ready");
});
process.once("disconnect", () => process.exit());

async function carryOut(task: SenderTask, requests: Requests): Promise<SenderAnswer> {
  const { kind, target } = task;
  const proof = PROOF[target][kind];
  let goodCount = 0;
  let badCount = 0;
  let firstBad = "";
  const exchange: Exchange = (connection: WireConnection, onDone): void => {
    const ticket = requests.take(kind, target);
    connection.send(ticket.text, (status, body, head) => {
      const isGood = status === GOOD_STATUS[kind] && body.includes(proof);
      if (isGood) goodCount += 1;
      else if (!(SHED_STATUSES.includes(status) && RETRY_AFTER.test(head))) {
        badCount += 1;
        if (firstBad === "") firstBad = `${status} ${body.toString("latin1", 0, FAILURE_TEXT_MAX)}`;
      }
      requests.answered(ticket, kind, target, isGood);
      onDone(isGood, status);
    });
  };
  try {
    const loaded = await run(task, task.pace, exchange);
    const failure =
      badCount === 0 ? null : `${badCount} of ${goodCount + badCount} answers were bad: ${firstBad}`;
    return { loaded, goodCount, failure };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { loaded: null, goodCount, failure: firstBad === "" ? reason : `${reason}; ${firstBad}` };
  }
}
