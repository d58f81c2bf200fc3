// The thread that copies the write-ahead log back into the database, while commits go on being added to its
// end. It never waits for a reader or a writer: what it cannot copy now, it copies the next time.
import { parentPort, workerData } from "node:worker_threads";
import { isFull, openDatabase } from "./database.ts";

const port = parentPort;
if (port === null) throw new Error("the checkpoint worker runs as a worker thread");

const database = openDatabase(workerData.file);
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");

port.on("message", () => {
  try {
    checkpoint.get();
  } catch (error) {
    // The log goes on until there is space.
    if (!isFull(error)) throw error;
  }
  port.postMessage("done");
});
