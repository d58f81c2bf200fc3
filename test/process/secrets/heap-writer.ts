// Loaded into a server before its own program: at SIGUSR2 each of its threads writes what is reachable in its
// heap, after a full collection, to a file in HEAP_FOLDER. A thread announces itself there with a file, so
// that it is known how many there are.
//
// Node's own --heapsnapshot-signal knows the main thread alone, and would cut texts off after 1,024
// characters.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { BroadcastChannel, isMainThread, threadId } from "node:worker_threads";

const TEXT_LENGTH_MAX = 1_000_000;
const { HEAP_FOLDER: folder = "" } = process.env;
const file = join(folder, `thread-${threadId}`);
const channel = new BroadcastChannel("write the heap");

function write(): void {
  writeHeapSnapshot(`${file}.part`);
  renameSync(`${file}.part`, `${file}.heapsnapshot`);
}

writeFileSync(`${file}.started`, "");
if (isMainThread) {
  setFlagsFromString(`--heap-snapshot-string-limit=${TEXT_LENGTH_MAX}`);
  process.on("SIGUSR2", () => {
    channel.postMessage("now");
    // The event loop finishes its ready work first, so that nothing is in flight.
    setImmediate(write);
  });
} else {
  channel.onmessage = write;
}
channel.unref();
