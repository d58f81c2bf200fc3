// The processes of a run: the gateway as it is shipped, the bare echo, the sender, those that broadcast and
// those that receive. Each on its core, where there are two.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { CopySenderTask, CopySent, VenueReady, VenueTaken } from "../copying/terms.ts";
import type { ListenersTask, Listening } from "../sockets/listeners.ts";
import type { Place } from "../stores.ts";
import type { BroadcasterName, TradeBroadcasterName } from "../streams/broadcasters.ts";
import type { Received, ReceiversTask } from "../streams/receivers.ts";
import type { Broadcasted, StreamServerReady, StreamServerTask } from "../streams/server.ts";
import type { EchoKeys, EchoReady } from "../wire/bare-echo.ts";
import type { Credentials } from "../wire/requests.ts";
import type { SenderAnswer, SenderSetup, SenderTask } from "../wire/sender.ts";

const ROOT = join(import.meta.dirname, "../..");

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** A program of this folder that gets one task after another and answers each. */
export type Worker<Task, Answer> = {
  readonly pid: number;
  isRunning(): boolean;
  run(task: Task): Promise<Answer>;
  stop(): void;
};
export type Echo = EchoReady & Pick<Worker<never, never>, "pid" | "isRunning" | "stop">;
/** Broadcasts as fast as it can, for a number of seconds. */
export type StreamServer = StreamServerReady &
  Pick<Gateway, "inspectorUrl"> &
  Worker<StreamServerTask, Broadcasted>;
export type Receivers = Worker<ReceiversTask, Received>;
export type Listeners = Worker<ListenersTask, Listening>;
export type CopyVenue = VenueReady & Worker<"TAKE", VenueTaken>;
export type CopySender = Worker<CopySenderTask, CopySent>;
export type Sender = Worker<SenderTask, SenderAnswer>;

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts the program on its database, in the default configuration. `core` is null where nothing is pinned.
 */
