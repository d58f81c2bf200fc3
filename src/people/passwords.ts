// Passwords: what one must be, and how it is kept. Hashing takes memory and a core for a while on purpose, so only so many are
// hashed at once, off the main thread, and only so many may wait.
import { type Algorithm, hash, verify } from "@node-rs/argon2";
import { Semaphore } from "../concurrency/semaphore.ts";
import { type Chooser, strengthFault } from "./password-strength.ts";

/** In characters. */
export const PASSWORD_LENGTH_MIN = 10;
export const PASSWORD_LENGTH_MAX = 200;

/** argon2id as OWASP recommends it: 19 MiB, two passes, one thread. Source: OWASP, Password Storage Cheat Sheet. */
const ARGON2ID = {
  algorithm: 2 satisfies Algorithm,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Hashed at once: Node's own pool has four threads, and others need them too. */
const HASHED_AT_ONCE = 2;
/** Waiting to be hashed: about two seconds' worth. Beyond it a request is told that the service is busy. */
export const PASSWORDS_WAITING_MAX = 100;

/** What hashes; tests count with one of their own. */
export type Hasher = {
  hash(password: string): Promise<string>;
  verify(hashed: string, password: string): Promise<boolean>;
};

const argon2id: Hasher = {
  hash: (password) => hash(password, ARGON2ID),
  verify: (hashed, password) => verify(hashed, password),
};

/** What is wrong with a password, in words for the person who chose it; null if nothing is. */
export async function passwordFault(password: string, chooser: Chooser): Promise<string | null> {
  const normal = normalised(password);
  const length = [...normal].length;
  if (length < PASSWORD_LENGTH_MIN) return `Use at least ${PASSWORD_LENGTH_MIN} characters.`;
  if (length > PASSWORD_LENGTH_MAX) return `Use at most ${PASSWORD_LENGTH_MAX} characters.`;
  return await strengthFault(normal, chooser);
}

export class Passwords {
  readonly #hasher: Hasher;
  readonly #slots = new Semaphore<null>({ permits: HASHED_AT_ONCE, queueMax: PASSWORDS_WAITING_MAX });
  #decoy: Promise<string> | null = null;

  constructor(hasher: Hasher = argon2id) {
    this.#hasher = hasher;
  }

  /** Whether so many wait that no further one would be taken. */
  get isBusy(): boolean {
    return this.#slots.isFull(null);
  }

  /** The text to be kept in place of a password; null if too many wait. */
  async hash(password: string): Promise<string | null> {
    return await this.#inTurn(() => this.#hasher.hash(normalised(password)));
  }

  /**
   * Whether a password is the one that a text was kept of; null if too many wait. Without such a text it takes as long, so that
   * it cannot be told whether there is one.
   */
  async verify(hashed: string | null, password: string): Promise<boolean | null> {
    return await this.#inTurn(async () => {
      this.#decoy ??= this.#hasher.hash("a password that nobody has");
      const isRight = await this.#hasher.verify(hashed ?? (await this.#decoy), normalised(password));
      return isRight && hashed !== null;
    });
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result | null> {
    return this.isBusy ? null : await this.#slots.run(null, work);
  }
}

/** The same password, whatever keyboard it was typed on. */
function normalised(password: string): string {
  return password.normalize("NFKC");
}
