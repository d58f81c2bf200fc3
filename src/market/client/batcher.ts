/**
 * Asks about many keys with few questions: keys that are wanted at about the same time share one, and a key that is
 * being asked about already is not asked again. `ask` must not reject.
 *
 * Bounds: `keysMax` keys a question, `concurrentMax` questions at a time; the rest wait for the next one.
 */
export function createBatcher(
  ask: (keys: readonly string[]) => Promise<void>,
  { keysMax, concurrentMax }: { readonly keysMax: number; readonly concurrentMax: number },
): (key: string) => Promise<void> {
  const answers = new Map<string, PromiseWithResolvers<void>>();
  const waiting = new Set<string>();
  let asking = 0;
  let isScheduled = false;

  function pump(): void {
    isScheduled = false;
    while (asking < concurrentMax && waiting.size > 0) {
      const keys = [...waiting.values().take(keysMax)];
      for (const key of keys) waiting.delete(key);
      asking += 1;
      ask(keys).then(() => {
        asking -= 1;
        for (const key of keys) {
          answers.get(key)?.resolve();
          answers.delete(key);
        }
        pump();
      });
    }
  }

  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known.promise;
    const answer = Promise.withResolvers<void>();
    answers.set(key, answer);
    waiting.add(key);
    if (!isScheduled) {
      isScheduled = true;
      queueMicrotask(pump);
    }
    return answer.promise;
  };
}
