// The process that sends. It is given the keys once, then one load after another, and answers with what it measured.
import { type Load, type Loaded, saturate, schedule } from "./load.ts";
import { type Credentials, PROOF, type RequestKind, Requests, type Target, type Trip } from "./requests.ts";
import type { WireConnection } from "./wire.ts";

export type SenderSetup = { readonly credentials: readonly Credentials[]; readonly trips: readonly Trip[] };
export type SenderTask = Load & {
  readonly kind: RequestKind;
  readonly target: Target;
  /** Open loop at this rate; null for a closed loop at saturation. */
  readonly perSecond: number | null;
};
export type SenderAnswer = {
  readonly loaded: Loaded | null;
  /** Good answers of the whole run, the warming up included. */
  readonly goodCount: number;
  /** What went wrong, if anything did: the run is then no figure. */
  readonly failure: string | null;
};

const FAILURE_TEXT_MAX = 300;

process.once("message", ({ credentials, trips }: SenderSetup) => {
  const requests = new Requests(credentials, trips);
  process.on("message", async (task: SenderTask) => {
    process.send?.(await carryOut(task, requests));
  });
  process.send?.("ready");
});
process.once("disconnect", () => process.exit());

async function carryOut(task: SenderTask, requests: Requests): Promise<SenderAnswer> {
  const { kind, target, perSecond } = task;
  const proof = PROOF[target][kind];
  let goodCount = 0;
  let badCount = 0;
  let firstBad = "";
  const exchange = (connection: WireConnection, onDone: (isGood: boolean) => void): void => {
    const ticket = requests.take(kind, target);
    connection.send(ticket.text, (status, body) => {
      const isGood = status === 200 && body.includes(proof);
      if (isGood) goodCount += 1;
      else {
        badCount += 1;
        if (firstBad === "") firstBad = `${status} ${body.toString("latin1", 0, FAILURE_TEXT_MAX)}`;
      }
      requests.answered(ticket, kind, target, isGood);
      onDone(isGood);
    });
  };
  try {
    const loaded =
      perSecond === null ? await saturate(task, exchange) : await schedule({ ...task, perSecond }, exchange);
    const failure =
      badCount === 0 ? null : `${badCount} of ${goodCount + badCount} answers were bad: ${firstBad}`;
    return { loaded, goodCount, failure };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { loaded: null, goodCount, failure: firstBad === "" ? reason : `${reason}; ${firstBad}` };
  }
}
