// Requests to one REST host of the reference exchange. An upstream that cannot answer is a value, never an
// exception. After a 429, or a 418 with a ban, no client of our address sends until the given time, since
// every further request would lengthen the ban. A 403 is the exchange's firewall, which objects to the
// request and not to the address: only its sender waits. Source: reference exchange, sections 2 and 4.
// Memory is bounded: one answer is read up to `answerBytesMax`, all concurrent ones up to `answersBytesMax`;
// a longer one is aborted and counts as no answer.
import type { Clock, Timers } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";

/** Upstream's answer, its body verbatim; or that there is none. */
export type UpstreamAnswer =
  | { readonly unavailable: false; readonly status: number; readonly text: string }
  | { readonly unavailable: true; readonly reason: string };

/** Until when a host wants no requests from this address, Unix ms. */
export type Pause = { until: number };

export type RestOptions = {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Shared by all clients of this host. */
  readonly ban: Pause;
  /** The largest answer that is read, bytes after decompression. */
  readonly answerBytesMax?: number;
};

export const requestsInFlightMax = 128;
const mebibyte = 1_024 * 1_024;
/** The largest answer of the exchange is the whole of `exchangeInfo`, about 20 MiB. */
export const answerBytesMaxDefault = 64 * mebibyte;
/** Maximum of all concurrently read answers. */
export const answersBytesMax = 128 * mebibyte;
/** How long to leave upstream alone when it does not say how long. */
const defaultPauseMs = 30_000;
const pauseMsMax = 3 * 24 * 60 * 60 * 1000; // The longest ban of the exchange is three days.
const firewallStatus = 403;
const pausingStatuses: ReadonlySet<number> = new Set([firewallStatus, 418, 429]);

export type Rest = ReturnType<typeof createRest>;

export function createRest(options: RestOptions) {
  const { baseUrl, wallClock, timers, log, ban, answerBytesMax = answerBytesMaxDefault } = options;
  let bytesUnderWay = 0;
  const underWay = new Set<AbortController>();
  const own: Pause = { until: 0 };
  let isClosed = false;

  /** 0 when there is no pause. */
  function pausedUntil(): number {
    const until = Math.max(own.until, ban.until);
    return wallClock.now() < until ? until : 0;
  }

  async function ask(path: string, search: string, deadlineMs: number): Promise<UpstreamAnswer> {
    if (isClosed) return unavailable("the market feed is closed");
    const until = pausedUntil();
    if (until > 0) {
      return unavailable(`upstream asked to be left alone until ${new Date(until).toISOString()}`);
    }
    if (underWay.size >= requestsInFlightMax)
      return unavailable("too many requests to upstream are under way");
    const controller = new AbortController();
    underWay.add(controller);
    const cancelDeadline = timers.after(deadlineMs, () => {
      controller.abort(new Error(`no answer within ${deadlineMs} ms`));
    });
    try {
      const url = `${baseUrl}${path}${search === "" ? "" : `?${search}`}`;
      const response = await fetch(url, { signal: controller.signal, redirect: "error" });
      if (pausingStatuses.has(response.status)) leaveAlone(response);
      const text = await read(response);
      if (response.status >= 500 || pausingStatuses.has(response.status)) {
        return unavailable(`upstream answered ${response.status}`);
      }
      return { unavailable: false, status: response.status, text };
    } catch (error) {
      return unavailable(reasonOf(error));
    } finally {
      cancelDeadline();
      underWay.delete(controller);
      // Stop receiving the unread part of the answer.
      controller.abort();
    }
  }

  /** The whole body. Throws when it is larger than may be read. */
  async function read(response: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response.body ?? []) {
        bytes += chunk.byteLength;
        bytesUnderWay += chunk.byteLength;
        if (bytes > answerBytesMax) throw new Error(`an answer of more than ${answerBytesMax} bytes`);
        if (bytesUnderWay > answersBytesMax)
          throw new Error(`answers of more than ${answersBytesMax} bytes are being read`);
        chunks.push(chunk);
      }
    } finally {
      bytesUnderWay -= bytes;
    }
    return Buffer.concat(chunks, bytes).toString();
  }

  function leaveAlone(response: Response): void {
    const waitSeconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const pauseMs = waitSeconds > 0 ? Math.min(waitSeconds * 1000, pauseMsMax) : defaultPauseMs;
    const pause = response.status === firewallStatus ? own : ban;
    pause.until = Math.max(pause.until, wallClock.now() + pauseMs);
    log.warn({ baseUrl, status: response.status, pauseMs }, "upstream asked to be left alone");
  }

  return {
    /**
     * GETs `path` with `search` (no question mark); the answer is complete within `deadlineMs` or there is
     * none.
     */
    ask,
    /** Unix ms until which upstream wants to be left alone; 0 when it does not. */
    pausedUntil,
    /** Aborts requests in flight, and answers nothing any more. */
    close() {
      isClosed = true;
      for (const controller of underWay) controller.abort(new Error("the market feed is closed"));
    },
  };
}

/** The body of an answer as JSON; undefined when there is no answer, none of success, or none that parses. */
export function bodyOf(answer: UpstreamAnswer): unknown {
  if (answer.unavailable || answer.status !== 200) return undefined;
  try {
    return JSON.parse(answer.text);
  } catch {
    return undefined;
  }
}

/** Why there is nothing to be had from an answer, in words for an operator. */
export function faultOf(answer: UpstreamAnswer): string {
  if (answer.unavailable) return answer.reason;
  return `upstream answered ${answer.status}: ${answer.text.slice(0, 200)}`;
}

/** A missing answer and its reason. */
export function unavailable(reason: string): UpstreamAnswer {
  return { unavailable: true, reason };
}

// The message of fetch is "fetch failed"; the reason is in its cause.
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0].message;
  return cause instanceof Error ? cause.message : error.message;
}
