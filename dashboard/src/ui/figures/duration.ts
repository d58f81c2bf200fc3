// How long something takes, in words that get coarser with its length.

/** Of whole seconds: "12 s", "3 min 5 s", "2 h 13 min", "4 d 2 h". Less than none is none. */
export function durationInWords(seconds: number): string {
  const left = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(left / 60);
  if (minutes === 0) return `${left} s`;
  if (minutes < 60) return `${minutes} min ${left % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Of milliseconds, for latencies: "3 ms", "3.2 ms", "85 ms", "1.20 s", "2 min 4 s". */
export function latencyInWords(ms: number): string {
  if (ms < 10) return `${Number.isInteger(ms) ? ms : ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(2)} s`;
  return durationInWords(ms / 1_000);
}
