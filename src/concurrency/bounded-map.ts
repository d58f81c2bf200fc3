// Bounded memory: a map that drops its oldest entries, and a cache of results that are expensive to get.

/**
 * A map of at most `sizeMax` entries, ordered by when they were last set; a further one replaces the oldest.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #sizeMax: number;

  constructor(sizeMax: number) {
    super();
    this.#sizeMax = sizeMax;
  }

  /** Sets the newest entry. */
  override set(key: Key, value: Value): this {
    // Only a new key can exceed the bound.
    if (!this.delete(key) && this.size >= this.#sizeMax) {
      for (const oldest of this.keys()) {
        this.delete(oldest);
        break;
      }
    }
    return super.set(key, value);
  }

  /**
   * The value of a key, created if there is none; its entry becomes the newest, so the least recently used
   * are dropped first.
   */
  use(key: Key, create: () => Value): Value {
    const value = this.get(key) ?? create();
    this.set(key, value);
    return value;
  }
}

/**
 * Results of asynchronous work by name, each for a limited time: callers share a result, also while it is
 * pending. A failure is not cached. At most `sizeMax` results are cached; the oldest are dropped.
 */
export class AsyncCache<Value> {
  readonly #wallNow: () => number;
  readonly #ttlMs: number;
  readonly #entries: BoundedMap<string, { readonly until: number; readonly value: Promise<Value> }>;

  /** `wallNow` returns wall time, Unix ms. */
  constructor(
    { wallNow }: { readonly wallNow: () => number },
    { ttlMs, sizeMax }: { readonly ttlMs: number; readonly sizeMax: number },
  ) {
    this.#wallNow = wallNow;
    this.#ttlMs = ttlMs;
    this.#entries = new BoundedMap(sizeMax);
  }

  /** The cached result of a name, or that of `load`. Rejects as `load` does. */
  get(name: string, load: () => Promise<Value>): Promise<Value> {
    const known = this.#entries.get(name);
    if (known !== undefined && this.#wallNow() < known.until) return known.value;
    const entry = { until: this.#wallNow() + this.#ttlMs, value: load() };
    this.#entries.set(name, entry);
    entry.value.catch(() => {
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    });
    return entry.value;
  }
}
