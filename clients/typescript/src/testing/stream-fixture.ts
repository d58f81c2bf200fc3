// A client with a manual clock: its streams on a scripted server, its REST requests answered by the test.
import { LyrebirdClient } from "../client.ts";
import type { LyrebirdStreamError } from "../errors.ts";
import type { StreamState } from "../stream-connection.ts";
import { manualEnvironment } from "./manual-environment.ts";
import { Handed, openScriptedServer } from "./scripted-server.ts";

export const KEY = { apiKey: "lyre_bot_1", apiSecret: "f00d" };
/** The server's clock is ahead of the client's by a day. */
export const AHEAD_MS = 86_400_000;

export type StreamFixture = Awaited<ReturnType<typeof openStreamFixture>>;

/** `rest` answers REST requests: the JSON of the answer, or a status. */
export async function openStreamFixture(rest: (target: URL) => object | number = () => 503) {
  const server = await openScriptedServer();
  const targets: string[] = [];
  let timesAsked = 0;
  const environment = manualEnvironment(({ url }) => {
    const target = new URL(url);
    if (target.pathname === "/api/v3/time") {
      timesAsked += 1;
      return { body: { serverTime: environment.now() + AHEAD_MS } };
    }
    targets.push(target.pathname + target.search);
    const answer = rest(target);
    return typeof answer === "number" ? { status: answer, body: {} } : { body: answer };
  });
  const client = new LyrebirdClient({ baseUrl: server.url, ...KEY, ...environment });
  const states: StreamState[] = [];
  const newStates = new Handed<StreamState>();
  const errors = new Handed<LyrebirdStreamError>();
  const errorCodes: string[] = [];
  return {
    server,
    client,
    now: environment.now,
    time: environment.time,
    sleep: environment.sleep,
    /** The REST requests so far, except for the time. */
    targets,
    /** The states so far. */
    states,
    errors,
    /** The codes of the errors so far. */
    errorCodes,
    /** Number of requests for the server's time. */
    timesAsked: () => timesAsked,
    handlers: {
      onState(state: StreamState) {
        states.push(state);
        newStates.put(state);
      },
      onError(error: LyrebirdStreamError) {
        errorCodes.push(error.code);
        errors.put(error);
      },
    },
    /** Resolves at the next state change to this state; changes are consumed in order. */
    async reached(wanted: StreamState): Promise<void> {
      while ((await newStates.next()) !== wanted);
    },
    /** Advances time in small steps, and answers REST requests in between. */
    async pass(ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= 500) await environment.pass(Math.min(500, left));
    },
    async close(): Promise<void> {
      client.close();
      await server.close();
    },
  };
}
