// What ends a lane's turn before its time. Nothing of the turn is recorded then; the lane begins it anew from its cursor, and
// asks the venue what became of it before it sends anything.
import type { VenueRefusal, VenueRejection } from "../venue/venue.ts";

/** The lane may not run any more, for the moment or for good: the claim is not fresh, or all is being closed. */
export class MayNotRun extends Error {
  constructor() {
    super("a lane may run only under a fresh claim");
  }
}

/** Another process has the claim: what was written took no effect. */
export class ClaimLost extends Error {
  constructor() {
    super("progress is recorded only under a claim of one's own");
  }
}

/** The venue does not accept the account's credentials. `mayHaveExecuted`: something sent before may still be carried out. */
export class CredentialsRejected extends Error {
  readonly rejection: VenueRejection;
  readonly mayHaveExecuted: boolean;

  constructor(rejection: VenueRejection, mayHaveExecuted: boolean) {
    super(`the venue does not accept the credentials: ${rejection.code} ${rejection.message}`);
    this.rejection = rejection;
    this.mayHaveExecuted = mayHaveExecuted;
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

/** What was asked is not known, and it is not asked again now: who asked goes on without it. */
export class NotAnswered extends Error {
  /** When it may be asked again, wall time, Unix ms; 0 if the venue did not say. */
  readonly until: number;

  constructor(reason: string, until = 0) {
    super(`a question is not answered: ${reason}`);
    this.until = until;
  }
}
