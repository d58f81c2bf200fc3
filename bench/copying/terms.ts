// Shared terms of the copies, their simulated venue and the bare sender.

/** The pair that is traded; at the venue it costs this. */
export const COPIED_SYMBOL = "DOGEUSDT";
export const COPIED_PRICE = "0.10000000";

/** The key of the account with this number. */
export function keyOf(number: number): string {
  return `bench-copier-${number}`;
}

/** How the secret of a key is made. */
export function secretOf(apiKey: string): string {
  return `secret of ${apiKey}`;
}

export type VenueReady = { readonly port: number };
/** The requests since the last reading. */
export type VenueTaken = {
  /** When each placement was answered, Unix ms with fractions, in the order of answers. */
  readonly answeredAt: readonly number[];
  /** All signed requests, placements among them, and those whose signature was wrong. */
  readonly requests: number;
  readonly badSignatures: number;
  /** Refused, because the minute's weight was used up. */
  readonly limited: number;
  /** Accounts whose balances were requested. */
  readonly polled: number;
};

export type CopySenderTask = { readonly port: number; readonly orders: number };
export type CopySent = { readonly ms: number; readonly failure: string | null };
