// The processes of a run: the gateway as it is shipped, the bare echo, the sender, those that broadcast and
// those that receive. Each on its core, where there are two.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { CopySenderTask, CopySent, VenueReady, VenueTaken } from "../copying/terms.ts";
import type { Credentials } from "../in-process/key-ring.ts";
import type { Place } from "../stores.ts";
import type { BroadcasterName } from "../streams/broadcasters.ts";
import type { Received, ReceiversTask } from "../streams/receivers.ts";
import type { Broadcasted, StreamServerReady, StreamServerTask } from "../streams/server.ts";
import type { EchoKeys, EchoReady } from "../wire/bare-echo.ts";
import type { SenderAnswer, SenderSetup, SenderTask } from "../wire/sender.ts";

const ROOT = join(import.meta.dirname, "../..");

export type Gateway = {
  readonly url: string;
  readonly port: number;
  /** Stops the process until it is resumed, so that it takes no time from another on its core. */
  pause(): void;
  resume(): void;
  /** Whether it is still running. */
  isRunning(): boolean;
  stop(): Promise<void>;
  readonly pid: number;
  /** The address of the inspector; null unless it was requested. */
  readonly inspectorUrl: string | null;
};

export type Echo = { readonly port: number; readonly pid: number; isRunning(): boolean; stop(): void };

/** Broadcasts as fast as it can, for the given time. */
export type StreamServer = StreamServerReady &
  Pick<Gateway, "pid" | "inspectorUrl"> & {
    broadcast(task: StreamServerTask): Promise<Broadcasted>;
    stop(): void;
  };

export type Receivers = { run(task: ReceiversTask): Promise<Received>; stop(): void };

export type CopyVenue = { readonly port: number; take(): Promise<VenueTaken>; stop(): void };

export type CopySender = { run(task: CopySenderTask): Promise<CopySent>; stop(): void };

export type Sender = { run(task: SenderTask): Promise<SenderAnswer>; stop(): void };

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
): Promise<Gateway> {
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
    inspectorUrl: inspector.url,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    isRunning: () => isRunning(child),
    async stop() {
      child.kill("SIGCONT");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/**
 * Starts one of the broadcasters of this folder; the gateway's streams have their keys in the data directory.
 */
export async function startStreamServer(
  broadcaster: { readonly name: BroadcasterName; readonly dataDir: string; readonly connections: number },
  core: number | null,
  { canBeInspected = false } = {},
): Promise<StreamServer> {
  const { name, dataDir, connections } = broadcaster;
  const child = spawnNode(
    [
      ...(canBeInspected ? ["--inspect=127.0.0.1:0"] : []),
      ...["bench/streams/server.ts", name, dataDir, String(connections)],
    ],
    core,
    { stdio: ["ignore", "inherit", "pipe", "ipc"] },
  );
  if (child.stderr === null) throw new Error("the broadcaster's output is a pipe");
  const inspector = inspectorOf(child.stderr);
  const ready = await answerOf<StreamServerReady>(child, `the broadcaster ${name}`);
  return {
    ...ready,
    pid: child.pid ?? 0,
    inspectorUrl: inspector.url,
    broadcast(task) {
      child.send(task);
      return answerOf<Broadcasted>(child, `the broadcaster ${name}`);
    },
    stop: () => child.disconnect(),
  };
}

export function startReceivers(core: number | null): Receivers {
  const child = spawnNode(["bench/streams/receivers.ts"], core, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    run(task) {
      child.send(task);
      return answerOf<Received>(child, "the receivers");
    },
    stop: () => child.disconnect(),
  };
}

/** The venue of the copies; it reports on them. `countsWeights`: by address, as the exchange does. */
export async function startCopyVenue(
  core: number | null,
  { countsWeights = false }: { readonly countsWeights?: boolean } = {},
): Promise<CopyVenue> {
  const args = ["bench/copying/venue.ts", ...(countsWeights ? ["weights"] : [])];
  const child = spawnNode(args, core, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const { port } = await answerOf<VenueReady>(child, "the copies' venue");
  return {
    port,
    take() {
      child.send("TAKE");
      return answerOf<VenueTaken>(child, "the copies' venue");
    },
    stop: () => child.disconnect(),
  };
}

export function startCopySender(core: number | null): CopySender {
  const child = spawnNode(["bench/copying/sender.ts"], core, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return {
    run(task) {
      child.send(task);
      return answerOf<CopySent>(child, "the bare sender of copies");
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

export async function startEcho(credentials: readonly Credentials[], core: number | null): Promise<Echo> {
  const child = spawnNode(["bench/wire/bare-echo.ts"], core, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  child.send({ keys: credentials } satisfies EchoKeys);
  const { port } = await answerOf<EchoReady>(child, "the bare echo");
  return {
    port,
    pid: child.pid ?? 0,
    isRunning: () => isRunning(child),
    stop: () => child.disconnect(),
  };
}

export async function startSender(setup: SenderSetup, core: number | null): Promise<Sender> {
  const child = spawnNode(["bench/wire/sender.ts"], core, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(setup);
  await answerOf(child, "the sender");
  return {
    run(task) {
      child.send(task);
      return answerOf<SenderAnswer>(child, "the sender");
    },
    stop: () => child.disconnect(),
  };
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
