// One request to a venue: its place in the queue, its time, its signature, its answer. An attempt always ends
// in a value. A request is valid for RECV_WINDOW_MS from the moment of the call, however long it waits here,
// and also if it is signed again because the venue's clock was misjudged; after that plus the clock's error
// it can no longer be executed. The caller must therefore be entitled to it for that time. Source: reference
// exchange, section 3; specification 5.1.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import { Semaphore } from "../../concurrency/semaphore.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { VenueHealth } from "../../domain/venue-report.ts";
import { sign } from "../../keys/signatures.ts";
import { mapped, objectOf, Rejections, readAnswer, timeOf, unknown } from "./answers.ts";
import { type Cost, type Header, Limits, PRIORITIES, type Priority } from "./limits.ts";
import type { AskedAt, VenueAnswer, VenueCredentials, VenueDelay, VenueRejection } from "./venue.ts";

/** How long after its creation the venue may execute a request, ms. */
export const RECV_WINDOW_MS = 3_000;
/** How long a request may wait in the queue, ms; the rest of its window is for the way. */
export const WAIT_MS_MAX = 1_500;
export const REQUESTS_WAITING_MAX = 20_000;
/** When there were too many, or the clock was wrong, it is worth trying again after this, ms. */
const SOON_MS = 250;
/** When no connection could be made, after this, ms. */
const UNREACHABLE_PAUSE_MS = 1_000;

export type RestCall = Cost & {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly parameters?: Parameters;
  readonly askedAt?: AskedAt | undefined;
  /** How long the answer may take, ms; see HttpRequest. */
  readonly deadlineMs?: number;
  /** A person waits to learn whether the venue accepts the key: a rejection is final at once. */
  readonly isKeyCheck?: true;
};
/** Undefined values are left out. */
export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** The caller: an account and its credentials, or null for public requests. */
export type Asker = { readonly accountId: string; readonly credentials: VenueCredentials } | null;

/** The outcome of an attempt; TIMESTAMP: not executed, since its time was refused. */
type Attempt = VenueAnswer<unknown> | { readonly kind: "TIMESTAMP" };

/** The budget holder of public routes. */
const NOBODY = "";
/** A key that is valid in a header. */
const KEY = /^[\x21-\x7e]{1,256}$/;
const UNFIT_KEY: VenueRejection = {
  kind: "REJECTED",
  code: -2014,
  message: "The key holds characters that no key has.",
};

