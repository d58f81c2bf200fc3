// A person's authenticator. The server takes the codes of the previous, the present and the next 30 seconds,
// each once and only in order; so up to three can be used at once, and the next one has to be waited for.
// Code with access to the server's database need not wait.
import { setTimeout as until } from "node:timers/promises";
import { generateSync } from "otplib/functional";

const STEP_MS = 30_000;
/**
 * So long a code that was given stays valid at least: the request that carries it may take a while on a busy
 * machine.
 */
const VALID_FOR_MS = 15_000;

export class Authenticator {
  readonly #secret: string;
  #lastStep = 0;

  /** Set up with the key that the page shows, in base 32. */
  constructor(secret: string) {
    this.#secret = secret;
  }

  /**
   * A code that the server takes. When all of the present were used, it resolves at the beginning of the 30
   * seconds in which the next is taken; or at once, if `forget` makes the server forget which codes were
   * used.
   */
  async code(forget: (() => void) | null = null): Promise<string> {
    const now = Date.now();
    const next = Math.max(this.#lastStep + 1, stepAt(now + VALID_FOR_MS) - 1);
    // It is taken from one step before its own on.
    const opensAt = (next - 1) * STEP_MS;
    if (opensAt <= now) this.#lastStep = next;
    else if (forget === null) {
      await until(opensAt - now);
      this.#lastStep = next;
    } else {
      forget();
      this.#lastStep = stepAt(now);
    }
    return this.lastCode();
  }

  /** The code that was given last, once more. */
  lastCode(): string {
    return this.#codeOf(this.#lastStep);
  }

  /** Six digits that are none of the codes that the server takes now or soon. */
  wrongCode(): string {
    const present = stepAt(Date.now());
    const right = new Set([-2, -1, 0, 1, 2, 3].map((offset) => this.#codeOf(present + offset)));
    const wrong = ["000000", "111111", "222222", "333333", "444444", "555555", "666666"];
    return wrong.find((code) => !right.has(code)) ?? "777777";
  }

  #codeOf(step: number): string {
    return generateSync({ secret: this.#secret, epoch: (step * STEP_MS) / 1_000 });
  }
}

function stepAt(time: number): number {
  return Math.floor(time / STEP_MS);
}
