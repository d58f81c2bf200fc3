// A copier by itself: the real program in the role that only copies, in a process of its own, beside a
// gateway on PostgreSQL.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type GatewayProcess, newDirectory, type Program, startProgram } from "./gateway.ts";

export type CopierProcess = Omit<Program, "ready"> & {
  /** The name that it claims leads by. */
  readonly name: string;
};

const READY = /^Lyrebird copies as (copier-[0-9a-f]{16}), on the database 127\.0\.0\.1:\d+\/\w+$/;

/** Starts a copier with the master key of a gateway, and resolves when it says that it copies. */
export async function startCopier(
  { dataDir: ofGateway }: Pick<GatewayProcess, "dataDir">,
  env: Readonly<Record<string, string>>,
): Promise<CopierProcess> {
  const dataDir = newDirectory();
  copyFileSync(join(ofGateway, "master.key"), join(dataDir, "master.key"));
  const args = ["--role", "copier", "--data", dataDir];
  const { ready, ...program } = await startProgram("the copier", READY, { args, env });
  return { ...program, name: ready };
}