export class VenueRest {
  readonly #wallNow: () => number;
  readonly #sender: HttpSender;
  /** No more requests are in flight than there are connections. */
  readonly #slots = new Semaphore<Priority>({
    permits: SOCKETS_MAX,
    queueMax: REQUESTS_WAITING_MAX,
    priorities: PRIORITIES,
  });
  readonly clock: VenueClock;
  readonly limits: Limits;
  readonly #rejections = new Rejections();
  readonly #answers = { ok: 0, refused: 0, limited: 0, unknown: 0 };
  /** Why the last request had no answer. */
  #failure: string | null = null;
  #lastAnswerAt: number | null = null;

  constructor(parts: {
    readonly origin: string;
    readonly wallNow: () => number;
    readonly after: Timers["after"];
    /** The route of the venue's time, and its weight. */
    readonly time: { readonly path: string; readonly weight: number };
  }) {
    const { wallNow } = parts;
    this.#wallNow = wallNow;
    this.#sender = new HttpSender(parts);
    const time: RestCall = {
      ...{ ...parts.time, method: "GET", placesOrder: false, priority: "REDUCE" },
      isPrerequisite: true,
    };
    this.clock = new VenueClock({
      wallNow,
      ask: async () => {
        const answer = await this.#attempt(null, time, wallNow());
        if (answer.kind === "TIMESTAMP") return unknown("it refused the time of a request that has none");
        return mapped(answer, (body) => timeOf(objectOf(body), "serverTime"));
      },
    });
    this.limits = new Limits({ wallNow, venueNow: () => this.clock.now() });
  }

  /** Asks once. A time that the venue refuses is corrected, and the request sent again. Never rejects. */
  async ask(asker: Asker, call: RestCall): Promise<VenueAnswer<unknown>> {
    const askedAt = call.askedAt ?? this.#wallNow();
    if (asker !== null) {
      const untimely = await this.clock.ready();
      if (untimely !== null) return untimely;
    }
    const { measurements } = this.clock;
    const answer = await this.#attempt(asker, call, askedAt);
    if (answer.kind !== "TIMESTAMP") return answer;
    const untimely = await this.clock.resync(measurements);
    if (untimely !== null) return untimely;
    const second = await this.#attempt(asker, call, askedAt);
    return second.kind === "TIMESTAMP" ? this.#later("the venue refused the time of the request") : second;
  }

  /** How the venue has fared of late: what is shown to operators. Nothing is decided by it. */
  health(): Omit<VenueHealth, "streams"> {
    return {
      isReachable: this.#failure === null,
      failure: this.#failure,
      lastAnswerAt: this.#lastAnswerAt,
      pausedUntil: this.limits.pausedUntil(),
      budgetUsed: Math.min(1, this.limits.shareUsed()),
      clockOffsetMs: this.clock.offsetMs,
      answers: { ...this.#answers },
    };
  }

  close(): void {
    this.#sender.close();
  }

  /** Counts the outcome of a request that needed a connection. */
  #count(answer: Attempt): void {
    this.#failure = failureOf(answer);
    const isAnswered = this.#failure === null;
    if (isAnswered) this.#lastAnswerAt = this.#wallNow();
    if (answer.kind !== "DELAYED" || isAnswered) this.#answers[COUNTED_AS[answer.kind]] += 1;
  }

  async #attempt(asker: Asker, call: RestCall, askedAt: number): Promise<Attempt> {
    if (this.#slots.isFull(call.priority)) return this.#later("too many requests wait for the venue");
    return await this.#slots.run(call.priority, async () =>
      this.#wallNow() - askedAt > WAIT_MS_MAX
        ? this.#later("its turn came too late")
        : await this.#sent(asker, call, askedAt),
    );
  }

  async #sent(asker: Asker, call: RestCall, askedAt: number): Promise<Attempt> {
    const { limits } = this;
    if (asker !== null && !KEY.test(asker.credentials.apiKey)) return UNFIT_KEY;
    const holder = asker?.accountId ?? NOBODY;
    const charge = limits.admit(holder, call);
    if (typeof charge === "number") {
      return { kind: "DELAYED", why: "LIMITED", until: charge, reason: "the venue's limits" };
    }
    const form = asker === null ? formOf(call.parameters ?? {}) : this.#signedForm(asker, call, askedAt);
    const secrets = asker === null ? [] : secretsOf(asker.credentials, form);
    const isBody = call.method === "POST";
    const sentAt = this.#wallNow();
    const outcome = await this.#sender.send({
      method: call.method,
      target: isBody || form === "" ? call.path : `${call.path}?${form}`,
      body: isBody ? form : null,
      apiKey: asker?.credentials.apiKey ?? null,
      deadlineMs: call.deadlineMs,
    });
    limits.end(charge, outcome.kind === "ANSWERED" ? outcome.header : null);
    const answer = this.#readingOf(outcome, holder, secrets);
    this.#count(answer);
    return asker === null ? answer : this.#believed(asker, call, sentAt, answer);
  }

  /** See `Rejections`. */
  #believed(asker: NonNullable<Asker>, { isKeyCheck }: RestCall, sentAt: number, answer: Attempt): Attempt {
    if (answer.kind === "OK") this.#rejections.accepted(asker);
    if (answer.kind !== "REJECTED" || isKeyCheck === true) return answer;
    return this.#rejections.rejected({ ...asker, sentAt, answeredAt: this.#wallNow() }, answer);
  }

  #readingOf(outcome: HttpOutcome, holder: string, secrets: readonly string[]): Attempt {
    if (outcome.kind === "LOST") return unknown(outcome.reason);
    if (outcome.kind === "UNREACHABLE") {
      const until = this.#wallNow() + UNREACHABLE_PAUSE_MS;
      return { kind: "DELAYED", why: "UNREACHABLE", until, reason: outcome.reason };
    }
    const reading = readAnswer(outcome.status, outcome.text, secrets);
    if (reading.kind !== "LIMITED") return reading;
    const until = this.limits.refused(holder, reading, outcome.header);
    return { kind: "DELAYED", why: "LIMITED", until, reason: `the venue answered ${reading.status}` };
  }

  #signedForm({ credentials }: NonNullable<Asker>, { parameters = {} }: RestCall, askedAt: number): string {
    const timestamp = askedAt + this.clock.offsetMs;
    const message = formOf({ ...parameters, recvWindow: RECV_WINDOW_MS, timestamp });
    return `${message}${SIGNATURE}${sign(credentials.apiSecret, message)}`;
  }

  #later(reason: string): VenueDelay {
    return { kind: "DELAYED", why: "LIMITED", until: this.#wallNow() + SOON_MS, reason };
  }
}

const SIGNATURE = "&signature=";
/** A shorter text is no key of a venue, and may be part of any word. */
const SECRET_LENGTH_MIN = 8;

