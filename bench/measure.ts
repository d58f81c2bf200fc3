// Everything that is measured, in order: what runs in process, liquidations, starts, then gateways on all
// stores beside each other, streams, sockets, copying, at last memory. At the end every order that was
// acknowledged has to be in its database, or there is no report.
import { setTimeout as wait } from "node:timers/promises";
import { measureCopying } from "./copying/copying.ts";
import { copyNotes, copySection } from "./copying/figures.ts";
import type { Section } from "./figures.ts";
import { FUTURES_DECISIONS } from "./in-process/futures-decisions.ts";
import type { InProcess } from "./in-process/in-process.ts";
import type { Liquidations } from "./in-process/liquidations.ts";
import { withPosition } from "./in-process/positions.ts";
import { SPOT_DECISIONS } from "./in-process/spot-decisions.ts";
import type { Options } from "./options.ts";
import { countCores, describeMachine, type Machine } from "./processes/machine.ts";
import { measureMemory } from "./processes/memory.ts";
import {
  engineSection,
  liquidationSection,
  memoryNote,
  memorySection,
  startUpSection,
  strictSection,
} from "./processes/process-figures.ts";
import {
  type Echo,
  runToEnd,
  type Sender,
  startEcho,
  startGateway,
  startSender,
} from "./processes/processes.ts";
import { measureStartUp } from "./processes/start-up.ts";
import { alone, measureRounds, type Round, type Subject } from "./rounds.ts";
import { SERVERS_NOTES, serversSection } from "./servers/figures.ts";
import { measureServers, type ServersOptions } from "./servers/servers.ts";
import { socketNotes, socketSections } from "./sockets/figures.ts";
import { measureSockets } from "./sockets/sockets.ts";
import {
  type BenchStore,
  differenceIn,
  openStores,
  type Place,
  postgresNote,
  STORE_TITLES,
} from "./stores.ts";
import { FUTURES, prepareStrategies, readTrips, SPOT, STRICT } from "./strategies.ts";
import { streamNotes, streamSection } from "./streams/figures.ts";
import { measureStreams } from "./streams/streams.ts";
import type { Report } from "./table.ts";
import { MeasurementFailed, Trial } from "./trial.ts";
import { BACKLOG_MS_MAX } from "./wire/load.ts";
import { measureOverloads, type OverloadRound, overloadNotes, overloadSection } from "./wire/overload.ts";
import { measureStrict, type StrictRound, strictOrdersSection } from "./wire/strict.ts";
import { echoSection, loadNotes, signalSection, storeSection } from "./wire/wire-figures.ts";

type Say = (text: string) => void;

/** Measures all of it; data lies in the directory. Throws MeasurementFailed where there is no figure. */
export async function measureAll(options: Options, directory: string, say: Say): Promise<Report> {
  const at = new Date().toISOString();
  const machine = describeMachine(directory);
  if (options.servers !== null)
    return await measureServersOnly(options, options.servers, directory, { machine, at }, say);
  if (options.isCopyingOnly) return await measureCopyingOnly(options, directory, { machine, at }, say);
  const serverCore = machine.pinning?.server ?? null;
  const { stores, missing } = await openStores(options.stores, directory, machine.pinning);
  try {
    if (options.isSocketsOnly) {
      const sockets = await measureSockets(stores, directory, options, machine, say);
      return reportOf(options, { machine, at }, socketSections(sockets), socketNotes(sockets));
    }
    say("decisions and ticks");
    const inProcess = await runToEnd<InProcess>(
      ["bench/in-process/in-process.ts", String(options.repeats)],
      serverCore,
    );
    const liquidations = new Map<BenchStore, Liquidations>();
    for (const store of stores)
      liquidations.set(store, await measureLiquidations(store, options, machine, say));
    say("start-up");
    const startUp = await measureStartUp(stores, options.starts, serverCore);
    const wire = await measureWire(stores, options, machine, say);
    const streams = await measureStreams(directory, options, machine, say);
    const sockets = await measureSockets(stores, directory, options, machine, say);
    // The rest is worth its report although a machine is too slow for ten thousand copies.
    const copying = await measureCopying(directory, options, say).catch((error: unknown) => {
      if (error instanceof MeasurementFailed) return error.message;
      throw error;
    });
    // The memory of a strategy hardly depends on the store.
    const [first] = stores;
    const memory = first === undefined ? null : await measureMemory(first, options, machine, say);
    return reportOf(
      options,
      { machine, at },
      [
        ...wire.sections,
        ...missing.map(
          ({ name, reason }): Section => ({
            title: `The gateway on ${STORE_TITLES[name]}`,
            figures: [],
            missing: reason,
          }),
        ),
        streamSection(streams),
        ...socketSections(sockets),
        copySection(copying),
        engineSection(inProcess),
        strictSection(inProcess),
        ...[...liquidations].map(([{ name }, measured]) =>
          liquidationSection(name, options.positions, measured),
        ),
        ...(stores.length === 0 ? [] : [startUpSection(startUp)]),
        ...(memory === null ? [] : [memorySection(memory)]),
      ],
      [
        ...wire.notes,
        ...streamNotes(streams),
        ...socketNotes(sockets),
        ...(typeof copying === "string" ? [] : copyNotes(copying)),
        ...(stores.some(({ name }) => name === "postgres") ? [postgresNote(machine.pinning)] : []),
        `decisions, ${SPOT_DECISIONS.text}`,
        `futures decisions: ${FUTURES_DECISIONS.text}`,
        ...(memory === null ? [] : [memoryNote(memory)]),
      ],
    );
  } finally {
    for (const store of stores) await store.close();
  }
}

