// The figures of what is not sent over the wire: the engine, ticks, starts, memory.
import { against, type Figure, type Section } from "./figures.ts";
import type { InProcess } from "./in-process.ts";
import type { MemoryUsed } from "./inspector.ts";
import type { IdleMemory, MemoryMeasured } from "./memory.ts";
import type { StartUp } from "./start-up.ts";
import { spreadOf } from "./statistics.ts";
import { STORE_TITLES } from "./stores.ts";

const KILOBYTE = 1_024;
const MEMORY_AIM = "below 4 KB";

export function engineSection(measured: InProcess): Section {
  const { decisionsPerSecond, signaturesPerSecond, ticks, bareTickNs } = measured;
  const decisions = against(
    {
      name: "engine decisions, decided and applied",
      unit: "/s",
      value: decisionsPerSecond,
      aim: "500,000/s",
    },
    { name: "bare HMAC-SHA256 signatures", value: signaturesPerSecond },
  );
  const idleTicks = ticks.map(({ resting, ns }) =>
    against(
      {
        name: `tick that crosses nothing, ${countText(resting)} resting`,
        unit: "ns",
        value: ns,
        aim: "below 1 µs",
      },
      { name: "a look-up and two comparisons", value: bareTickNs },
    ),
  );
  return { title: "Engine and watch list, in process", figures: [decisions, ...idleTicks], missing: null };
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

export function memorySection({ store, few, many }: MemoryMeasured): Section {
  const figures = many.flatMap((each) => {
    const perStrategy = (state: keyof IdleMemory, of: (used: MemoryUsed) => number | null): number | null => {
      const [more, less] = [of(each[state]), of(few[state])];
      return more === null || less === null
        ? null
        : (more - less) / (each.strategies - few.strategies) / KILOBYTE;
    };
    const figure = (name: string, kilobytes: number | null, aim: string | null = null): Figure[] =>
      kilobytes === null ? [] : [{ name, unit: "KB", value: spreadOf([kilobytes]), aim, against: null }];
    const resident = ({ residentBytes }: MemoryUsed) => residentBytes;
    const heap = ({ heapBytes }: MemoryUsed) => heapBytes;
    return [
      ...figure(
        `resident memory per idle strategy, ${countText(each.strategies)}`,
        perStrategy("visited", resident),
        MEMORY_AIM,
      ),
      ...figure("  of it JavaScript's heap", perStrategy("visited", heap)),
      ...figure("  resident, before anybody came by", perStrategy("started", resident)),
    ];
  });
  return { title: `Memory, the gateway on ${STORE_TITLES[store]}`, figures, missing: null };
}

/** What the memory figures mean. */
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
