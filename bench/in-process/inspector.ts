// The memory of a process: from its inspector after garbage collection, and from the system.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Gateway } from "../processes/processes.ts";

export type MemoryUsed = {
  /** JavaScript's objects and buffers on the main thread, bytes. */
  readonly heapBytes: number;
  /** Resident bytes of the process; null without Linux. */
  readonly residentBytes: number | null;
};

/** After a collection freed pages go back to the system at leisure, ms. */
const GIVING_BACK_MS = 500;

/** Collects the garbage of a process with an inspector, and measures its memory. */
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
