// What the figures were measured on, and which cores the parts run on.

import { execFileSync } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { median } from "../statistics.ts";

/** A core for whatever is measured, another for the sender; null where nothing can be pinned. */
export type Pinning = { readonly server: number; readonly sender: number } | null;

export type Machine = ReturnType<typeof describeMachine>;

const TMPFS = 0x01021994;
const SYNCS = 100;

export function describeMachine(directory: string) {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...commit(),
    pinning: pinning(),
    /** The median of a 4 kB append with its sync, where the data directories lie, ms. */
    syncMs: measureSync(join(directory, "sync")),
    /** Whether they lie in memory, so that a sync costs nothing. */
    isInMemory: statfsSync(directory).type === TMPFS,
  };
}

/** The commit in full, null outside a repository, and whether files differ from it. */
function commit(): { readonly commit: string | null; readonly isChanged: boolean } {
  const git = (...args: string[]) =>
    execFileSync("git", args, {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  try {
    const isChanged = git("status", "--porcelain", "--untracked-files=no").trim() !== "";
    return { commit: git("rev-parse", "HEAD").trim(), isChanged };
  } catch {
    return { commit: null, isChanged: false };
  }
}

function pinning(): Pinning {
  const cores = allowedCores();
  // The first and the last: neighbours may be two threads of one core.
  const [server] = cores;
  const sender = cores.at(-1);
  if (server === undefined || sender === undefined || server === sender) return null;
  try {
    execFileSync("taskset", ["-c", String(sender), "true"], { stdio: "ignore" });
    return { server, sender };
  } catch {
    return null;
  }
}

/** Moves this process, and with it whatever it starts from now on, to a core. */
export function pinThisProcess(core: number): void {
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", String(core), String(process.pid)], {
    stdio: "ignore",
  });
}

/** The cores that this process may use, by number. Linux only; elsewhere none. */
function allowedCores(): number[] {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return list.split(",").flatMap((range) => {
      const [first = Number.NaN, last = first] = range.split("-").map(Number);
      return Number.isNaN(first) ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return [];
  }
}

function measureSync(file: string): number {
  const descriptor = openSync(file, "w");
  const page = Buffer.alloc(4_096, 1);
  const times = Array.from({ length: SYNCS }, () => {
    const start = performance.now();
    writeSync(descriptor, page);
    fdatasyncSync(descriptor);
    return performance.now() - start;
  });
  closeSync(descriptor);
  rmSync(file);
  return median(times);
}

/** What Linux counts in, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/**
 * Starts counting; the returned function answers with the cores used since then, null where Linux does not
 * tell.
 */
export function countCores(pid: number): () => number | null {
  const ticks = ticksOf(pid);
  const startedAt = performance.now();
  return () => {
    const now = ticksOf(pid);
    const seconds = (performance.now() - startedAt) / 1_000;
    return ticks === null || now === null ? null : (now - ticks) / TICKS_PER_SECOND / seconds;
  };
}

/**
 * The processor time of a process and of its children that have ended, ms; 0 of one that is gone. Linux only.
 */
export function processorMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // utime, stime, cutime and cstime.
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return (ticks * 1_000) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

function ticksOf(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // utime and stime: the 14th and 15th field of the line, the 12th and 13th after the name.
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return null;
  }
}
