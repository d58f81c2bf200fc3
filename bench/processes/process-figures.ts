// The figures of what is not sent over the wire: the engine, ticks, starts, memory.
import {
  against,
  countText,
  type Figure,
  kilobytesEach,
  type Memory,
  plain,
  type Section,
} from "../figures.ts";
import { DIFF_LEVELS, HEAP_LEVELS, HEAP_ORDERS, WALKED_LEVELS } from "../in-process/books.ts";
import type { InProcess } from "../in-process/in-process.ts";
import type { Liquidations } from "../in-process/liquidations.ts";
import { POSITIONS } from "../in-process/mark-ticks.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import type { IdleMemory, MemoryMeasured } from "./memory.ts";
import type { MemoryUsed } from "./processes.ts";
import type { StartUp } from "./start-up.ts";

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
  const liquidatingMark = plain(
    `mark price that liquidates one of ${countText(POSITIONS)}, decided and applied`,
    "µs",
    measured.liquidatingMarkUs,
  );
  return {
    title: "Engine and trigger index, in process",
    figures: [decisions, futuresDecisions, ...idleTicks, idleMark, liquidatingMark],
    missing: null,
  };
}

/** Budgets: strict fills, section 16. */
const DIFF_AIMS = { SPOT: "below 10 µs", FUTURES: "below 20 µs" };
const TYPE_NAMES = { SPOT: "spot", FUTURES: "futures" };

export function strictSection(measured: InProcess): Section {
  const diffs = measured.diffs.map(({ type, resting, us }) =>
    against(
      {
        name: `${TYPE_NAMES[type]} diff of ${DIFF_LEVELS[type]} levels, ${countText(resting)} resting`,
        unit: "µs",
        value: us,
        aim: DIFF_AIMS[type],
      },
      { name: "the same changes in two plain maps", value: measured.plainDiffUs[type] },
    ),
  );
  const bareTick = { name: "a look-up and two comparisons", value: measured.bareTickNs };
  const trades = measured.trades.map(({ resting, ns }) =>
    against(
      {
        name: `trade that reaches nobody, ${countText(resting)} resting`,
        unit: "ns",
        value: ns,
        aim: "below 1 µs",
      },
      bareTick,
    ),
  );
  const heaps = measured.restingOrderKb.map(({ symbols, kb }) =>
    plain(
      `heap of an order in its queue, ${countText(HEAP_ORDERS)} on ${countText(symbols)} symbol${symbols === 1 ? "" : "s"}`,
      "KB",
      kb,
      "below 0.2 KB",
    ),
  );
  const decisions = against(
    {
      name: "decisions under strict, decided and applied",
      unit: "/s",
      value: measured.strictDecisionsPerSecond,
    },
    { name: "the same decisions under standard", value: measured.decisionsPerSecond },
  );
  const receipts = against(
    { name: "receipts, built and encoded", unit: "/s", value: measured.receiptsPerSecond },
    { name: "the same values as JSON", value: measured.plainReceiptsPerSecond },
  );
  return {
    title: "The profile strict, in process",
    figures: [
      ...diffs,
      ...trades,
      plain("trade at the limit of ten orders that fills none", "ns", measured.tradeAtLimitNs),
      plain(`walk of a taker over ${WALKED_LEVELS} levels`, "µs", measured.walkUs),
      receipts,
      decisions,
      ...heaps,
      plain(`heap of a book of ${countText(HEAP_LEVELS)} levels a side`, "KB", measured.bookKb),
    ],
    missing: null,
  };
}

export function liquidationSection(
  store: StoreName,
  positions: number,
  { tickMs, eachUs }: Liquidations,
): Section {
  const what = `mark price that liquidates 1 % of ${countText(positions)} positions, until all are durable`;
  return {
    title: `Liquidations, in process, on ${STORE_TITLES[store]}`,
    figures: [plain(what, "ms", tickMs), plain("  of it for each liquidation", "µs", eachUs)],
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
  const each = (state: keyof IdleMemory, of: (used: MemoryUsed) => number | null) =>
    [few, many].map((measured) => ({ count: measured.strategies, bytes: of(measured[state]) })) as [
      Memory,
      Memory,
    ];
  const resident = ({ residentBytes }: MemoryUsed) => residentBytes;
  return [
    ...kilobytesEach(name, each("visited", resident), MEMORY_AIM),
    ...kilobytesEach(
      "  of it JavaScript's heap",
      each("visited", ({ heapBytes }) => heapBytes),
    ),
    ...kilobytesEach("  resident, before anybody came by", each("started", resident)),
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