async function measureCopyingOnly(
  options: Options,
  directory: string,
  found: Pick<Report, "machine" | "at">,
  say: Say,
): Promise<Report> {
  const copying = await measureCopying(directory, options, say);
  return reportOf(options, found, [copySection(copying)], copyNotes(copying));
}

async function measureServersOnly(
  options: Options,
  of: ServersOptions,
  directory: string,
  found: Pick<Report, "machine" | "at">,
  say: Say,
): Promise<Report> {
  // Servers, database and sender share all cores: it is processor time that counts.
  const { stores, missing } = await openStores(["postgres"], directory, null);
  const [store] = stores;
  if (store === undefined) throw new MeasurementFailed(missing[0]?.reason ?? "there is no PostgreSQL");
  try {
    const measured = await measureServers(store, of, say);
    const unpinned = { ...found, machine: { ...found.machine, pinning: null } };
    return reportOf(options, unpinned, [serversSection(measured)], SERVERS_NOTES);
  } finally {
    await store.close();
  }
}

function reportOf(
  { seconds, rounds, strategies, isQuick }: Options,
  found: Pick<Report, "machine" | "at">,
  sections: readonly Section[],
  notes: readonly string[],
): Report {
  return { ...found, options: { seconds, rounds, strategies, isQuick }, sections, notes };
}

async function measureLiquidations(
  store: BenchStore,
  { positions, repeats }: Options,
  { pinning }: Machine,
  say: Say,
): Promise<Liquidations> {
  say(`liquidations on ${STORE_TITLES[store.name]}`);
  const place = await store.newPlace();
  await prepareStrategies(place, positions, withPosition);
  const args = [place.dataDir, place.databaseUrl ?? "", String(positions), String(repeats)];
  return await runToEnd<Liquidations>(["bench/in-process/liquidations.ts", ...args], pinning?.server ?? null);
}

type Prepared = Subject & { readonly place: Place; readonly sender: Sender };

