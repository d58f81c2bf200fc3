// The figures of the streams: the bare broadcasts, and the gateway's against them.
import { connectionMemory, type Figure, figureOf, percent, type Section, type Unit } from "../figures.ts";
import { median } from "../statistics.ts";
import type { BroadcasterName } from "./broadcasters.ts";
import { TOPIC } from "./message.ts";
import type { Broadcast, StreamsMeasured } from "./streams.ts";

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

export function streamSection(streams: StreamsMeasured): Section {
  const { connections, memory } = streams;
  return {
    title: `Streams: snapshots of ${TOPIC.levels} levels to ${connections} connections`,
    figures: [
      ...figuresOf(streams, "ws", null),
      ...figuresOf(streams, "room", "ws"),
      ...figuresOf(streams, "gateway", "room"),
      measured(streams, "gateway", "ws", { ...PROCESSOR_TIME, name: "  the same, against bare ws" }),
      ...connectionMemory("connected subscriber", memory, memory.gateway, {
        ...memory.room,
        name: NAMES.room,
      }),
    ],
    missing: null,
  };
}

function figuresOf(
  streams: StreamsMeasured,
  name: BroadcasterName,
  ceiling: BroadcasterName | null,
): Figure[] {
  return [{ ...RATE, name: NAMES[name] }, PER_CORE, PROCESSOR_TIME].map((measure) =>
    measured(streams, name, ceiling, measure),
  );
}

function measured(
  { rounds }: StreamsMeasured,
  name: BroadcasterName,
  ceiling: BroadcasterName | null,
  { of, ...row }: Measure,
): Figure {
  return figureOf(rounds, {
    ...row,
    of: (round) => of(round[name]),
    aim: name === "gateway" && row.unit === "/s" ? AIM : null,
    ceiling: ceiling === null ? null : { name: NAMES[ceiling], of: (round) => of(round[ceiling]) },
  });
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
