// The other thread: opens a store, reports that, and executes the calls that it receives.
import { parentPort, workerData } from "node:worker_threads";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";

export type CallElsewhere = {
  readonly id: number;
  readonly part: "people" | "copying";
  readonly method: string;
  readonly given: readonly unknown[];
};
export type ReplyFromElsewhere = { readonly id: number; readonly answer?: unknown; readonly error?: string };

const port = parentPort;
if (port === null) throw new Error("the other store runs in a worker thread");

const place = String(workerData.place);
const store = await (place.startsWith("postgres") ? openPostgresStore(place) : openSqliteStore(place));
port.on("message", async (call: CallElsewhere | "close") => {
  if (call === "close") {
    await store.close();
    port.close();
    return;
  }
  const { id, part, method, given } = call;
  try {
    const methods = store[part] as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
    port.postMessage({ id, answer: await methods[method]?.(...given) } satisfies ReplyFromElsewhere);
  } catch (error) {
    port.postMessage({ id, error: String(error) } satisfies ReplyFromElsewhere);
  }
});
port.postMessage("open");
