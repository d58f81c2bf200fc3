// Signals that are received at the same time are recorded together: one sync to disk, or one way to the server, for all.
import { Batcher } from "../concurrency/batcher.ts";
import type { NewSignal } from "../domain/signal.ts";
import { type FoundRow, type ReceivedRow, receivedRow, signalOfRow } from "./signal-rows.ts";
import { type ReceivedSignal, type Store, StoreUnavailable } from "./store.ts";

/** Larger groups hardly gain throughput and cost latency. */
const GROUP_MAX = 200;

/**
 * How long a signal may wait until its group is written, ms; one that has waited longer is refused and never written. As long as an order
 * waits for its turn by default, its receive window.
 */
export const RECEIVE_WAIT_MS_MAX = 5_000;

type Received = { readonly signal: NewSignal; readonly row: ReceivedRow };

/**
 * The port's way of receiving, given how rows are written: in one transaction, answering for each row null if it was added,
 * else what is there under its key, or that its signature was accepted for another key. `now` is ms of a clock that only goes on; the
 * process's own unless said.
 */
export function receiving(
  write: (rows: readonly ReceivedRow[]) => Promise<readonly FoundRow[]>,
  now?: () => number,
): Store["receiveSignals"] {
  const record = async (group: readonly Received[]) => {
    const found = await write(group.map(({ row }) => row));
    return group.map(({ signal }, index) => answerOf(signal, found[index] ?? null));
  };
  const tooLate = () => new StoreUnavailable("the database has kept this waiting for too long");
  const expiry = { waitMs: RECEIVE_WAIT_MS_MAX, error: tooLate };
  const batcher = new Batcher(record, { sizeMax: GROUP_MAX, expiry, ...(now === undefined ? {} : { now }) });
  return async (signals, { claimedUntil }) =>
    await Promise.all(
      signals.map((signal) => batcher.add({ signal, row: receivedRow(signal, claimedUntil) })),
    );
}

function answerOf({ signed: _, ...signal }: NewSignal, found: FoundRow): ReceivedSignal {
  if (found === "SIGNATURE_USED") return { signal: null, isNew: false };
  return found === null
    ? { signal: { ...signal, state: { status: "RECEIVED" } }, isNew: true }
    : { signal: signalOfRow(found), isNew: false };
}
