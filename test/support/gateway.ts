// A gateway of the test's own: the real program in a process of its own, on a free port and a new data directory.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = join(import.meta.dirname, "../..");

export type Credentials = {
  readonly strategyId: string;
  readonly apiKey: string;
  readonly apiSecret: string;
};

export type GatewayProcess = {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** Everything that was written to standard output and standard error so far. */
  output(): string;
  /** Another strategy, made by the operator's command beside the running server. */
  seed(type?: "spot" | "futures"): Credentials;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  /** kill -9. */
  kill(): Promise<void>;
};

export type GatewayOptions = {
  /** A directory to start on; else a new one. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Has the data directory be a disk of its own, so large, which ends with the process; see `diskOf`. */
  readonly diskMebibytes?: number;
};

/** Starts a gateway and resolves when it says that it listens. Rejects with its output if it exits instead. */
export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? newDirectory();
  const args = ["src/main.ts", "--port", "0", "--data", dataDir, ...(options.args ?? [])];
  const { diskMebibytes } = options;
  const program = diskMebibytes === undefined ? [] : onOwnDisk(dataDir, diskMebibytes);
  const [command = "", ...all] = [...program, process.execPath, ...args];
  const child = spawn(command, all, {
    cwd: ROOT,
    env: { ...process.env, LOG_LEVEL: "warn", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exited = once(child, "exit");
  child.stderr.on("data", (text) => {
    output += text;
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output += `${line}\n`;
      const listening = /^Lyrebird listens on (\S+)$/.exec(line);
      if (listening?.[1] !== undefined) resolve(listening[1]);
    });
    exited.then(([code]) => reject(new Error(`the gateway exited with ${code}:\n${output}`)), reject);
  });
  return {
    url,
    dataDir,
    process: child,
    output: () => output,
    seed: (type = "spot") => seedStrategy(dataDir, type, options.env),
    async stop() {
      child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Whether this machine lets a process have a disk of its own: Linux with namespaces for everybody, or for root. */
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
  type: "spot" | "futures" = "spot",
  env: Readonly<Record<string, string>> = {},
): Credentials {
  const { status, stdout, stderr } = runNode(["src/cli.ts", "seed", "--type", type, "--data", dataDir], env);
  if (status !== 0) throw new Error(`seed failed: ${stderr}`);
  return JSON.parse(stdout);
}

/** Runs one of the project's programs to its end; `input` is what it reads. */
export function runNode(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = "") {
  return spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    input,
    encoding: "utf8",
    timeout: 30_000,
  });
}

/** A new directory; all of them are gone when the test run is over. */
export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "lyrebird-"));
}
