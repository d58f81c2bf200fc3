// Whether memory grows: the line through its samples, drawn so that a few odd ones do not bend it (Theil and
// Sen).

/** What a process held after its garbage was collected, at a time in ms. */
export type MemorySample = {
  readonly at: number;
  readonly heapBytes: number;
  readonly residentBytes: number | null;
};

export type Growth = {
  readonly bytesPerMinute: number;
  /** From the first to the last sample that counts, along the line. */
  readonly bytes: number;
  /** The middle one of all samples that count. */
  readonly level: number;
};

/** What comes first is filled caches and compiled code: it does not count. */
const WARM_SHARE = 0.25;
const SAMPLES_MIN = 3;
const MS_PER_MINUTE = 60_000;
/** Noise of the compiler and of work in flight at the moment of a sample. */
const NOISE_BYTES = 4 * 1024 * 1024;
const GROWTH_SHARE_MAX = 0.1;

/** Null of too few samples. */
export function growthOf(samples: readonly MemorySample[]): Growth | null {
  const counted = samples.slice(Math.floor(samples.length * WARM_SHARE));
  const [first, last] = [counted[0], counted.at(-1)];
  if (first === undefined || last === undefined || counted.length < SAMPLES_MIN) return null;
  const slopes = counted.flatMap((one, index) =>
    counted.slice(index + 1).map((other) => (other.heapBytes - one.heapBytes) / (other.at - one.at)),
  );
  const slope = middleOf(slopes);
  return {
    bytesPerMinute: slope * MS_PER_MINUTE,
    bytes: slope * (last.at - first.at),
    level: middleOf(counted.map(({ heapBytes }) => heapBytes)),
  };
}

/** Whether that is more than noise. */
export function isGrowing({ bytes, level }: Growth): boolean {
  return bytes > Math.max(NOISE_BYTES, level * GROWTH_SHARE_MAX);
}

function middleOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
}
