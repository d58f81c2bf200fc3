// The store of signals, which stops the process when a write fails, as the desk does when a commit fails. A
// retry would fail too, and a server that only ever answers "unknown" is useless.
import { StoreFailure } from "../store/store.ts";
import type { SignalStore } from "./signals.ts";

/**
 * The same store. `onStoreFailure` is called with every StoreFailure before the caller receives it: the
 * process must stop. A store that is only out of reach does not stop it.
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
