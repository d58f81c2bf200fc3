// How far the rates can be trusted: whether a server had its core to itself and whether the sender had time
// to spare.
import { ECHO_KINDS, KINDS, type Pair, type Round } from "./rounds.ts";
import { median } from "./statistics.ts";
import { STORE_TITLES, type StoreName } from "./stores.ts";
import { ECHO_NAMES, gatewayOf, REQUEST_NAMES } from "./wire/wire-figures.ts";

/** Below this share of its core a saturated server was kept from it by others. */
const CORES_MIN = 0.9;
/** Above this share of its core the sender may be what limits a closed loop. */
const SENDER_BUSY_MAX = 0.9;
/** Above this the sender's own lateness shows in an open loop's latencies, ms. */
const SENDER_LATE_MS_MAX = 1;

/** More than this refused at saturation, and the rate is that of a server which defends itself. */
const SHED_SHARE_MAX = 0.01;

/** One line for each kind of load, with a warning for every figure that should not be trusted. */
export function loadNotes(rounds: readonly Round[], stores: readonly StoreName[]): string[] {
  const ofEcho = ECHO_KINDS.map((kind) =>
    loadNote(
      ECHO_NAMES[kind],
      rounds.map(({ echo }) => echo[kind]),
    ),
  );
  const ofGateways = KINDS.flatMap((kind) =>
    stores.map((store) =>
      loadNote(
        `${REQUEST_NAMES[kind]} on ${STORE_TITLES[store]}`,
        rounds.map((round) => gatewayOf(round, store)[kind]),
      ),
    ),
  );
  return [...ofEcho, ...ofGateways];
}

function loadNote(name: string, pairs: readonly Pair[]): string {
  const cores = median(pairs.map((pair) => pair.cores ?? Number.NaN));
  const busy = median(pairs.map(({ full }) => full.senderBusy));
  const capacity = median(pairs.map(({ full }) => full.perSecond / full.senderBusy));
  const late = median(pairs.map(({ half }) => half.senderLateP99Ms));
  const shed = median(pairs.map(({ full }) => full.shedShare));
  const shedAtHalf = Math.max(...pairs.map(({ half }) => half.shedShare));
  return [
    `${name}: ${Number.isNaN(cores) ? "" : `the server used ${percent(cores)} of a core, `}the sender ` +
      `${percent(busy)} (good for about ${Math.round(capacity / 1_000)},000/s) and was ${late.toFixed(2)} ms late at p99`,
    ...(cores < CORES_MIN
      ? ["NOISY: a saturated server was kept from its core by others, or waited for its database"]
      : []),
    ...(shed > SHED_SHARE_MAX ? [`SHED: ${percent(shed)} of the answers at saturation were 429 or 503`] : []),
    ...(shedAtHalf > 0 ? [`SHED: up to ${(shedAtHalf * 100).toFixed(2)} % at half load`] : []),
    ...(busy > SENDER_BUSY_MAX ? ["THE SENDER may be the limit of this rate"] : []),
    ...(late > SENDER_LATE_MS_MAX ? ["THE SENDER'S own lateness is in these latencies"] : []),
  ].join(". ");
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
