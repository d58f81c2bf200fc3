/** A bounded memory of what was computed last. The market is a pure function, so forgetting costs time and no more. */
export type Recent<Value> = (key: number, make: () => Value) => Value;

/** Remembers at most `entriesMax` values; the one unused for longest goes first. */
export function createRecent<Value extends object>(entriesMax: number): Recent<Value> {
  const entries = new Map<number, Value>();
  return (key, make) => {
    let value = entries.get(key);
    if (value) {
      entries.delete(key);
    } else {
      value = make();
      if (entries.size >= entriesMax) {
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      }
    }
    entries.set(key, value);
    return value;
  };
}
