// What is found out about refused requests once they have been answered, and added to the log: how many at a time is bounded.
import type { Logger } from "pino";
import { secretOf } from "../identity/api-keys.ts";
import type { MasterKey } from "../identity/master-key.ts";
import type { ApiKeyRecord, BoundKey, Store } from "../store/store.ts";
import { diagnose, firstSight } from "./diagnosis.ts";
import { DiagnosisRate } from "./diagnosis-rate.ts";
import type { RequestLog } from "./request-log.ts";
import type { FailedCheck, SeenRequest, SignatureFamily } from "./sighting.ts";

/** Other keys of an owner whose secrets are tried. */
const OTHER_KEYS_MAX = 20;
const TOO_MANY = "More requests were refused in this second than are looked into.";

export type Refused = {
  readonly check: FailedCheck;
  readonly family: SignatureFamily;
  /** The key as it was looked up; null if the request was refused before. */
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
  /** The last piece of work that was begun, which has all others before it. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ExplanationParts) {
    this.#parts = parts;
  }

  /** Looks a key up that a request named which was refused before it was; calls back if there is such a key. */
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
      requests.explain(apiKey, requestId, { ...firstSight(refused), hints: [TOO_MANY] });
      return;
    }
    this.#later(async () => {
      const key = refused.key ?? (await store.findKey(apiKey))?.key;
      if (key === undefined) return;
      const others = refused.check === "SIGNATURE" ? await this.#otherKeys(key) : [];
      const secret = secretOf(master, key);
      const diagnosis = diagnose({ ...refused, request: { ...request, body }, key, secret, others });
      requests.explain(apiKey, requestId, diagnosis);
    });
  }

  /** Resolves when all that was refused so far has been looked into; what is refused meanwhile is not waited for. */
  async all(): Promise<void> {
    await this.#last;
    // What was found by a look-up has begun to be explained.
    await this.#last;
  }

  async #otherKeys({ ownerId, keyId }: ApiKeyRecord) {
    if (ownerId === null) return [];
    const { store, master } = this.#parts;
    const keys = (await store.people.listKeysOf(ownerId)).map(({ key }) => key);
    const others = keys.filter((key) => key.keyId !== keyId).slice(0, OTHER_KEYS_MAX);
    return others.map((key) => ({ key, secret: secretOf(master, key) }));
  }

  /** Does what is no part of answering once the answer has left: one a turn of the event loop. */
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
