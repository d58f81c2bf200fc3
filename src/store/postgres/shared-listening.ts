// One connection on which every listener of a process hears what others commit: there as long as any of them
// listens.
import type { ElsewhereListener } from "../ports/trading.ts";
import type { Store } from "../store.ts";

/**
 * Shares one subscription to notifications between several listeners. A listener that is added during an
 * interruption is notified of the interruption at once, and of its end, like the others.
 */
export function sharedListening(listen: Store["onCommittedElsewhere"]): Store["onCommittedElsewhere"] {
  const listeners = new Set<ElsewhereListener>();
  let isLost = false;
  const everyone: ElsewhereListener = {
    committed(strategies) {
      for (const listener of listeners) listener.committed(strategies);
    },
    lost() {
      isLost = true;
      for (const listener of listeners) listener.lost();
    },
    resumed() {
      isLost = false;
      for (const listener of listeners) listener.resumed();
    },
  };
  /** How to end it, when it has begun. */
  let listening: Promise<() => Promise<void>> | null = null;

  return async (listener) => {
    if (isLost) listener.lost();
    listeners.add(listener);
    listening ??= listen(everyone);
    const joined = listening;
    try {
      await joined;
    } catch (error) {
      listeners.delete(listener);
      if (listening === joined) listening = null;
      throw error;
    }
    return async () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      listening = null;
      isLost = false;
      await (await joined)();
    };
  };
}
