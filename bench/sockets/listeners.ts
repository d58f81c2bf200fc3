// The process of the clients that listen to their accounts: its parent says which ones from now on.
import { setTimeout as wait } from "node:timers/promises";
import { quantile } from "../statistics.ts";
import type { Credentials } from "../wire/requests.ts";
import { type SocketConnection, subscribeAll } from "./wire.ts";

/** Those that listen so far are cut. */
export type ListenersTask = {
  readonly port: number;
  readonly keys: readonly Credentials[];
  /** How many connect at the same time. */
  readonly atOnce: number;
};
export type Listening = {
  /** From the beginning until a connection was subscribed: the middle one, one in a hundred, the last, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly lastMs: number;
  /** How often the server was too busy to subscribe a connection, which then waited a second. */
  readonly retries: number;
  /** Events since the task before. */
  readonly events: number;
  /** The failure, if there was one. */
  readonly failure: string | null;
};

/** The server notices within this time that connections were cut, ms. */
const NOTICE_MS = 100;

let connections: readonly SocketConnection[] = [];
let events = 0;
let failure: string | null = null;

process.on("message", async ({ port, keys, atOnce }: ListenersTask) => {
  for (const connection of connections) connection.close();
  connections = [];
  const eventsBefore = events;
  events = 0;
  if (keys.length === 0) await wait(NOTICE_MS);
  const startedAt = performance.now();
  const times: number[] = [];
  let retries = 0;
  try {
    connections = await subscribeAll(
      { port, keys, atOnce },
      {
        onSubscribed: (more) => {
          times.push(performance.now() - startedAt);
          retries += more;
        },
        onEvent: () => {
          events += 1;
        },
        onLost: (reason) => {
          failure ??= reason;
        },
      },
    );
  } catch (error) {
    failure ??= error instanceof Error ? error.message : String(error);
  }
  const [p50Ms, p99Ms, lastMs] = [0.5, 0.99, 1].map((share) => quantile(times, share));
  process.send?.({ p50Ms, p99Ms, lastMs, retries, events: eventsBefore, failure } as Listening);
});
process.once("disconnect", () => process.exit());
