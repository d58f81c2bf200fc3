// How far the figures can be trusted: whether the server had its core to itself and whether the sender had time to spare.
import { ECHO_NAMES, REQUEST_NAMES } from "./figures.ts";
import type { Round } from "./rounds.ts";
import { median } from "./statistics.ts";

/** Below this share of its core a saturated server was kept from it by others. */
const CORES_MIN = 0.9;
/** Above this share of its core the sender may be what limits a closed loop. */
const SENDER_BUSY_MAX = 0.9;
/** Above this the sender's own lateness shows in an open loop's latencies, ms. */
const SENDER_LATE_MS_MAX = 1;

/** One line for each kind of load, with a warning for every figure that should not be trusted. */
export function loadNotes(rounds: readonly Round[]): string[] {
  const notes: string[] = [];
  for (const kind of ["orders", "reads"] as const) {
    for (const target of ["echo", "gateway"] as const) {
      const pairs = rounds.map((round) => round[kind][target]);
      const name = target === "echo" ? ECHO_NAMES[kind] : REQUEST_NAMES[kind];
      const cores = median(pairs.map((pair) => pair.cores ?? Number.NaN));
      const busy = median(pairs.map(({ full }) => full.senderBusy));
      const capacity = median(pairs.map(({ full }) => full.perSecond / full.senderBusy));
      const late = median(pairs.map(({ half }) => half.senderLateP99Ms));
      notes.push(
        [
          `${name}: ${Number.isNaN(cores) ? "" : `the server used ${percent(cores)} of a core, `}the sender ` +
            `${percent(busy)} (good for about ${Math.round(capacity / 1_000)},000/s) and was ${late.toFixed(2)} ms late at p99`,
          ...(cores < CORES_MIN
            ? ["NOISY: a saturated server was kept from its core by others, or waited for the disk"]
            : []),
          ...(busy > SENDER_BUSY_MAX ? ["THE SENDER may be the limit of this rate"] : []),
          ...(late > SENDER_LATE_MS_MAX ? ["THE SENDER'S own lateness is in these latencies"] : []),
        ].join(". "),
      );
    }
  }
  return notes;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