async function measureWire(
  stores: readonly BenchStore[],
  options: Options,
  machine: Machine,
  say: Say,
): Promise<Pick<Report, "sections" | "notes">> {
  const serverCore = machine.pinning?.server ?? null;
  const senderCore = machine.pinning?.sender ?? null;
  const { warmSeconds } = options;
  const subjects: Prepared[] = [];
  let echo: { readonly server: Echo; readonly trial: Trial } | null = null;
  for (const store of stores) {
    say(`preparing ${options.strategies} strategies of each type on ${STORE_TITLES[store.name]}`);
    const place = await store.newPlace();
    const credentials = {
      SPOT: await prepareStrategies(place, options.strategies, SPOT),
      FUTURES: await prepareStrategies(place, options.strategies, FUTURES),
      STRICT: await prepareStrategies(place, options.strategies, STRICT),
    };
    const gateway = await startGateway(place, serverCore);
    const trips = await readTrips(gateway.url);
    const yieldsToDatabase = place.databaseUrl !== null;
    const sender = await startSender({ credentials, trips, yieldsToDatabase }, senderCore);
    const title = `the gateway on ${STORE_TITLES[store.name]}`;
    const trial = new Trial({ name: title, target: "gateway", server: gateway, sender, warmSeconds });
    subjects.push({ store: store.name, place, gateway, sender, trial });
    if (echo !== null) continue;
    const server = await startEcho(credentials.SPOT, serverCore);
    echo = { server, trial: new Trial({ name: "the echo", target: "echo", server, sender, warmSeconds }) };
  }
  if (echo === null) return { sections: [], notes: [] };

  const rounds = await measureRounds({ echo: echo.trial, subjects }, options, say);
  echo.server.stop();
  const overloads = new Map<Subject, readonly OverloadRound[]>();
  for (const subject of subjects) {
    overloads.set(subject, await measureOverloads(subject, subjects, options, say));
  }
  const notes: string[] = [];
  for (const subject of subjects) notes.push(...(await restNotes(subject, subjects, options)));
  // The last: until then nobody uses `strict`, and no book is followed.
  const strict = new Map<Subject, readonly StrictRound[]>();
  for (const subject of subjects) strict.set(subject, await measureStrict(subject, subjects, options, say));
  for (const { gateway, sender } of subjects) {
    sender.stop();
    await gateway.stop();
  }
  say("counting the orders in the databases");
  for (const subject of subjects) notes.push(await countNote(subject));
  return {
    sections: [
      echoSection(rounds),
      ...subjects.flatMap((subject) => sectionsOf(subject, rounds, { overloads, strict })),
    ],
    notes: [
      ...notes,
      ...loadNotes(
        rounds,
        subjects.map(({ store }) => store),
      ),
      ...subjects.flatMap((subject) => overloadNotes(overloads.get(subject) ?? [], subject.store)),
    ],
  };
}

type Extra = {
  readonly overloads: ReadonlyMap<Subject, readonly OverloadRound[]>;
  readonly strict: ReadonlyMap<Subject, readonly StrictRound[]>;
};

function sectionsOf(subject: Subject, rounds: readonly Round[], { overloads, strict }: Extra): Section[] {
  const { store } = subject;
  return [
    storeSection(rounds, store),
    signalSection(rounds, store),
    overloadSection(overloads.get(subject) ?? [], store),
    strictOrdersSection(strict.get(subject) ?? [], store),
  ];
}

async function restNotes(
  subject: Subject,
  subjects: readonly Subject[],
  { restSeconds }: Options,
): Promise<string[]> {
  return await alone(subject, subjects, async () => {
    const coresUsed = countCores(subject.gateway.pid);
    await wait(restSeconds * 1_000);
    const atRest = coresUsed();
    if (atRest === null) return [];
    const share = (atRest * 100).toFixed(1);
    return [
      `the gateway on ${STORE_TITLES[subject.store]} without load, its simulated market included, uses ${share} % of a core`,
    ];
  });
}

async function countNote({ store, place, trial }: Prepared): Promise<string> {
  const { ordersAcknowledged, signalsAcknowledged, loadsRepeated } = trial;
  const acknowledged = { orders: ordersAcknowledged, signals: signalsAcknowledged };
  const difference = await differenceIn(place, acknowledged);
  if (difference !== null) throw new MeasurementFailed(`${STORE_TITLES[store]}: ${difference}`);
  return (
    `${STORE_TITLES[store]}: every answer was good and complete, or refused with 429 or 503 and Retry-After; ` +
    `${ordersAcknowledged} orders and ${signalsAcknowledged} signals acknowledged, as many in the database` +
    (loadsRepeated === 0
      ? ""
      : `. NOISY: ${loadsRepeated} loads were measured again, since the server fell ${BACKLOG_MS_MAX} ms behind a rate below its own`)
  );
}
