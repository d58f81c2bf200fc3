// What ends the work on a row, or a poll, before its time.
import type { VenueRefusal, VenueRejection } from "../venue/venue.ts";

/** The copy may not run any more, for the moment or for good: the claim is not fresh, or all is being closed. */
export class MayNotRun extends Error {
  constructor() {
    super("a copy may run only under a fresh claim");
  }
}

/** Another process has the claim: what was written took no effect. */
export class ClaimLost extends Error {
  constructor() {
    super("progress is recorded only under a claim of one's own");
  }
}

/** The venue does not accept the account's credentials. */
export class CredentialsRejected extends Error {
  readonly rejection: VenueRejection;

  constructor(rejection: VenueRejection) {
    super(`the venue does not accept the credentials: ${rejection.code} ${rejection.message}`);
    this.rejection = rejection;
  }
}

/** The account is disconnected, and its credentials are destroyed; no live copy has one like it. */
export class AccountGone extends Error {
  constructor(accountId: string) {
    super(`a live copy's account has credentials: ${accountId}`);
  }
}

/** The venue refuses to answer a question that every venue answers. */
export class VenueRefused extends Error {
  readonly refusal: VenueRefusal;

  constructor(refusal: VenueRefusal) {
    super(`the venue does not answer: ${refusal.code} ${refusal.message}`);
    this.refusal = refusal;
  }
}

/** A question was not answered in time; whatever asked goes on without the answer. */
export class NotAnswered extends Error {
  /** When it may be asked again, wall time, Unix ms; 0 if the venue did not say. */
  readonly until: number;

  constructor(reason: string, until = 0) {
    super(`a question is not answered: ${reason}`);
    this.until = until;
  }
}
