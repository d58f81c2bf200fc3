// The last requests of each key, in the memory of the process that answered them. A ring of places for each key; a place is
// written over where it lies, so that recording leaves nothing to be collected, and texts that repeat (paths, addresses) are kept
// once. Texts that came with the request are copied, since a part of it would keep the whole of it in memory.
//
// Never recorded: secrets, signatures, values of parameters. Only keys that there are have a ring; the caller knows which.
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Requests that are remembered of a key. */
export const REQUESTS_PER_KEY_MAX = 100;
/** Keys whose requests are remembered; beyond it those of the least recently used are forgotten. */
export const KEYS_MAX = 1_000;
/** Characters of a text that came from outside; what is beyond is cut off. */
export const TEXT_LENGTH_MAX = 160;
/** How often a key that is in use is noted to be so, ms: it is forgotten in the order of these notes. */
const TOUCHED_EVERY_MS = 1_000;

export type NewRequest = {
  /** Wall time, Unix ms. */
  readonly at: number;
  readonly method: string;
  /** The row's text of its path, or, of an unknown one, what may be shown of it. */
  readonly path: string;
  readonly status: number;
  readonly code: number | null;
  /** Whether it was a placement that was answered with what an earlier one had placed. */
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
  /** The strategy that the key managed when it was last known. */
  strategyId: string | null;
  touchedAt: number;
};

/** Is told that there is news about the requests of a strategy's key. */
export type RequestListener = (strategyId: string) => void;

export class RequestLog {
  /** Wall time, Unix ms: requests are remembered since then. */
  readonly since: number;
  /** In the order in which they were last used, to the second. */
  readonly #rings = new BoundedMap<string, Ring>(KEYS_MAX);
  readonly #listeners = new Set<RequestListener>();
  #recorded = 0;

  constructor(since: number) {
    this.since = since;
  }

  /** Whether requests of a key are remembered. */
  knows(apiKey: string): boolean {
    return this.#rings.has(apiKey);
  }

  /** Records a request of a key that there is. `strategyId` is that of its strategy, undefined where it was not looked up. */
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
    // Those of one client repeat: they are kept once, and need no copy.
    place.message = request.message === null ? null : kept(request.message, before?.message);
    place.address = kept(request.address, before?.address);
    place.userAgent = kept(request.userAgent, before?.userAgent);
    ring.next = (ring.next + 1) % REQUESTS_PER_KEY_MAX;
    this.#tell(ring);
    return String(this.#recorded);
  }

  /** Adds what was found out about a refused request, if it is still remembered. */
  explain(apiKey: string, requestId: string, diagnosis: Diagnosis): void {
    const ring = this.#rings.get(apiKey);
    const place = ring?.places.find(({ number }) => String(number) === requestId);
    if (ring === undefined || place === undefined) return;
    place.diagnosis = diagnosis;
    this.#tell(ring);
  }

  /** The requests of a key that are remembered, newest first. */
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

  /** Tells a listener of every request of a key with a strategy, at once, until released. It must not throw. */
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

/** The text that is kept: the one before if it says the same, else a copy that may be shown. */
function kept(text: string, before: string | null | undefined): string {
  return before === text ? before : shownText(text);
}

/** Runs of letters and digits as long as secrets and signatures are. */
const LIKE_A_SECRET = /[A-Za-z0-9+=_]{32,}/g;

/** A copy of a text from outside that may be shown: not too long, and without what might be a secret. */
export function shownText(text: string): string {
  const shown = text
    .slice(0, TEXT_LENGTH_MAX * 2)
    .replace(LIKE_A_SECRET, "…")
    .slice(0, TEXT_LENGTH_MAX);
  return Buffer.from(shown, "utf8").toString("utf8");
}

/** What may be shown of a path that is no route's: nothing of parameters that were appended to it without a question mark. */
export function shownPath(path: string): string {
  return shownText(path.split(/[&=;?%]/, 1)[0] ?? "");
}
