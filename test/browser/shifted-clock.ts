// Loaded into a process before anything else (`--import`): its wall clock is SHIFT_MS behind, so that a
// server runs in the past.
const shiftMs = Number(process.env.SHIFT_MS);
const now = Date.now;

globalThis.Date = class extends Date {
  constructor(...given: []) {
    if (given.length === 0) super(now() - shiftMs);
    else super(...given);
  }

  static override now(): number {
    return now() - shiftMs;
  }
} as DateConstructor;

Object.defineProperty(performance, "timeOrigin", { value: performance.timeOrigin - shiftMs });
