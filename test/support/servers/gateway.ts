// A gateway of the test's own: the real program in a process of its own, on a free port and a new data
// directory.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StrategyType } from "../../../src/domain/account.ts";

const ROOT = join(import.meta.dirname, "../../..");

export type Credentials = {
  readonly strategyId: string;
  readonly apiKey: string;
  readonly apiSecret: string;
};

/** One of the project's programs in a process of its own, which does not outlive this one. */
export type Program = {
  /** What it said when it was ready. */
  readonly ready: string;
  readonly process: ChildProcess;
  /** Everything that was written to standard output and standard error so far. */
  output(): string;
  /** The exit code once it has ended and all its output was read; null if a signal ended it. */
  readonly exited: Promise<number | null>;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  /** kill -9. */
  kill(): Promise<void>;
};

export type GatewayProcess = Omit<Program, "ready"> & {
  readonly url: string;
  readonly dataDir: string;
  /**
   * Another strategy, made by the operator's command beside the running server, with further options of it.
   */
  seed(type?: StrategyType, options?: readonly string[]): Credentials;
};

export type GatewayOptions = {
  /** A directory to start on; else a new one. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Has the data directory be a disk of its own, so large, which ends with the process; see `diskOf`. */
  readonly diskMebibytes?: number;
};

/**
 * Starts a gateway and resolves when it says that it listens. Rejects with its output if it exits instead.
 */
export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? newDirectory();
  const { diskMebibytes, env } = options;
  const { ready, ...program } = await startProgram("the gateway", /^Lyrebird listens on (\S+)$/, {
    args: ["--port", "0", "--data", dataDir, ...(options.args ?? [])],
    env,
    runner: diskMebibytes === undefined ? [] : onOwnDisk(dataDir, diskMebibytes),
  });
  return {
    ...program,
    url: ready,
    dataDir,
    seed: (type = "SPOT", more = []) => seedStrategy(dataDir, type, env, more),
  };
}

/** Of what a program says this much is kept, characters. */
const OUTPUT_MAX = 32 * 1024 * 1024;
/** The programs that run, so that none outlives this process. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * Starts the program and resolves when a line of its output matches. Rejects with its output if it exits
 * first.
 */
export async function startProgram(
  what: string,
  isReady: RegExp,
  options: {
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>> | undefined;
    /** Where its code is; the project's own unless said. */
    readonly root?: string;
    /** The command that runs it, if it is not run directly. */
    readonly runner?: readonly string[];
  },
): Promise<Program> {
  const { args, env, root = ROOT, runner = [] } = options;
  const [command = "", ...all] = [...runner, process.execPath, "src/main.ts", ...args];
  const child = spawn(command, all, {
    cwd: root,
    env: { ...process.env, LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  child.once("exit", () => running.delete(child));
  const exited: Promise<number | null> = once(child, "close").then(([code]) => code);
  const add = (text: string) => {
    if (output.length < OUTPUT_MAX) output += text;
  };
  child.stderr.on("data", (text) => add(String(text)));
  const ready = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      add(`${line}\n`);
      const said = isReady.exec(line)?.[1];
      if (said !== undefined) resolve(said);
    });
    exited.then((code) => reject(new Error(`${what} exited with ${code}:\n${output}`)), reject);
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return await exited;
  };
  return {
    ready,
    process: child,
    output: () => output,
    exited,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
  };
}

/** The environment of a gateway whose market is this exchange. */
export function upstreamEnv(exchange: Exchange): Readonly<Record<string, string>> {
  return {
    UPSTREAM_SPOT_REST_URL: exchange.spotRestUrl,
    UPSTREAM_SPOT_WS_URL: exchange.spotWsUrl,
    UPSTREAM_FUTURES_REST_URL: exchange.futuresRestUrl,
    UPSTREAM_FUTURES_WS_URL: exchange.futuresWsUrl,
  };
}

type Exchange = Readonly<Record<"spotRestUrl" | "spotWsUrl" | "futuresRestUrl" | "futuresWsUrl", string>>;

/**
 * Whether this machine lets a process have a disk of its own: Linux with namespaces for everybody, or for
 * root.
 */
export function canHaveOwnDisk(): boolean {
  return spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", tmpdir()]).status === 0;
}

/** Runs what follows with a disk in memory at a directory, which nobody else sees there. */
function onOwnDisk(directory: string, mebibytes: number): readonly string[] {
  const script = `mount -t tmpfs -o size=${mebibytes}m,mode=0700 none "$0" && exec "$@"`;
  return ["unshare", "-rm", "sh", "-c", script, directory];
}

/** The data directory of a gateway on a disk of its own, as others can reach it. */
export function diskOf({ process: { pid }, dataDir }: GatewayProcess): string {
  return `/proc/${pid}/root${dataDir}`;
}

/** Runs `lyrebird seed` on a data directory, or on the database that the environment names. */
export function seedStrategy(
  dataDir: string,
  type: StrategyType = "SPOT",
  env: Readonly<Record<string, string>> = {},
  options: readonly string[] = [],
): Credentials {
  const args = ["src/cli.ts", "seed", "--type", type.toLowerCase(), "--data", dataDir, ...options];
  const { status, stdout, stderr } = runNode(args, env);
  if (status !== 0) throw new Error(`seed failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** How long one of the project's programs may run, on a machine that is busy with other things, too, ms. */
const RUN_MS_MAX = 110_000;

/** Runs one of the project's programs to its end, or for `msMax` at most; `input` is what it reads. */
export function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = "",
  msMax = RUN_MS_MAX,
) {
  return spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    input,
    encoding: "utf8",
    timeout: msMax,
  });
}

/** A new directory; all of them are gone when the test run is over. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "lyrebird-"));
}
