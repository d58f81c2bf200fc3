// Moves from one stream socket to its successor without missing or repeating a message.
// Modes: *opening*, *confirming* (until the successor carries everything), *overlapping* (for `overlapMs`),
// *handing over* (until the old socket closes, which the connection reports by `finish`), *over*. Until it
// hands over, any failure of the successor ends the attempt and the old socket stays in use.
// Invariant: the old socket is read until its last message; the successor's messages are buffered until then
// and passed on without those the old one had, so nothing is missed, repeated or out of order.
import type { Cancel, Timers } from "../../../concurrency/time.ts";
import { StreamSocket, type StreamSocketOptions } from "./stream-socket.ts";

/** Eleven subscriptions of a thousand streams take four seconds. */
export const changeOverDeadlineMs = 30_000;
/** More than one server of the exchange lags behind another. */
export const overlapMs = 1_000;
/** Buffered messages of a change-over; more look like an attack, and the attempt is given up. */
export const heldMessagesMax = 50_000;

export type ChangeOverOptions = Pick<StreamSocketOptions, "url" | "wallClock" | "wanted"> & {
  readonly timers: Timers;
  /** The successor has been listening long enough: close the old socket, then `finish`. */
  readonly onReady: () => void;
  /** The attempt has ended and leaves nothing behind. */
  readonly onFailed: (reason: string) => void;
  /** From the handover on: messages and close of the successor. */
  readonly onMessage: (text: string) => void;
  readonly onClose: (code: number, reason: string) => void;
};

type Mode = "opening" | "confirming" | "overlapping" | "handing over" | "over" | "failed";

export class ChangeOver {
  readonly successor: StreamSocket;
  readonly #options: ChangeOverOptions;
  readonly #cancelDeadline: Cancel;
  #mode: Mode = "opening";
  #held: string[] = [];
  #cancelOverlap: Cancel | null = null;

  constructor(options: ChangeOverOptions) {
    const { timers } = options;
    this.#options = options;
    this.#cancelDeadline = timers.after(changeOverDeadlineMs, () => this.#fail("it took too long"));
    this.successor = new StreamSocket({
      ...options,
      onOpen: () => {
        this.#mode = "confirming";
        this.#proceed();
      },
      onMessage: (text) => this.#heed(text),
      onClose: (code, reason) => this.#closed(code, reason),
    });
  }

  /** Whether the successor has carried everything for a while, so that it may take over at any moment. */
  get isReady(): boolean {
    return this.#mode === "overlapping" || this.#mode === "handing over";
  }

  /**
   * The old socket has sent its last message: passes on the buffered messages, and everything from now on.
   */
  finish(): readonly string[] {
    this.#mode = "over";
    this.#cancelTimers();
    return this.#held.splice(0);
  }

  /** Gives the attempt up, without a word to anyone. */
  abandon(): Promise<void> {
    this.#mode = "failed";
    this.#cancelTimers();
    this.#held = [];
    return this.successor.close();
  }

  #heed(text: string): void {
    if (this.#mode === "over") this.#options.onMessage(text);
    if (this.#mode === "over" || this.#mode === "failed") return;
    this.#held.push(text);
    if (this.#held.length > heldMessagesMax) this.#fail("too many messages came meanwhile");
    else this.#proceed();
  }

  #proceed(): void {
    if (this.#mode !== "confirming" || !this.successor.isSettled) return;
    this.#mode = "overlapping";
    this.#cancelOverlap = this.#options.timers.after(overlapMs, () => this.#overlapped());
  }

  /** A stream that was wanted in the last second may still have to be confirmed. */
  #overlapped(): void {
    if (!this.successor.isSettled) {
      this.#mode = "confirming";
      return;
    }
    this.#mode = "handing over";
    this.#cancelTimers();
    this.#options.onReady();
  }

  #closed(code: number, reason: string): void {
    if (this.#mode === "over") this.#options.onClose(code, reason);
    else this.#fail(reason);
  }

  #fail(reason: string): void {
    if (this.#mode === "failed") return;
    void this.abandon();
    this.#options.onFailed(reason);
  }

  #cancelTimers(): void {
    this.#cancelDeadline();
    this.#cancelOverlap?.();
  }
}
