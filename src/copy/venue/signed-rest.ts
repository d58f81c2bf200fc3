// One request to a venue: its place in the queue, its time, its signature, its answer. An attempt always ends
// in a value. A request is valid for RECV_WINDOW_MS from the moment of the call, however long it waits here,
// and also if it is signed again because the venue's clock was misjudged; after that plus the clock's error
// it can no longer be executed. The caller must therefore be entitled to it for that time. Source: reference
// exchange, section 3; specification 5.1.
import { Semaphore } from "../../concurrency/semaphore.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { VenueHealth } from "../../domain/venue-report.ts";
import { sign } from "../../keys/signatures.ts";
import { mapped, objectOf, Rejections, readAnswer, timeOf, unknown } from "./answers.ts";
import { VenueClock } from "./clock.ts";
import { type HttpOutcome, HttpSender, SOCKETS_MAX } from "./http-sender.ts";
import { type Cost, Limits, type Priority } from "./limits.ts";
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
  readonly method: "GET" | "POST" | "DELETE";
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
    priorities: ["REDUCE", "OPEN", "POLL"],
  });
  readonly clock: VenueClock;
  readonly limits: Limits;
  readonly health: Health;
  readonly #rejections = new Rejections();

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
    const time: RestCall = { ...parts.time, method: "GET", placesOrder: false, priority: "REDUCE" };
    this.clock = new VenueClock({
      wallNow,
      ask: async () => {
        const answer = await this.#attempt(null, time, wallNow());
        if (answer.kind === "TIMESTAMP") return unknown("it refused the time of a request that has none");
        return mapped(answer, (body) => timeOf(objectOf(body), "serverTime"));
      },
    });
    this.limits = new Limits({ wallNow, venueNow: () => this.clock.now() });
    this.health = new Health({
      wallNow,
      pausedUntil: () => this.limits.pausedUntil(),
      shareUsed: () => this.limits.shareUsed(),
      clockOffsetMs: () => this.clock.offsetMs,
    });
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

  close(): void {
    this.#sender.close();
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
    this.health.count(answer);
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

type Parts = {
  readonly wallNow: () => number;
  readonly pausedUntil: () => number;
  readonly shareUsed: () => number;
  readonly clockOffsetMs: () => number;
};

/** How a venue has fared of late: what is shown to operators. Nothing is decided by it. */
class Health {
  readonly #parts: Parts;
  readonly #answers = { ok: 0, refused: 0, limited: 0, unknown: 0 };
  /** Why the last request had no answer. */
  #failure: string | null = null;
  #lastAnswerAt: number | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Counts the outcome of a request that needed a connection. */
  count(answer: Attempt): void {
    this.#failure = failureOf(answer);
    const isAnswered = this.#failure === null;
    if (isAnswered) this.#lastAnswerAt = this.#parts.wallNow();
    switch (answer.kind) {
      case "OK":
        this.#answers.ok += 1;
        break;
      case "REFUSED":
      case "REJECTED":
      case "TIMESTAMP":
        this.#answers.refused += 1;
        break;
      case "DELAYED":
        if (isAnswered) this.#answers.limited += 1;
        break;
      case "UNKNOWN":
        this.#answers.unknown += 1;
        break;
    }
  }

  now(): VenueHealth {
    const { pausedUntil, shareUsed, clockOffsetMs } = this.#parts;
    return {
      isReachable: this.#failure === null,
      failure: this.#failure,
      lastAnswerAt: this.#lastAnswerAt,
      pausedUntil: pausedUntil(),
      budgetUsed: Math.min(1, shareUsed()),
      clockOffsetMs: clockOffsetMs(),
      answers: { ...this.#answers },
    };
  }
}

/** Null for an answer. */
function failureOf(answer: Attempt): string | null {
  const isMissing = answer.kind === "UNKNOWN" || (answer.kind === "DELAYED" && answer.why === "UNREACHABLE");
  return isMissing ? answer.reason : null;
}
