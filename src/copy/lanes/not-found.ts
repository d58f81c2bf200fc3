// Orders that rest by the log and that the venue, asked for them, does not know. Its answers may lag behind what it has taken, or come
// from a part of it that is behind, so that is believed only of what was acknowledged a while ago, and when it is said twice. Until
// then the order rests.
import type { MirrorEntry } from "../../domain/copying.ts";
import { NOT_FOUND_AFTER_MS } from "../venue/delivery.ts";

/** Between two answers that count as two, ms. */
const APART_MS_MIN = 2_000;

type Asked = Pick<MirrorEntry, "clientOrderId" | "sentAt" | "acknowledgedAt">;

export class NotFound {
  /** By client id: when it was first not found, wall time, Unix ms. */
  readonly #since = new Map<string, number>();

  /** The venue does not know the order at this moment; answers whether it is gone. */
  note({ clientOrderId, sentAt, acknowledgedAt }: Asked, now: number): boolean {
    if (clientOrderId === null || now - (acknowledgedAt ?? sentAt ?? 0) < NOT_FOUND_AFTER_MS) return false;
    const since = this.#since.get(clientOrderId) ?? now;
    if (now - since < APART_MS_MIN) {
      this.#since.set(clientOrderId, since);
      return false;
    }
    this.#since.delete(clientOrderId);
    return true;
  }

  /** The venue knows it. */
  found({ clientOrderId }: Asked): void {
    if (clientOrderId !== null) this.#since.delete(clientOrderId);
  }
}
