// The store as signals use it, which has the process stopped when a write fails, as the desk does when a commit does. What
// cannot be recorded now will not be recorded by asking again, and a server that only ever answers "unknown" helps nobody.
import { StoreFailure } from "../store/store.ts";
import type { SignalStore } from "./signals.ts";

/**
 * The same store. `onStoreFailure` is told of every StoreFailure before whoever had asked is: the process must stop. A store
 * that is only out of reach is nothing to stop for.
 */
export function stoppingAtFailures(
  store: SignalStore,
  onStoreFailure: (failure: StoreFailure) => void,
): SignalStore {
  const told =
    <Given extends unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      try {
        return await ask(...given);
      } catch (error) {
        if (error instanceof StoreFailure) onStoreFailure(error);
        throw error;
      }
    };
  return {
    findSignal: store.findSignal,
    listSignals: store.listSignals,
    receiveSignals: told(store.receiveSignals),
    claimSignals: told(store.claimSignals),
    postponeSignal: told(store.postponeSignal),
  };
}