/** Removed from the venue's messages: the key, the secret and the signature of a request. */
function secretsOf({ apiKey, apiSecret }: VenueCredentials, form: string): readonly string[] {
  const signature = form.slice(form.lastIndexOf(SIGNATURE) + SIGNATURE.length);
  return [apiKey, apiSecret, signature].filter(({ length }) => length >= SECRET_LENGTH_MIN);
}

function formOf(parameters: Parameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
}

const COUNTED_AS = {
  OK: "ok",
  REFUSED: "refused",
  REJECTED: "refused",
  TIMESTAMP: "refused",
  DELAYED: "limited",
  UNKNOWN: "unknown",
} as const;

/** Null for an answer. */
function failureOf(answer: Attempt): string | null {
  const isMissing = answer.kind === "UNKNOWN" || (answer.kind === "DELAYED" && answer.why === "UNREACHABLE");
  return isMissing ? answer.reason : null;
}

// The offset of the venue's clock to ours. Requests carry the venue's time, and it refuses those that are too
// old; that bounds how long a lost request can still be executed, so the offset has to be known before
// anything is signed.
// It is measured with `time`: the venue's answer was made about half the round trip ago, so the error is at
// most half of it. A round trip that took too long is repeated. Measured at first, every `RESYNC_MS`, and
// when a time is refused.

/** The longest round trip that is believed, ms; an offset is wrong by half of it at most. */
export const ROUND_TRIP_MS_MAX = 1_000;
/** An offset beyond this, ms, is no clock that is off but nonsense: nothing is signed by it. */
export const OFFSET_MS_MAX = 86_400_000;
const SAMPLES_MAX = 3;
export const RESYNC_MS = 600_000;
/** After it could not be measured it is left alone for this long, ms. */
export const CLOCK_RETRY_MS = 1_000;

export type ClockParts = {
  readonly wallNow: () => number;
  /** Asks the venue for its time, Unix ms. */
  readonly ask: () => Promise<VenueAnswer<number>>;
};

export class VenueClock {
  readonly #parts: ClockParts;
  offsetMs = 0;
  /** Number of measurements: distinguishes an offset from the one before. */
  measurements = 0;
  #measuredAt = 0;
  #failed: VenueDelay | null = null;
  readonly #measurement = new SingleFlight(() => this.#measure());

  constructor(parts: ClockParts) {
    this.#parts = parts;
  }

  /** The venue's time, Unix ms, by the last offset. */
  now(): number {
    return this.#parts.wallNow() + this.offsetMs;
  }

  /** Resolves with null when the offset is known, or with a delay when it cannot be measured. */
  async ready(): Promise<VenueDelay | null> {
    if (this.measurements === 0) return await this.#measured();
    if (Math.abs(this.#parts.wallNow() - this.#measuredAt) > RESYNC_MS) void this.#measured();
    return null;
  }

  /** Measures again, unless that was done since the measurement behind the refused time. */
  async resync(measurements: number): Promise<VenueDelay | null> {
    return this.measurements === measurements ? await this.#measured() : null;
  }

  /** One measurement at a time, for all callers. */
  async #measured(): Promise<VenueDelay | null> {
    if (this.#failed !== null && this.#parts.wallNow() < this.#failed.until) return this.#failed;
    this.#failed = await this.#measurement.run();
    return this.#failed;
  }

  async #measure(): Promise<VenueDelay | null> {
    let last: Exclude<VenueAnswer<number>, { kind: "OK" }> = unknown("its clock was too slow to answer");
    for (let sample = 0; sample < SAMPLES_MAX; sample += 1) {
      const askedAt = this.#parts.wallNow();
      const answer = await this.#parts.ask();
      const answeredAt = this.#parts.wallNow();
      if (answer.kind !== "OK") {
        last = answer;
        break;
      }
      const roundTripMs = answeredAt - askedAt;
      if (roundTripMs < 0 || roundTripMs > ROUND_TRIP_MS_MAX) continue;
      const offsetMs = Math.round(answer.value - (askedAt + roundTripMs / 2));
      if (!Number.isSafeInteger(answer.value) || Math.abs(offsetMs) > OFFSET_MS_MAX) {
        last = unknown("it is more than a day from ours, or no time at all");
        break;
      }
      this.offsetMs = offsetMs;
      this.#measuredAt = answeredAt;
      this.measurements += 1;
      return null;
    }
    if (last.kind === "DELAYED") return last;
    const said = last.kind === "UNKNOWN" ? last.reason : last.message;
    const until = this.#parts.wallNow() + CLOCK_RETRY_MS;
    return { kind: "DELAYED", why: "UNREACHABLE", until, reason: `the venue's time cannot be had: ${said}` };
  }
}

// Sends single HTTP requests to one origin over keep-alive connections. A failure is a value, and says
// whether the venue can have seen anything of the request: before a connection is established nothing is
// sent, after that it is unknown. Nothing is sent twice and no redirect is followed. A reason never contains
// a part of the request, since keys and signatures are in it.

export const SOCKETS_MAX = 256;
/** Time limit for an answer, ms, from the request to the answer's last byte, unless a request has its own. */
export const DEADLINE_MS = 5_000;
/** Bytes of an answer: the longest is a list of all contracts. */
export const RESPONSE_BYTES_MAX = 16 * 1_024 * 1_024;
/**
 * An idle connection is closed after this, ms: before the venue's end of it would do so while a request is on
 * its way.
 */
const IDLE_SOCKET_MS = 10_000;

export type HttpRequest = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** With its query. */
  readonly target: string;
  /** Form text; null for none. */
  readonly body: string | null;
  readonly apiKey: string | null;
  /** Time limit of its answer, ms; default DEADLINE_MS. */
  readonly deadlineMs?: number | undefined;
};

