// The last requests of each key, in the memory of the process that answered them (decision 35). Each key has
// a ring of entries that are overwritten in place, so that recording makes no garbage; repeated texts (paths,
// addresses) are stored once. The caller records requests of existing keys only.
// Invariant: secrets, signatures and values of parameters are never recorded.
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Requests kept of a key. */
export const REQUESTS_PER_KEY_MAX = 100;
/** Keys whose requests are kept; beyond it the least recently used key is dropped. */
export const KEYS_MAX = 1_000;
/** Characters kept of a text from outside. */
export const TEXT_LENGTH_MAX = 160;
/** Texts that are shared by keys, beside those of their own last requests. */
const TEXTS_MAX = 1_000;
/** How often the last use of a key is updated, ms; keys are dropped in this order. */
const TOUCHED_EVERY_MS = 1_000;

export type NewRequest = {
  /** Wall time, Unix ms. */
  readonly at: number;
  readonly method: string;
  /** The path of the route's row, or what may be shown of an unknown one. */
  readonly path: string;
  readonly status: number;
  readonly code: number | null;
  /** Whether it was a placement that was answered with the order of an earlier one. */
  readonly isReplay: boolean;
  readonly message: string | null;
  readonly weight: number;
  readonly latencyMs: number;
  readonly address: string;
  readonly userAgent: string;
  readonly diagnosis: Diagnosis | null;
};

export type LoggedRequest = NewRequest & { readonly requestId: string };

type Place = { -readonly [Field in keyof NewRequest]: NewRequest[Field] } & { number: number };

type Ring = {
  readonly places: Place[];
  /** Where the next request is written. */
  next: number;
  /** The strategy that the key managed when it was last looked up. */
  strategyId: string | null;
  touchedAt: number;
};

/** Called when the requests of a strategy's key have changed. */
export type RequestListener = (strategyId: string) => void;

export class RequestLog {
  /** Wall time, Unix ms: requests are kept since then. */
  readonly since: number;
  /** In the order in which they were last used, to the second. */
  readonly #rings = new BoundedMap<string, Ring>(KEYS_MAX);
  /** Texts that are shown as they are, by themselves. */
  readonly #texts = new BoundedMap<string, string>(TEXTS_MAX);
  readonly #listeners = new Set<RequestListener>();
  #recorded = 0;

  constructor(since: number) {
    this.since = since;
  }

  /** Whether requests of a key are kept. */
  knows(apiKey: string): boolean {
    return this.#rings.has(apiKey);
  }

  /**
   * Records a request of an existing key. `strategyId` is that of its strategy, undefined if it was not
   * looked up.
   */
  record(apiKey: string, request: NewRequest, strategyId?: string | null): string {
    const ring = this.#ringOf(apiKey, request.at);
    if (strategyId !== undefined) ring.strategyId = strategyId;
    this.#recorded += 1;
    const before = ring.places[(ring.next + REQUESTS_PER_KEY_MAX - 1) % REQUESTS_PER_KEY_MAX];
    let place = ring.places[ring.next];
    if (place === undefined) {
      place = { ...request, number: 0 };
      ring.places.push(place);
    }
    place.number = this.#recorded;
    place.at = request.at;
    place.method = request.method;
    place.path = request.path;
    place.status = request.status;
    place.code = request.code;
    place.isReplay = request.isReplay;
    place.weight = request.weight;
    place.latencyMs = request.latencyMs;
    place.diagnosis = request.diagnosis;
    // The texts of one client repeat, and clients share all but their addresses: they are stored once and not
    // copied again.
    const { message, address, userAgent } = request;
    place.message = message === null ? null : this.#shared(message, before?.message);
    place.address = before?.address === address ? before.address : shownText(address);
    place.userAgent = this.#shared(userAgent, before?.userAgent);
    ring.next = (ring.next + 1) % REQUESTS_PER_KEY_MAX;
    this.#tell(ring);
    return String(this.#recorded);
  }

  /** Adds a diagnosis to a request, if it is still kept. */
  explain(apiKey: string, requestId: string, diagnosis: Diagnosis): void {
    const ring = this.#rings.get(apiKey);
    const place = ring?.places.find(({ number }) => String(number) === requestId);
    if (ring === undefined || place === undefined) return;
    place.diagnosis = diagnosis;
    this.#tell(ring);
  }

  /** The kept requests of a key, newest first. */
  requestsOf(apiKey: string): LoggedRequest[] {
    const places = this.#rings.get(apiKey)?.places ?? [];
    return [...places]
      .sort((one, other) => other.number - one.number)
      .map(({ number, latencyMs, ...request }) => ({
        requestId: String(number),
        ...request,
        latencyMs: Math.round(latencyMs * 1_000) / 1_000,
      }));
  }

  /** Calls a listener for every request of a key with a strategy, until released. It must not throw. */
  onNews(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #tell({ strategyId }: Ring): void {
    if (strategyId === null) return;
    for (const listener of this.#listeners) listener(strategyId);
  }

  /** The text before if it is the same, else a copy that may be shown. */
  #shared(text: string, before: string | null | undefined): string {
    if (before === text) return before;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const shown = shownText(text);
    if (shown === text) this.#texts.set(shown, shown);
    return shown;
  }

  #ringOf(apiKey: string, at: number): Ring {
    const known = this.#rings.get(apiKey);
    if (known !== undefined) {
      if (Math.abs(at - known.touchedAt) < TOUCHED_EVERY_MS) return known;
      known.touchedAt = at;
      this.#rings.set(apiKey, known);
      return known;
    }
    const made: Ring = { places: [], next: 0, strategyId: null, touchedAt: at };
    this.#rings.set(apiKey, made);
    return made;
  }
}

/** Runs of letters and digits as long as secrets and signatures are. */
const LIKE_A_SECRET = /[A-Za-z0-9+=_]{32,}/g;
const SECRET_LENGTH_MIN = 32;

/**
 * A copy of a text from outside that may be shown: not too long, and without what might be a secret. A
 * substring would keep the whole request in memory.
 */
export function shownText(text: string): string {
  const shown =
    text.length < SECRET_LENGTH_MIN
      ? text
      : text
          .slice(0, TEXT_LENGTH_MAX * 2)
          .replace(LIKE_A_SECRET, "…")
          .slice(0, TEXT_LENGTH_MAX);
  return Buffer.from(shown, "utf8").toString("utf8");
}

/**
 * What may be shown of a path that is no route's: nothing of parameters that were appended to it without a
 * question mark.
 */
export function shownPath(path: string): string {
  return shownText(path.split(/[&=;?%]/, 1)[0] ?? "");
}
