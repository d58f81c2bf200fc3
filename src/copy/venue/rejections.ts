// Decides when a venue's rejection of credentials is believed. One rejection may come from a venue in trouble, and believing it
// pauses a copy until its owner acts. So the first one only delays: the request was not carried out, and may be repeated.
// The rejection is believed when the venue rejects a request that was sent at least `CONFIRM_AFTER_MS` after the first one was
// answered, and accepted no request with these credentials in between.
//
// State: the first rejection of each account, at most `ACCOUNTS_MAX`; the oldest are dropped, which delays a belief.
import { createHash } from "node:crypto";
import type { VenueCredentials, VenueDelay, VenueRejection } from "./venue.ts";

export const CONFIRM_AFTER_MS = 3_000;
const ACCOUNTS_MAX = 50_000;

type First = { readonly credentials: string; readonly answeredAt: number };
/** A request of an account: wall times in Unix ms. */
type Request = {
  readonly accountId: string;
  readonly credentials: VenueCredentials;
  readonly sentAt: number;
  readonly answeredAt: number;
};

export class Rejections {
  readonly #first = new Map<string, First>();

  /** The venue accepted these credentials: earlier rejections of them no longer count. */
  accepted({ accountId, credentials }: Pick<Request, "accountId" | "credentials">): void {
    const first = this.#first.get(accountId);
    if (first === undefined || first.credentials !== digestOf(credentials)) return;
    this.#first.delete(accountId);
  }

  /** The rejection if it confirms an earlier one; otherwise a delay until it may be confirmed. */
  rejected(request: Request, rejection: VenueRejection): VenueRejection | VenueDelay {
    const { accountId, sentAt, answeredAt } = request;
    const credentials = digestOf(request.credentials);
    const known = this.#first.get(accountId);
    const isKnown = known?.credentials === credentials;
    if (isKnown && sentAt - known.answeredAt >= CONFIRM_AFTER_MS) return rejection;
    const first = isKnown ? known : { credentials, answeredAt };
    if (!isKnown) this.#keep(accountId, first);
    const reason = `the venue rejected the key once (${rejection.code}), which is not believed before it does so again`;
    return { kind: "DELAYED", why: "REJECTED", until: first.answeredAt + CONFIRM_AFTER_MS, reason };
  }

  #keep(accountId: string, first: First): void {
    this.#first.delete(accountId);
    const [oldest] = this.#first.keys();
    if (this.#first.size >= ACCOUNTS_MAX && oldest !== undefined) this.#first.delete(oldest);
    this.#first.set(accountId, first);
  }
}

/** Tells credentials apart without keeping them. */
function digestOf({ apiKey, apiSecret }: VenueCredentials): string {
  return createHash("sha256")
    .update(JSON.stringify([apiKey, apiSecret]))
    .digest("base64url");
}