/** UNREACHABLE: nothing was sent. LOST: it was, or a part of it, and there is no answer. */
export type HttpOutcome =
  | { readonly kind: "ANSWERED"; readonly status: number; readonly header: Header; readonly text: string }
  | { readonly kind: "UNREACHABLE"; readonly reason: string }
  | { readonly kind: "LOST"; readonly reason: string };

export class HttpSender {
  readonly #origin: URL;
  readonly #after: Timers["after"];
  readonly #agent: HttpAgent;
  readonly #begin: typeof httpRequest;

  constructor({ origin, after }: { readonly origin: string; readonly after: Timers["after"] }) {
    this.#origin = new URL(origin);
    this.#after = after;
    const isTls = this.#origin.protocol === "https:";
    const options = {
      keepAlive: true,
      maxSockets: SOCKETS_MAX,
      maxFreeSockets: SOCKETS_MAX,
      timeout: IDLE_SOCKET_MS,
    };
    this.#agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
    this.#begin = isTls ? httpsRequest : httpRequest;
  }

  /** Sends it once. Never rejects. The key must be valid in a header. */
  send({ method, target, body, apiKey, deadlineMs = DEADLINE_MS }: HttpRequest): Promise<HttpOutcome> {
    const { hostname, port, protocol } = this.#origin;
    const request = this.#begin({
      agent: this.#agent,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      method,
      path: target,
      headers: {
        ...(apiKey === null ? {} : { "x-mbx-apikey": apiKey }),
        ...(body === null
          ? {}
          : {
              "content-type": "application/x-www-form-urlencoded",
              "content-length": Buffer.byteLength(body),
            }),
      },
    });
    return new Promise((resolve) => {
      let isConnected = false;
      let isOver = false;
      const end = (outcome: HttpOutcome): void => {
        if (isOver) return;
        isOver = true;
        cancelDeadline();
        resolve(outcome);
      };
      const fail = (reason: string): void => {
        end({ kind: isConnected ? "LOST" : "UNREACHABLE", reason });
        request.destroy();
      };
      const cancelDeadline = this.#after(deadlineMs, () => fail(`no answer within ${deadlineMs} ms`));
      request.on("socket", (socket) => {
        // A request that waited for a connection gets one in use before, which is not marked as reused.
        isConnected = request.reusedSocket || !socket.connecting;
        if (isConnected) return;
        const event = protocol === "https:" ? "secureConnect" : "connect";
        socket.once(event, () => {
          isConnected = true;
        });
      });
      request.on("error", (error) => fail(reasonOf(error)));
      request.on("close", () => fail("the connection was closed"));
      request.on("response", (response) => receive(response, end, fail));
      request.end(body ?? undefined);
    });
  }

  /** Closes all connections: requests in flight get no answer. */
  close(): void {
    this.#agent.destroy();
  }
}

function receive(
  response: IncomingMessage,
  end: (outcome: HttpOutcome) => void,
  fail: (reason: string) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES_MAX) fail(`its answer is longer than ${RESPONSE_BYTES_MAX} bytes`);
    else chunks.push(chunk);
  });
  response.on("error", (error) => fail(reasonOf(error)));
  response.on("end", () => {
    end({
      kind: "ANSWERED",
      status: response.statusCode ?? 0,
      header: (name) => {
        const value = response.headers[name];
        return typeof value === "string" ? value : null;
      },
      text: Buffer.concat(chunks).toString("utf8"),
    });
  });
}

/** The code of a fault of the network, which is all that may be repeated of it. */
function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : error.name;
}
