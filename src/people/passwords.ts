// Passwords: the rules for choosing one, and their hashes. Hashing takes memory and processor time on
// purpose, so that the number hashed at once, off the main thread, and the number that wait are bounded.
import { type Algorithm, hash, verify } from "@node-rs/argon2";
import { Semaphore } from "../concurrency/semaphore.ts";
import { type Chooser, strengthFault } from "./password-strength.ts";

/** In characters. */
export const PASSWORD_LENGTH_MIN = 10;
export const PASSWORD_LENGTH_MAX = 200;

/**
 * argon2id as OWASP recommends it: 19 MiB, two passes, one thread. Source: OWASP, Password Storage Cheat
 * Sheet.
 */
const ARGON2ID = {
  algorithm: 2 satisfies Algorithm,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Hashed at once: Node's pool has four threads, which other work needs too. */
const HASHED_AT_ONCE = 2;
/** Waiting to be hashed: two seconds of work. Beyond it a request is answered that the service is busy. */
export const PASSWORDS_WAITING_MAX = 100;

/** Hashes passwords; tests replace it. */
export type Hasher = {
  hash(password: string): Promise<string>;
  verify(hashed: string, password: string): Promise<boolean>;
};

const argon2id: Hasher = {
  hash: (password) => hash(password, ARGON2ID),
  verify: (hashed, password) => verify(hashed, password),
};

/** What is wrong with a password, for the person who chose it; null if nothing is. */
export async function passwordFault(password: string, chooser: Chooser): Promise<string | null> {
  const normal = normalized(password);
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

  /** Whether so many wait that another one is rejected. */
  get isBusy(): boolean {
    return this.#slots.isFull(null);
  }

  /** The hash to store in place of a password; null if too many wait. */
  async hash(password: string): Promise<string | null> {
    return await this.#queued(() => this.#hasher.hash(normalized(password)));
  }

  /**
   * Whether a hash is of this password; null if too many wait. Without a hash it takes as long, so that the
   * time does not reveal whether there is one.
   */
  async verify(hashed: string | null, password: string): Promise<boolean | null> {
    return await this.#queued(async () => {
      this.#decoy ??= this.#hasher.hash("a password that nobody has");
      const isRight = await this.#hasher.verify(hashed ?? (await this.#decoy), normalized(password));
      return isRight && hashed !== null;
    });
  }

  async #queued<Result>(work: () => Promise<Result>): Promise<Result | null> {
    return this.isBusy ? null : await this.#slots.run(null, work);
  }
}

/** The same text for the same password, whatever keyboard it was typed on. */
function normalized(password: string): string {
  return password.normalize("NFKC");
}
