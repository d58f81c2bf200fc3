// When upstream drops the gateway's connections, and for how long it stays away: drawn.

export type Drop = {
  /** After the one before is over, ms. */
  readonly afterMs: number;
  /** 0 for a cut that may be connected again at once, ms. */
  readonly awayMs: number;
};

const AFTER_MS_MIN = 15_000;
const AFTER_MS_MAX = 45_000;
/** Mostly a cut; sometimes away for a while; sometimes so long that it has to be said. */
const AWAY_MS = [0, 0, 2_500, 9_000];

/** Drops without end. `draw` answers in [0, 1). */
export function* drawDrops(draw: () => number): Generator<Drop, never> {
  for (;;) {
    const afterMs = AFTER_MS_MIN + draw() * (AFTER_MS_MAX - AFTER_MS_MIN);
    yield { afterMs, awayMs: AWAY_MS[Math.floor(draw() * AWAY_MS.length)] ?? 0 };
  }
}
