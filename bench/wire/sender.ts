// The process that sends. It is given the keys once, then one load after another, and answers with what it
// measured.
import { constants, setPriority } from "node:os";
import { Probe, type Probed, type ProbeTask } from "../sockets/probe.ts";
import { type Exchange, type Load, type Loaded, type Pace, type RequestConnection, run } from "./load.ts";
import type { Credentials } from "./requests.ts";
import {
  GOOD_STATUS,
  type Keys,
  PROOF,
  type RequestKind,
  Requests,
  type Target,
  type Trips,
} from "./requests.ts";

export type SenderSetup = {
  readonly credentials: Keys;
  readonly trips: Trips;
  /** Keys of the accounts whose user data events are timed. */
  readonly probes?: readonly Credentials[];
  /**
   * Whether a database shares its core: the database then has priority, since a sender that never sleeps
   * would block it.
   */
  readonly yieldsToDatabase?: boolean;
};
export type SenderTask = Load & {
  readonly kind: RequestKind;
  readonly target: Target;
  /** IDLE: nothing is sent but by the probe. */
  readonly pace: Pace | { readonly name: "IDLE" };
  /** How orders of other accounts are timed to their events beside the load, if they are. */
  readonly probe?: ProbeTask;
};
export type SenderAnswer = {
  /** Null of a failed run, and of an idle one. */
  readonly loaded: Loaded | null;
  readonly probed: Probed | null;
  /** Good answers of the whole run, the warming up included. */
  readonly goodCount: number;
  /** The failure, if there was one: the run is then no figure. */
  readonly failure: string | null;
};

const FAILURE_TEXT_MAX = 300;
/** Statuses of an overloaded server, valid if it sends Retry-After. */
const SHED_STATUSES: readonly number[] = [429, 503];
const RETRY_AFTER = /\r\nretry-after: [0-9]+(?:\r\n|$)/i;

process.once("message", ({ credentials, trips, probes = [], yieldsToDatabase = false }: SenderSetup) => {
  if (yieldsToDatabase) setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const requests = new Requests(credentials, trips);
  const ofProbes = { keys: probes, requests: new Requests({ SPOT: probes, FUTURES: [] }, trips) };
  process.on("message", async (task: SenderTask) => {
    const sent = task.probe ? probed(task, task.probe, requests, ofProbes) : carryOut(task, requests);
    process.send?.(await sent);
  });
  process.send?.("ready");
});
process.once("disconnect", () => process.exit());

/** Carries out a task and times orders of other accounts beside it. */
async function probed(
  task: SenderTask,
  how: ProbeTask,
  requests: Requests,
  { keys, requests: ofProbes }: { readonly keys: readonly Credentials[]; readonly requests: Requests },
): Promise<SenderAnswer> {
  let probe: Probe | null = null;
  let answer: SenderAnswer = { loaded: null, probed: null, goodCount: 0, failure: null };
  try {
    probe = await Probe.open(task.port, ofProbes, keys);
    const timed = probe.run(task, how);
    timed.catch(() => {});
    answer = await carryOut(task, requests);
    answer = { ...answer, probed: await timed };
  } catch (error) {
    answer = { ...answer, failure: answer.failure ?? reasonOf(error) };
  }
  probe?.close();
  return { ...answer, goodCount: answer.goodCount + (probe?.goodCount ?? 0) };
}

async function carryOut(task: SenderTask, requests: Requests): Promise<SenderAnswer> {
  const { kind, target, pace, socketPath } = task;
  if (pace.name === "IDLE") return { loaded: null, probed: null, goodCount: 0, failure: null };
  const proof = PROOF[target][kind];
  let goodCount = 0;
  let badCount = 0;
  let firstBad = "";
  const exchange: Exchange = (connection: RequestConnection, onDone): void => {
    const ticket = socketPath === undefined ? requests.take(kind, target) : requests.takeMessage(target);
    connection.send(ticket.text, (status, body, head) => {
      const isGood = status === GOOD_STATUS[kind] && body.includes(proof);
      if (isGood) goodCount += 1;
      else if (!(SHED_STATUSES.includes(status) && (socketPath !== undefined || RETRY_AFTER.test(head)))) {
        badCount += 1;
        if (firstBad === "") firstBad = `${status} ${body.toString("latin1", 0, FAILURE_TEXT_MAX)}`;
      }
      requests.answered(ticket, kind, target, isGood);
      onDone(isGood, status);
    });
  };
  try {
    const loaded = await run(task, pace, exchange);
    const failure =
      badCount === 0 ? null : `${badCount} of ${goodCount + badCount} answers were bad: ${firstBad}`;
    return { loaded, probed: null, goodCount, failure };
  } catch (error) {
    const reason = reasonOf(error);
    const text = firstBad === "" ? reason : `${reason}; ${firstBad}`;
    return { loaded: null, probed: null, goodCount, failure: text };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
