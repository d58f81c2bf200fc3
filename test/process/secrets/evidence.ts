// Places where a server's secrets could be found: its files, a backup of its database, its log, and its
// memory.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { eventually } from "../../support/eventually.ts";
import { type GatewayProcess, newDirectory, runNode } from "../../support/servers/gateway.ts";
import type { Haystack } from "./search.ts";

/** What loads `heap-writer.ts` into a server, whose heaps it writes to a folder. */
export function heapWriter(folder: string): Readonly<Record<string, string>> {
  return {
    HEAP_FOLDER: folder,
    NODE_OPTIONS: `--import ${new URL("./heap-writer.ts", import.meta.url).href}`,
  };
}

/** Writing a heap takes a second or two, and longer where other tests run beside, ms. */
const HEAP_MS_MAX = 60_000;

/** What is reachable in the memory of each thread of a server. */
export async function heapsOf({ process: child }: GatewayProcess, folder: string): Promise<Haystack[]> {
  const named = (end: string) => readdirSync(folder).filter((name) => name.endsWith(end));
  // A thread that starts later may not see the signal.
  const threads = named(".started").map((name) => name.replace(/started$/, "heapsnapshot"));
  child.kill("SIGUSR2");
  const isWritten = () => threads.every((name) => existsSync(join(folder, name)));
  await eventually("every thread has written its heap", isWritten, { msMax: HEAP_MS_MAX });
  return named(".heapsnapshot").map((name) => fileOf(folder, name));
}

/** The files of a data directory but one, as they are at this moment. */
export function filesOf({ dataDir }: GatewayProcess, { except }: { readonly except: string }): Haystack[] {
  return readdirSync(dataDir)
    .filter((name) => name !== except)
    .map((name) => fileOf(dataDir, name));
}

/** All that the database holds, as `lyrebird backup` writes it, unpacked. */
export function backupOf({ dataDir }: GatewayProcess, env: Readonly<Record<string, string>>): Haystack {
  const file = join(newDirectory(), "lyrebird.backup");
  const { status, stderr } = runNode(["src/cli.ts", "backup", file, "--data", dataDir], env);
  if (status !== 0) throw new Error(`no backup was made: ${stderr}`);
  return { name: "backup", bytes: gunzipSync(readFileSync(file)) };
}

/** What a server has said on its terminal, and its log: a JSON value a line. */
export function wordsOf(gateway: GatewayProcess): {
  readonly greeting: string;
  readonly log: readonly string[];
} {
  const lines = gateway.output().split("\n");
  const isLogged = (line: string) => line.startsWith("{");
  return { greeting: lines.filter((line) => !isLogged(line)).join("\n"), log: lines.filter(isLogged) };
}

function fileOf(folder: string, name: string): Haystack {
  return { name, bytes: readFileSync(join(folder, name)) };
}