export async function startGateway(
  { dataDir, databaseUrl }: Place,
  core: number | null,
  {
    canBeInspected = false,
    env = {},
  }: { readonly canBeInspected?: boolean; readonly env?: Readonly<Record<string, string>> } = {},
) {
  const child = spawnNode(
    [
      ...(canBeInspected ? ["--inspect=127.0.0.1:0"] : []),
      ...["src/main.ts", "--port", "0", "--data", dataDir, "--market", "sim"],
    ],
    core,
    {
      // Without this shell's own configuration, so that everyone gets the same table.
      env: {
        PATH: process.env.PATH,
        LOG_LEVEL: "error",
        // All of a measurement's clients are at one address.
        CONNECTIONS_PER_ADDRESS: "100000",
        STREAMS_PER_ADDRESS: "100000",
        ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the gateway's outputs are pipes");
  const inspector = inspectorOf(stderr);
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: stdout }).on("line", (line) => {
      const address = /^Lyrebird listens on (\S+)$/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
    exited.then(([code]) => reject(new Error(`the gateway exited with ${code} at its start`)), reject);
  });
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid ?? 0,
    /** The address of the inspector; null unless it was requested. */
    inspectorUrl: inspector.url,
    /** Stops the process until it is resumed, so that it takes no time from another on its core. */
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    /** Whether it is still running. */
    isRunning: () => isRunning(child),
    async stop(): Promise<void> {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/** Starts one of the broadcasters; the gateway's streams have their keys in the data directory. */
export async function startStreamServer(
  broadcaster: {
    readonly name: BroadcasterName | TradeBroadcasterName;
    readonly dataDir: string;
    readonly connections: number;
  },
  core: number | null,
  { canBeInspected = false } = {},
): Promise<StreamServer> {
  const { name, dataDir, connections } = broadcaster;
  const args = ["bench/streams/server.ts", name, dataDir, String(connections)];
  const inspected = canBeInspected ? ["--inspect=127.0.0.1:0"] : [];
  const child = spawnNode([...inspected, ...args], core, { stdio: ["ignore", "inherit", "pipe", "ipc"] });
  if (child.stderr === null) throw new Error("the broadcaster's output is a pipe");
  const inspector = inspectorOf(child.stderr);
  const title = `the broadcaster ${name}`;
  const ready = await answerOf<StreamServerReady>(child, title);
  return { ...ready, ...workerOf<StreamServerTask, Broadcasted>(child, title), inspectorUrl: inspector.url };
}

export function startReceivers(core: number | null): Receivers {
  return workerOf(spawnWorker(["bench/streams/receivers.ts"], core), "the receivers");
}

/** Clients that listen to their accounts. */
export function startListeners(core: number | null): Listeners {
  return workerOf(spawnWorker(["bench/sockets/listeners.ts"], core), "the listeners");
}

/**
 * The venue that copies send to; it reports what it received. `countsWeights`: as the exchange does, by
 * address.
 */
export async function startCopyVenue(
  core: number | null,
  { countsWeights = false }: { readonly countsWeights?: boolean } = {},
): Promise<CopyVenue> {
  const child = spawnWorker(["bench/copying/venue.ts", ...(countsWeights ? ["weights"] : [])], core);
  const name = "the copies' venue";
  return { ...(await answerOf<VenueReady>(child, name)), ...workerOf<"TAKE", VenueTaken>(child, name) };
}

export function startCopySender(core: number | null): CopySender {
  return workerOf(spawnWorker(["bench/copying/sender.ts"], core), "the bare sender of copies");
}

export async function startEcho(keys: readonly Credentials[], core: number | null): Promise<Echo> {
  const child = spawnWorker(["bench/wire/bare-echo.ts"], core);
  child.send({ keys } satisfies EchoKeys);
  const name = "the bare echo";
  return { ...(await answerOf<EchoReady>(child, name)), ...workerOf<never, never>(child, name) };
}

export async function startSender(setup: SenderSetup, core: number | null): Promise<Sender> {
  const child = spawnWorker(["bench/wire/sender.ts"], core);
  child.send(setup);
  await answerOf(child, "the sender");
  return workerOf(child, "the sender");
}

function spawnWorker(args: readonly string[], core: number | null): ChildProcess {
  return spawnNode(args, core, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

function workerOf<Task, Answer>(child: ChildProcess, name: string): Worker<Task, Answer> {
  return {
    pid: child.pid ?? 0,
    isRunning: () => isRunning(child),
    run(task) {
      child.send(task as object);
      return answerOf<Answer>(child, name);
    },
    stop: () => child.disconnect(),
  };
}

/** Forwards the standard error of a process, and filters the address of its inspector. */
function inspectorOf(stderr: Readable): { readonly url: string | null } {
  const inspector: { url: string | null } = { url: null };
  createInterface({ input: stderr }).on("line", (line) => {
    const address = /^Debugger listening on (\S+)$/.exec(line)?.[1];
    if (address !== undefined) inspector.url = address;
    else if (!isOfInspector(line)) process.stderr.write(`${line}\n`);
  });
  return inspector;
}

/** Other messages of Node.js about its inspector. */
function isOfInspector(line: string): boolean {
  return /^(For help, see: |Debugger (attached|ending)|Waiting for the debugger)/.test(line);
}

/** Runs a program of this folder to its end and answers with the JSON that it printed. */
export async function runToEnd<Result>(args: readonly string[], core: number | null): Promise<Result> {
  const child = spawnNode(args, core, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args[0]} exited with ${code}`);
  return JSON.parse(text);
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function spawnNode(
  args: readonly string[],
  core: number | null,
  options: { stdio: ("ignore" | "inherit" | "pipe" | "ipc")[]; env?: NodeJS.ProcessEnv },
): ChildProcess {
  const [command, ...rest] =
    core === null ? [process.execPath, ...args] : ["taskset", "-c", String(core), process.execPath, ...args];
  const child = spawn(command ?? "", rest, { cwd: ROOT, ...options });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

async function answerOf<Message>(child: ChildProcess, name: string): Promise<Message> {
  const abort = new AbortController();
  const { signal } = abort;
  try {
    return await Promise.race([
      once(child, "message", { signal }).then(([message]) => message as Message),
      once(child, "exit", { signal }).then(([code]) => {
        throw new Error(`${name} exited with ${code}`);
      }),
    ]);
  } finally {
    abort.abort();
  }
}

export type MemoryUsed = {
  /** JavaScript's objects and buffers on the main thread, bytes. */
  readonly heapBytes: number;
  /** All that the system counts as the process's, bytes; null where Linux is not there to tell. */
  readonly residentBytes: number | null;
};

/** After a collection freed pages go back to the system at leisure, ms. */
const GIVING_BACK_MS = 500;

/** Collects the garbage of a process that can be inspected, and looks. */
export async function memoryOf({
  pid,
  inspectorUrl,
}: Pick<Gateway, "pid" | "inspectorUrl">): Promise<MemoryUsed> {
  if (inspectorUrl === null) throw new Error("the process was started so that it can be inspected");
  const socket = new WebSocket(inspectorUrl);
  await once(socket, "open");
  const ask = async (id: number, method: string): Promise<unknown> => {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [{ data }] = await once(socket, "message");
      const message = JSON.parse(data);
      if (message.id === id) return message.result;
    }
  };
  await ask(1, "HeapProfiler.collectGarbage");
  await wait(GIVING_BACK_MS);
  const heap = (await ask(2, "Runtime.getHeapUsage")) as { usedSize: number; backingStorageSize: number };
  socket.close();
  return { heapBytes: heap.usedSize + heap.backingStorageSize, residentBytes: residentBytesOf(pid) };
}

function residentBytesOf(pid: number): number | null {
  try {
    const [, kilobytes] = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
  } catch {
    return null;
  }
}
