// How fast one depth snapshot after another is sent to many subscribers: by the gateway's own streams, by a
// bare Socket.IO room and by bare `ws`, in turns on the server's core, with the receivers on the other. Then
// the memory of a connected subscriber, of the whole program at the real schedule. Real are the gateway's
// handshakes, keys, limits, subscriptions, its depth source and everything down to the socket; the upstream
// feed and the schedule are not: snapshots come as fast as they are sent on.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { MemoryOf } from "../figures.ts";
import type { Options } from "../options.ts";
import type { Machine } from "../processes/machine.ts";
import {
  memoryOf,
  type Receivers,
  type StreamServer,
  startGateway,
  startReceivers,
  startStreamServer,
} from "../processes/processes.ts";
import { prepareStrategies, SPOT } from "../strategies.ts";
import { MeasurementFailed } from "../trial.ts";
import type { Credentials } from "../wire/requests.ts";
import { BROADCASTERS, type BroadcasterName, type TradeBroadcasterName } from "./broadcasters.ts";
import type { Received } from "./receivers.ts";
import { CONNECTIONS_PER_KEY } from "./wire.ts";

export type Broadcast = Awaited<ReturnType<typeof measure>>;
export type StreamRound = { readonly [N in BroadcasterName]: Broadcast };

export type StreamMemory = {
  readonly few: number;
  readonly many: number;
  readonly gateway: MemoryOf;
  readonly room: MemoryOf;
};

export type StreamsMeasured = {
  readonly connections: number;
  readonly rounds: readonly StreamRound[];
  readonly memory: StreamMemory;
};

const ASK_AGAIN_MS = 20;
/** Messages in flight arrive within this time, ms. */
const ARRIVAL_MS_MAX = 10_000;
const MICROSECONDS = 1_000_000;

type AnyBroadcasterName = BroadcasterName | TradeBroadcasterName;
/** A broadcaster with its receivers. */
type Subject<Name extends AnyBroadcasterName = AnyBroadcasterName> = {
  readonly name: Name;
  readonly server: StreamServer;
  readonly receivers: Receivers;
};

export async function measureStreams(
  directory: string,
  options: Options,
  machine: Machine,
  say: (text: string) => void,
): Promise<StreamsMeasured> {
  const newDirectory = () => mkdtempSync(join(directory, "streams-"));
  const { connections } = options.streams;
  say(`streams to ${connections} connections`);
  const rounds = await measureBroadcasts(BROADCASTERS, newDirectory(), connections, options, machine, say);
  say(`memory of ${options.streams.many} connections`);
  return { connections, rounds, memory: await measureMemory(newDirectory, options, machine) };
}

/** Rounds of broadcasts, in which each of the broadcasters has its turn. */
export async function measureBroadcasts<Name extends AnyBroadcasterName>(
  names: readonly Name[],
  dataDir: string,
  connections: number,
  options: Options,
  machine: Machine,
  say: (text: string) => void,
): Promise<{ readonly [N in Name]: Broadcast }[]> {
  const subjects: Subject<Name>[] = [];
  const rounds: { readonly [N in Name]: Broadcast }[] = [];
  try {
    for (const name of names) subjects.push(await start(name, dataDir, connections, machine));
    for (const subject of subjects) await measure(subject, connections, options.firstSeconds.gateway);
    while (rounds.length < options.rounds) {
      const measured: [Name, Broadcast][] = [];
      for (const subject of subjects) {
        await measure(subject, connections, options.warmSeconds);
        measured.push([subject.name, await measure(subject, connections, options.seconds)]);
      }
      rounds.push(Object.fromEntries(measured) as { [N in Name]: Broadcast });
      const rates = measured.map(([name, { perSecond }]) => `${name} ${Math.round(perSecond)}/s`);
      say(`broadcasts ${rounds.length} of ${options.rounds}: ${rates.join(", ")}`);
    }
  } finally {
    for (const { server, receivers } of subjects) {
      receivers.stop();
      server.stop();
    }
  }
  return rounds;
}

async function start<Name extends AnyBroadcasterName>(
  name: Name,
  dataDir: string,
  connections: number,
  { pinning }: Machine,
): Promise<Subject<Name>> {
  const server = await startStreamServer({ name, dataDir, connections }, pinning?.server ?? null);
  const receivers = startReceivers(pinning?.sender ?? null);
  await connect(receivers, server, connections);
  return { name, server, receivers };
}

