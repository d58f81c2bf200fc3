// A copier by itself: the real program in the role that only copies, in a process of its own, beside a gateway on PostgreSQL.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type GatewayProcess, newDirectory } from "./gateway.ts";

export type CopierProcess = {
  /** The name that it claims leads by. */
  readonly name: string;
  readonly process: ChildProcess;
  /** Everything that was written to standard output and standard error so far. */
  output(): string;
  /** SIGTERM, and the exit code. */
  stop(): Promise<number | null>;
  /** kill -9. */
  kill(): Promise<void>;
};

/** Starts a copier with the master key of a gateway, and resolves when it says that it copies. */
export async function startCopier(
  { dataDir: ofGateway }: Pick<GatewayProcess, "dataDir">,
  env: Readonly<Record<string, string>>,
): Promise<CopierProcess> {
  const dataDir = newDirectory();
  copyFileSync(join(ofGateway, "master.key"), join(dataDir, "master.key"));
  const args = ["src/main.ts", "--role", "copier", "--data", dataDir];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exited = once(child, "exit");
  child.stderr.on("data", (text) => {
    output += text;
  });
  const name = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      output += `${line}\n`;
      const copies = /^Lyrebird copies as (copier-[0-9a-f]{16}), on the database 127\.0\.0\.1:\d+\/\w+$/.exec(
        line,
      );
      if (copies?.[1] !== undefined) resolve(copies[1]);
    });
    exited.then(([code]) => reject(new Error(`the copier exited with ${code}:\n${output}`)), reject);
  });
  return {
    name,
    process: child,
    output: () => output,
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
