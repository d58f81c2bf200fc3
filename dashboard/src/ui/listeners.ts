// Listeners of a value outside of React; `subscribe` is what useSyncExternalStore takes.

export function createListeners() {
  const listeners = new Set<() => void>();
  return {
    /** Until the returned function is called. */
    subscribe(this: void, listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    notify(this: void): void {
      for (const listener of listeners) listener();
    },
  };
}