async function measure(subject: Subject, connections: number, seconds: number) {
  const { name, server, receivers } = subject;
  const before = await receivers.run({ name: "COUNT" });
  const sent = await server.run({ seconds });
  const expected = sent.broadcasts * connections;
  const first = await receivers.run({ name: "COUNT" });
  const isConflated = name === "gateway";
  const received = await settled(first, before.messages + expected, { receivers, isConflated });
  if (received.failure !== null) throw new MeasurementFailed(`streams, ${name}: ${received.failure}`);
  const messages = received.messages - before.messages;
  if (messages === 0) throw new MeasurementFailed(`streams, ${name}: nothing arrived`);
  if (!isConflated && messages !== expected) {
    throw new MeasurementFailed(`streams, ${name}: of ${expected} messages ${messages} arrived`);
  }
  return {
    /** Messages that arrived, by the time and by the processor time of the sending. */
    perSecond: messages / sent.seconds,
    perProcessorSecond: messages / sent.processorSeconds,
    processorUs: (sent.processorSeconds * MICROSECONDS) / messages,
    /** Share of the sent messages that arrived: the fan-out may leave out superseded ones. */
    arrivedShare: messages / expected,
    bytesPerMessage: (received.bytes - before.bytes) / messages,
    /** The share of its time in which the receiving process had something to do. */
    receiversBusy: first.busy,
  };
}

/** The arrived messages, once all have, or no more do where some are left out. */
async function settled(
  first: Received,
  expected: number,
  { receivers, isConflated }: { readonly receivers: Receivers; readonly isConflated: boolean },
): Promise<Received> {
  const deadline = performance.now() + ARRIVAL_MS_MAX;
  let received = first;
  for (;;) {
    if (received.messages >= expected || received.failure !== null) return received;
    await wait(ASK_AGAIN_MS);
    const { messages } = received;
    received = await receivers.run({ name: "COUNT" });
    const isOver = isConflated && received.messages === messages;
    if (isOver || performance.now() > deadline) return received;
  }
}

async function measureMemory(
  newDirectory: () => string,
  options: Options,
  { pinning }: Machine,
): Promise<StreamMemory> {
  const { few, many } = options.streams;
  const serverCore = pinning?.server ?? null;
  const place = { dataDir: newDirectory(), databaseUrl: null };
  const credentials = await prepareStrategies(place, Math.ceil(many / CONNECTIONS_PER_KEY), SPOT);
  const gateway = await startGateway(place, serverCore, { canBeInspected: true });
  const ofGateway = await memoryWith(gateway, credentials, options, pinning?.sender ?? null);
  await gateway.stop();
  const broadcaster = { name: "room", dataDir: "", connections: many } as const;
  const room = await startStreamServer(broadcaster, serverCore, { canBeInspected: true });
  const ofRoom = await memoryWith(room, [], options, pinning?.sender ?? null, () =>
    room.run({ seconds: options.warmSeconds }),
  );
  room.stop();
  return { few, many, gateway: ofGateway, room: ofRoom };
}

async function memoryWith(
  server: Pick<StreamServer, "port" | "pid" | "inspectorUrl">,
  credentials: readonly Credentials[],
  { streams: { few, many } }: Options,
  core: number | null,
  broadcast: () => Promise<unknown> = async () => {},
): Promise<MemoryOf> {
  const receivers = startReceivers(core);
  const measured = async (connections: number) => {
    await connect(receivers, { port: server.port, credentials }, connections);
    await broadcast();
    return await memoryOf(server);
  };
  try {
    return { few: await measured(few), many: await measured(many) };
  } finally {
    receivers.stop();
  }
}

async function connect(
  receivers: Receivers,
  { port, credentials, path }: Pick<StreamServer, "port" | "credentials" | "path">,
  connections: number,
): Promise<void> {
  const to = { port, credentials, connections, ...(path !== undefined && { path }) };
  const { failure } = await receivers.run({ name: "CONNECT", ...to });
  if (failure !== null) throw new MeasurementFailed(`streams: ${failure}`);
}
