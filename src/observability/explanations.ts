// Diagnoses failed requests after they were answered and adds the result to the request log.
//
// HMACs cost time and anybody can send failing requests: the number of diagnoses per second is bounded, for
// each key and in total.
import type { Logger } from "pino";
import type { ApiKeyRecord, BoundKey } from "../domain/strategy.ts";
import { secretOf } from "../keys/api-keys.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { Store } from "../store/store.ts";
import { diagnose, unexamined } from "./diagnosis.ts";
import type { FailedCheck, SeenRequest, SignatureScheme } from "./request-context.ts";
import type { RequestLog } from "./request-log.ts";

/** Diagnoses of one key within a second of the clock. */
export const DIAGNOSES_PER_SECOND = 2;
/** Diagnoses of all keys within a second of the clock. */
export const DIAGNOSES_PER_SECOND_OF_ALL = 20;
/** Other keys of an owner whose secrets are tried. */
const OTHER_KEYS_MAX = 20;
const TOO_MANY = "This request was not examined: too many requests failed in this second.";

export type Refused = {
  readonly check: FailedCheck;
  readonly scheme: SignatureScheme;
  /** The stored key; null if the request was refused before the look-up. */
  readonly key: ApiKeyRecord | null;
  readonly request: SeenRequest;
  /** When it was refused: wall time, Unix ms. */
  readonly at: number;
};

type ExplanationParts = {
  readonly store: Pick<Store, "findKey" | "people">;
  readonly master: MasterKey;
  readonly requests: RequestLog;
  readonly log: Pick<Logger, "warn">;
};

export class Explanations {
  readonly #parts: ExplanationParts;
  readonly #explained = new DiagnosisRate();
  readonly #lookedUp = new DiagnosisRate();
  /** Settles when the last piece of work, and so all work before it, has ended. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ExplanationParts) {
    this.#parts = parts;
  }

  /**
   * Looks up the key that a request named and that was not looked up before the refusal. Calls back if the
   * key exists.
   */
  lookUp(apiKey: string, at: number, found: (key: BoundKey) => void): void {
    if (!this.#lookedUp.admit(apiKey, at)) return;
    this.#later(async () => {
      const key = await this.#parts.store.findKey(apiKey);
      if (key !== null) found(key);
    });
  }

  /** Finds out why a recorded request was refused, and adds it to the record. */
  explain(apiKey: string, requestId: string, refused: Refused): void {
    const { store, master, requests } = this.#parts;
    const { request } = refused;
    const { body } = request;
    if (typeof body !== "string") return;
    if (!this.#explained.admit(apiKey, refused.at)) {
      requests.explain(apiKey, requestId, { ...unexamined(refused), hints: [TOO_MANY] });
      return;
    }
    this.#later(async () => {
      const key = refused.key ?? (await store.findKey(apiKey))?.key;
      if (key === undefined) return;
      const others = refused.check === "SIGNATURE" ? await this.#otherKeys(key) : [];
      const secret = secretOf(master, key);
      const diagnosis = diagnose({
        ...refused,
        request: { ...request, query: request.query, body },
        key,
        secret,
        others,
      });
      requests.explain(apiKey, requestId, diagnosis);
    });
  }

  /**
   * Resolves when the work for all requests refused so far has ended. Does not wait for requests refused
   * later.
   */
  async all(): Promise<void> {
    await this.#last;
    // A look-up may have queued a diagnosis.
    await this.#last;
  }

  async #otherKeys({ ownerId, keyId }: ApiKeyRecord) {
    if (ownerId === null) return [];
    const { store, master } = this.#parts;
    const keys = (await store.people.listKeysOf(ownerId)).map(({ key }) => key);
    const others = keys.filter((key) => key.keyId !== keyId).slice(0, OTHER_KEYS_MAX);
    return others.map((key) => ({ key, secret: secretOf(master, key) }));
  }

  /** Does work after the answer has been sent, one piece per iteration of the event loop. */
  #later(work: () => Promise<void>): void {
    this.#last = this.#last
      .then(() => new Promise<void>((resolve) => setImmediate(resolve)))
      .then(work)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.#parts.log.warn({ reason }, "a refused request could not be looked into");
      });
  }
}

/** Counts the diagnoses of each key, and of all keys, in the present second. */
export class DiagnosisRate {
  readonly #counts = new Map<string, number>();
  #second = 0;
  #ofAll = 0;

  /** Whether one more diagnosis of a key is allowed now (wall time, Unix ms). If so, it is counted. */
  admit(apiKey: string, now: number): boolean {
    const second = Math.floor(now / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#ofAll = 0;
      this.#counts.clear();
    }
    const count = this.#counts.get(apiKey) ?? 0;
    if (count >= DIAGNOSES_PER_SECOND || this.#ofAll >= DIAGNOSES_PER_SECOND_OF_ALL) return false;
    this.#ofAll += 1;
    this.#counts.set(apiKey, count + 1);
    return true;
  }
}
