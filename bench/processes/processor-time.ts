// Processor time of a process, as Linux counts it. If a saturated server got less than its core, other
// processes took the rest: the figure includes their effect.
import { readFileSync } from "node:fs";

/** The unit of Linux, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/** Starts counting; the returned function returns the cores used since then, null without Linux. */
export function countCores(pid: number): () => number | null {
  const ticks = ticksOf(pid);
  const startedAt = performance.now();
  return () => {
    const now = ticksOf(pid);
    const seconds = (performance.now() - startedAt) / 1_000;
    return ticks === null || now === null ? null : (now - ticks) / TICKS_PER_SECOND / seconds;
  };
}

function ticksOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // utime and stime: the 14th and 15th field of the line, the 12th and 13th after the name.
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return null;
  }
}
