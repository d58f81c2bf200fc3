// The real gateway on the recording disk (disk.c), and what was recorded of its lives.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type GatewayProcess, newDirectory, startGateway } from "../../../support/servers/gateway.ts";
import type { Contents, Found } from "./disk.ts";
import { type DiskRecord, readRecording } from "./recording.ts";

export type Recording = {
  /** The data directory's path while it was recorded. */
  readonly dataDir: string;
  /** What was there before, which lasts. */
  readonly found: Found;
  readonly records: readonly DiskRecord[];
  /** What is there after. */
  readonly left: Contents;
};

/** How a disk fails: the n-th write or sync of files whose path ends so, once or from then on. */
export type DiskFailure = {
  readonly call: "sync" | "write";
  readonly path: string;
  readonly error: "EIO" | "ENOSPC";
  readonly nth: number;
  readonly times: "once" | "always";
  /** From which moment calls are counted. */
  readonly counted: "FROM_THE_START" | "ONCE_ARMED";
};

const ERROR_NUMBERS = { EIO: 5, ENOSPC: 28 } as const;

let library: string | null = null;

/** The C compiler. */
const COMPILER = process.env.CC ?? "cc";

/** Whether there is such a disk here: it takes Linux and a C compiler. */
export const HAS_RECORDING_DISK =
  process.platform === "linux" && spawnSync(COMPILER, ["--version"], { stdio: "ignore" }).status === 0;

/** What the name of a suite says where it cannot run. */
export const SKIPPED_WITHOUT_DISK = HAS_RECORDING_DISK
  ? ""
  : " (skipped: it takes Linux and a C compiler, cc)";

export class RecordedGateway {
  readonly dataDir: string;
  readonly #folder: string;
  readonly #found: Found;

  /** Starts on a data directory inside a folder of its own, which may hold what an earlier run left. */
  constructor(folder: string) {
    this.#folder = folder;
    this.dataDir = dataDirIn(folder);
    const root = dirname(this.dataDir);
    mkdirSync(root, { recursive: true });
    this.#found = look(root);
  }

  /**
   * Another life, on a disk that may fail. Rejects with what the process wrote if it does not come to listen.
   */
  async start(failure: DiskFailure | null = null): Promise<GatewayProcess> {
    rmSync(this.#stopFile, { force: true });
    rmSync(this.#armFile, { force: true });
    return startGateway({ dataDir: this.dataDir, env: this.#environment(failure) });
  }

  /** From now on the calls that may fail are counted. */
  arm(): void {
    writeFileSync(this.#armFile, "");
  }

  /** Has the process killed right after its next record. */
  killAtNextRecord(): void {
    writeFileSync(this.#stopFile, "");
  }

  /** What was recorded so far; no process may be running. */
  recording(): Recording {
    const root = dirname(this.dataDir);
    return {
      dataDir: this.dataDir,
      found: this.#found,
      records: readRecording(join(this.#folder, "log")),
      left: new Map([...look(root)].map(([path, { content }]) => [path, content])),
    };
  }

  #environment(failure: DiskFailure | null): Record<string, string> {
    return {
      LD_PRELOAD: compiled(),
      DISK_ROOT: dirname(this.dataDir),
      DISK_LOG: join(this.#folder, "log"),
      DISK_STOP: this.#stopFile,
      ...(failure === null ? {} : { DISK_FAIL: textOf(failure) }),
      ...(failure?.counted === "ONCE_ARMED" ? { DISK_ARM: this.#armFile } : {}),
    };
  }

  get #stopFile(): string {
    return join(this.#folder, "stop");
  }

  get #armFile(): string {
    return join(this.#folder, "arm");
  }
}

/** As disk.c reads it. */
function textOf({ call, path, error, nth, times }: DiskFailure): string {
  return `${call} ${path} ${ERROR_NUMBERS[error]} ${nth} ${times}`;
}

/**
 * Where a recorded gateway of the folder has its data: one level below what is watched, so that its own name
 * is too.
 */
export function dataDirIn(folder: string): string {
  return join(folder, "disk", "data");
}

/**
 * Everything below a folder, and its inodes; the shared memory beside a database does not lie on the disk.
 */
function look(folder: string): Found {
  const found = new Map([[folder, { file: statSync(folder).ino, content: null as Buffer | null }]]);
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (path.endsWith("-shm")) continue;
    found.set(path, { file: statSync(path).ino, content: entry.isDirectory() ? null : readFileSync(path) });
  }
  return found;
}

/** The library, compiled once a test run. */
function compiled(): string {
  if (library !== null) return library;
  const file = join(newDirectory(), "disk.so");
  const source = join(import.meta.dirname, "disk.c");
  const { status, stderr } = spawnSync(
    COMPILER,
    ["-shared", "-fPIC", "-O2", "-o", file, source, "-lpthread"],
    {
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`the recording disk cannot be compiled: ${stderr}`);
  library = file;
  return file;
}
