// The figures of the streams: the bare broadcasts, and the gateway's against them.
import type { Figure, Section, Unit } from "../figures.ts";
import type { MemoryUsed } from "../in-process/inspector.ts";
import { median, spreadOf } from "../statistics.ts";
import type { BroadcasterName } from "./broadcasters.ts";
import { TOPIC } from "./message.ts";
import type { Broadcast, StreamsMeasured } from "./streams.ts";

const KILOBYTE = 1_024;
const AIM = "0.9 of the bare room";
/** Above this share of its core the receiving process may be what limits the rate. */
const RECEIVERS_BUSY_MAX = 0.9;
const NAMES: { readonly [N in BroadcasterName]: string } = {
  ws: "bare ws broadcast",
  room: "bare Socket.IO room broadcast",
  gateway: "depth messages of the gateway's streams",
};

type Measure = { readonly name: string; readonly unit: Unit; readonly of: (broadcast: Broadcast) => number };

const RATE: Measure = { name: "", unit: "/s", of: ({ perSecond }) => perSecond };
const PER_CORE: Measure = {
  name: "  per second of processor time",
  unit: "/s",
  of: ({ perProcessorSecond }) => perProcessorSecond,
};
const PROCESSOR_TIME: Measure = {
  name: "  processor time a message",
  unit: "µs",
  of: ({ processorUs }) => processorUs,
};

export function streamSection(measured: StreamsMeasured): Section {
  const { connections } = measured;
  return {
    title: `Streams: snapshots of ${TOPIC.levels} levels to ${connections} connections`,
    figures: [
      ...figuresOf(measured, "ws", null),
      ...figuresOf(measured, "room", "ws"),
      ...figuresOf(measured, "gateway", "room"),
      figureOf(measured, "gateway", "ws", { ...PROCESSOR_TIME, name: "  the same, against bare ws" }),
      ...memoryFigures(measured),
    ],
    missing: null,
  };
}

function figuresOf(
  measured: StreamsMeasured,
  name: BroadcasterName,
  ceiling: BroadcasterName | null,
): Figure[] {
  return [{ ...RATE, name: NAMES[name] }, PER_CORE, PROCESSOR_TIME].map((measure) =>
    figureOf(measured, name, ceiling, measure),
  );
}

/** The ratio is taken round by round: both sides of it were measured in the same seconds. */
function figureOf(
  { rounds }: StreamsMeasured,
  name: BroadcasterName,
  ceiling: BroadcasterName | null,
  measure: Measure,
): Figure {
  const values = rounds.map((round) => measure.of(round[name]));
  const ceilings = ceiling === null ? [] : rounds.map((round) => measure.of(round[ceiling]));
  return {
    name: measure.name,
    unit: measure.unit,
    value: spreadOf(values),
    aim: name === "gateway" && measure.unit === "/s" ? AIM : null,
    against:
      ceiling === null
        ? null
        : {
            name: NAMES[ceiling],
            value: spreadOf(ceilings),
            ratio: spreadOf(values.map((value, index) => value / (ceilings[index] ?? Number.NaN))),
          },
  };
}

/** Memory of each connection: many against few. */
function memoryFigures({ memory: { few, many, gateway, room } }: StreamsMeasured): Figure[] {
  const perConnection = (measured: typeof gateway, of: (used: MemoryUsed) => number | null) => {
    const [more, less] = [of(measured.many), of(measured.few)];
    return more === null || less === null ? null : (more - less) / (many - few) / KILOBYTE;
  };
  const figure = (name: string, of: (used: MemoryUsed) => number | null): Figure[] => {
    const [own, bare] = [perConnection(gateway, of), perConnection(room, of)];
    if (own === null || bare === null) return [];
    const [value, ceiling, ratio] = [own, bare, own / bare].map((each) => spreadOf([each]));
    if (value === undefined || ceiling === undefined || ratio === undefined) return [];
    return [{ name, unit: "KB", value, aim: null, against: { name: NAMES.room, value: ceiling, ratio } }];
  };
  const count = (many - few).toLocaleString("en-US");
  return [
    ...figure(
      `resident memory per connected subscriber, ${count} of them`,
      ({ residentBytes }) => residentBytes,
    ),
    ...figure("  of it JavaScript's heap", ({ heapBytes }) => heapBytes),
  ];
}

/** The real and the simulated parts, and the reliability of the rates. */
export function streamNotes({ rounds, connections, memory }: StreamsMeasured): string[] {
  const of = (name: BroadcasterName, what: (broadcast: Broadcast) => number) =>
    median(rounds.map((round) => what(round[name])));
  const bytes = Math.round(of("gateway", ({ bytesPerMessage }) => bytesPerMessage));
  const names = Object.keys(NAMES) as BroadcasterName[];
  const sizes = names.map((name) => of(name, ({ bytesPerMessage }) => bytesPerMessage));
  const arrived = of("gateway", ({ arrivedShare }) => arrivedShare);
  const busy = names.map((name) => `${name} ${percent(of(name, ({ receiversBusy }) => receiversBusy))}`);
  const isBusy = names.some((name) => of(name, ({ receiversBusy }) => receiversBusy) > RECEIVERS_BUSY_MAX);
  return [
    [
      `streams: each broadcaster alone on the server's core, in turns, sends snapshots of ${bytes} bytes to ${connections} connections as fast ` +
        "as the system takes them; real are the gateway's handshakes, keys, limits, subscriptions, depth source and fan-out, made up " +
        "are the upstream feed and the schedule (no faster than ten a second in use)",
      `of what the gateway broadcast ${percent(arrived)} arrived, the rest was overtaken`,
      `the receivers' process was busy: ${busy.join(", ")}`,
      ...(isBusy ? ["THE RECEIVERS may be the limit of a rate: read the processor time"] : []),
      ...(Math.max(...sizes) - Math.min(...sizes) > 0
        ? ["UNEQUAL: the broadcasters sent different bytes"]
        : []),
    ].join(". "),
    `memory per connected subscriber: the whole program on the simulated market with ${memory.many} connections against the same with ` +
      `${memory.few}, each subscribed to one depth stream, garbage collected`,
  ];
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
