// The processes of a run: the gateway as it is shipped, the bare echo, the sender. Each on its core, where there are two.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { EchoKeys, EchoReady } from "./bare-echo.ts";
import type { Credentials } from "./requests.ts";
import type { SenderAnswer, SenderSetup, SenderTask } from "./sender.ts";

const ROOT = join(import.meta.dirname, "..");

export type Gateway = {
  readonly url: string;
  readonly port: number;
  /** Stands still until resumed, so that it takes no time from another on its core. */
  pause(): void;
  resume(): void;
  /** Whether it is still running. */
  isRunning(): boolean;
  stop(): Promise<void>;
  readonly pid: number;
};

export type Echo = { readonly port: number; readonly pid: number; stop(): void };

export type Sender = { run(task: SenderTask): Promise<SenderAnswer>; stop(): void };

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts the program on a data directory, in the default configuration. `core` is null where nothing is pinned. */
export async function startGateway(
  dataDir: string,
  core: number | null,
  nodeFlags: readonly string[] = [],
): Promise<Gateway> {
  const child = spawnNode(
    [...nodeFlags, "src/main.ts", "--port", "0", "--data", dataDir, "--market", "sim"],
    core,
    {
      // Nothing of this shell's own configuration: a table says what everyone gets.
      env: { PATH: process.env.PATH, LOG_LEVEL: "error" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const { stdout } = child;
  if (stdout === null) throw new Error("the gateway's standard output is a pipe");
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
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export async function startEcho(credentials: readonly Credentials[], core: number | null): Promise<Echo> {
  const child = spawnNode(["bench/bare-echo.ts"], core, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send({ keys: credentials } satisfies EchoKeys);
  const { port } = await answerOf<EchoReady>(child, "the bare echo");
  return { port, pid: child.pid ?? 0, stop: () => child.disconnect() };
}

export async function startSender(setup: SenderSetup, core: number | null): Promise<Sender> {
  const child = spawnNode(["bench/sender.ts"], core, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
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
export async function runToEnd<Result>(script: string, core: number | null): Promise<Result> {
  const child = spawnNode([script], core, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${script} exited with ${code}`);
  return JSON.parse(text);
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
