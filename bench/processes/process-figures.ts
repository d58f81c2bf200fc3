// The figures of what is not sent over the wire: the engine, ticks, starts, memory.
import { against, type Figure, type Section } from "../figures.ts";
import type { InProcess } from "../in-process/in-process.ts";
import type { MemoryUsed } from "../in-process/inspector.ts";
import type { Liquidations } from "../in-process/liquidations.ts";
import { POSITIONS } from "../in-process/mark-ticks.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import type { IdleMemory, MemoryMeasured } from "./memory.ts";
import type { StartUp } from "./start-up.ts";

const KILOBYTE = 1_024;
const MEMORY_AIM = "below 4 KB";

export function engineSection(measured: InProcess): Section {
  const { signaturesPerSecond, ticks, bareTickNs } = measured;
  const signatures = { name: "bare HMAC-SHA256 signatures", value: signaturesPerSecond };
  const decisions = against(
    {
      name: "engine decisions, decided and applied",
      unit: "/s",
      value: measured.decisionsPerSecond,
      aim: "500,000/s",
    },
    signatures,
  );
  const futuresDecisions = against(
    { name: "futures decisions, decided and applied", unit: "/s", value: measured.futuresDecisionsPerSecond },
    signatures,
  );
  const bareTick = { name: "a look-up and two comparisons", value: bareTickNs };
  const idleTicks = ticks.map(({ resting, ns }) =>
    against(
      {
        name: `tick that crosses nothing, ${countText(resting)} resting`,
        unit: "ns",
        value: ns,
        aim: "below 1 µs",
      },
      bareTick,
    ),
  );
  const idleMark = against(
    {
      name: `mark price that reaches nothing, ${countText(POSITIONS)} positions`,
      unit: "ns",
      value: measured.idleMarkNs,
      aim: "below 1 µs",
    },
    bareTick,
  );
  const liquidatingMark: Figure = {
    name: `mark price that liquidates one of ${countText(POSITIONS)}, decided and applied`,
    unit: "µs",
    value: measured.liquidatingMarkUs,
    aim: null,
    against: null,
  };
  return {
    title: "Engine and watch list, in process",
    figures: [decisions, futuresDecisions, ...idleTicks, idleMark, liquidatingMark],
    missing: null,
  };
}

export function liquidationSection(
  store: StoreName,
  positions: number,
  { tickMs, eachUs }: Liquidations,
): Section {
  const figure = (name: string, unit: "ms" | "µs", value: Spread): Figure => ({
    name,
    unit,
    value,
    aim: null,
    against: null,
  });
  const what = `mark price that liquidates 1 % of ${countText(positions)} positions, until all are durable`;
  return {
    title: `Liquidations, in process, on ${STORE_TITLES[store]}`,
    figures: [figure(what, "ms", tickMs), figure("  of it for each liquidation", "µs", eachUs)],
    missing: null,
  };
}

export function startUpSection({ gateways, echo }: StartUp): Section {
  const figures = gateways.map(({ store, times }) =>
    against(
      {
        name: `start to first answer, new ${STORE_TITLES[store]} database`,
        unit: "ms",
        value: times,
        aim: "below 1.5 s",
      },
      { name: "bare signed echo, start", value: echo },
    ),
  );
  return { title: "Start", figures, missing: null };
}

export function memorySection({ store, few, many, holding }: MemoryMeasured): Section {
  const figures = [
    ...many.flatMap((each) =>
      memoryFigures(`resident memory per idle strategy, ${countText(each.strategies)}`, few, each),
    ),
    ...memoryFigures(
      `resident memory per futures strategy with a position, ${countText(holding.many.strategies)}`,
      holding.few,
      holding.many,
    ),
  ];
  return { title: `Memory, the gateway on ${STORE_TITLES[store]}`, figures, missing: null };
}

/** Memory of each strategy: a gateway with many against one with few. */
function memoryFigures(name: string, few: MemoryMeasured["few"], many: MemoryMeasured["few"]): Figure[] {
  const perStrategy = (state: keyof IdleMemory, of: (used: MemoryUsed) => number | null): number | null => {
    const [more, less] = [of(many[state]), of(few[state])];
    return more === null || less === null
      ? null
      : (more - less) / (many.strategies - few.strategies) / KILOBYTE;
  };
  const figure = (name: string, kilobytes: number | null, aim: string | null = null): Figure[] =>
    kilobytes === null ? [] : [{ name, unit: "KB", value: spreadOf([kilobytes]), aim, against: null }];
  const resident = ({ residentBytes }: MemoryUsed) => residentBytes;
  const heap = ({ heapBytes }: MemoryUsed) => heapBytes;
  return [
    ...figure(name, perStrategy("visited", resident), MEMORY_AIM),
    ...figure("  of it JavaScript's heap", perStrategy("visited", heap)),
    ...figure("  resident, before anybody came by", perStrategy("started", resident)),
  ];
}

/** The meaning of the memory figures. */
export function memoryNote({ few }: MemoryMeasured): string {
  return (
    "an idle strategy exists with its key, has placed an order and been read once since the start, and has nothing under way; " +
    `its memory is what a gateway takes above one with ${countText(few.strategies)} strategies that has carried load too, garbage ` +
    "collected, by their number. Bounded caches (accounts, holders of budgets, pages of the database) are in it, as far as filled"
  );
}

function countText(count: number): string {
  return count.toLocaleString("en-US");
}
