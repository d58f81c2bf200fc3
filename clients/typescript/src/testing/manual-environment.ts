// An environment that the test controls: time advances when the test says so, and the test answers every
// request.
import { createManualTime, type ManualTime } from "../../../../src/concurrency/testing/manual-time.ts";
import type { Environment, Fetch, FetchedAnswer } from "../environment.ts";

/** A request as it was sent. */
export type Sent = Parameters<Fetch>[1] & { readonly url: string };

export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON; text as it is. */
  readonly body: unknown;
};

export type ManualEnvironment = Environment & {
  readonly time: ManualTime;
  readonly sent: readonly Sent[];
  /** Time passes, and what that sets going goes as far as it can. */
  pass(ms: number): Promise<void>;
  /** Advances the wall clock alone. */
  sleep(ms: number): void;
};

/** `respond` answers the requests in order; an error it throws is a network failure. */
export function manualEnvironment(respond: (request: Sent) => Answer | Promise<Answer>): ManualEnvironment {
  const time = createManualTime();
  const sent: Sent[] = [];
  let sleptMs = 0;
  return {
    time,
    sent,
    now: () => time.now() + sleptMs,
    timers: time,
    // The middle of every spread.
    random: () => 0.5,
    sleep(ms) {
      sleptMs += ms;
    },
    async fetch(url, request) {
      sent.push({ url, ...request });
      return await untilAborted(request.signal, respond({ url, ...request }));
    },
    async pass(ms) {
      await settled();
      time.advance(ms);
      await settled();
    },
  };
}

/** Resolves when everything has happened that needs no time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function untilAborted(signal: AbortSignal, answer: Answer | Promise<Answer>): Promise<FetchedAnswer> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  const { status = 200, headers = {}, body } = await Promise.race([answer, aborted]);
  return {
    status,
    headers: new Headers(headers),
    text: async () => (typeof body === "string" ? body : JSON.stringify(body)),
  };
}
