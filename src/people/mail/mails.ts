// The texts of all mails to people, and the pages that they link to. No mail repeats what somebody typed,
// such as a name: otherwise anybody could sign up with a stranger's address and write to that stranger in our
// name.
import { LINK, type Mail } from "./mail.ts";

/**
 * The address of a page of the dashboard; `publicUrl` is the server's, with or without a slash at its end.
 */
export function pageAt(
  publicUrl: string,
  page:
    | "/sign-in"
    | "/forgot-password"
    | "/identity"
    | "/security"
    | "/copying/accounts"
    | `/copies/${string}`
    | "/verify-email"
    | "/reset-password",
): string {
  return new URL(page, publicUrl).href;
}

/**
 * The page of a link, with its token as the fragment: browsers do not send it, so it is in no log of a proxy.
 */
export function linkAt(publicUrl: string, page: "/verify-email" | "/reset-password", token: string): string {
  return `${pageAt(publicUrl, page)}#token=${token}`;
}

/** A link and its recipient. */
type LinkTo = { readonly to: string; readonly link: string };

const NOT_ASKED_FOR = "If you did not request it, somebody may have mistyped their address.";

export function signUpMail({ to, link }: LinkTo): Mail {
  return {
    kind: "SIGN_UP",
    to,
    link,
    about: "the link that verifies an e-mail address",
    subject: "Verify your e-mail address for Lyrebird",
    text: `Welcome to Lyrebird.

Open this link to verify your e-mail address and to choose your name and password. It works once, for 24 hours:

${LINK}

If you received several such mails, open any of them; the others then stop working.

${NOT_ASKED_FOR} You don't have to do anything: without the link there is no account to sign in to. Do not forward the link.
`,
  };
}

/** Tells the owner of an address that it has an account: the page for signing up does not say so. */
export function alreadySignedUpMail({
  to,
  signInUrl,
  resetUrl,
}: {
  readonly to: string;
  readonly signInUrl: string;
  readonly resetUrl: string;
}): Mail {
  return {
    kind: "SIGN_UP",
    to,
    link: null,
    about: "the note that an e-mail address has an account already",
    subject: "You already have a Lyrebird account",
    text: `Somebody tried to sign up to Lyrebird with this e-mail address, which already has an account.

If it was you, sign in with your password:

${signInUrl}

or ask for a new one:

${resetUrl}

If it was not you, you don't have to do anything: nothing in your account was shown or changed.
`,
  };
}

export function resetMail({ to, link }: LinkTo): Mail {
  return {
    kind: "PASSWORD_RESET",
    to,
    link,
    about: "the link to set a new password",
    subject: "Set a new password for Lyrebird",
    text: `Open this link to set a new password. It works once, for one hour:

${LINK}

Setting a new password signs you out everywhere.

If you did not request it, you don't have to do anything: your password stays as it is. Do not forward the link.
`,
  };
}

/** Notifies the owner, since somebody else may have changed it. */
export function passwordChangedMail({
  to,
  resetUrl,
}: {
  readonly to: string;
  readonly resetUrl: string;
}): Mail {
  return {
    kind: "NOTE",
    to,
    link: null,
    about: "the note that a password was changed",
    subject: "Your Lyrebird password was changed",
    text: `The password of your Lyrebird account was changed, and other browsers were signed out.

If it was you, you don't have to do anything.

If it was not you, set another password at once, then check your keys and your activity:

${resetUrl}
`,
  };
}

const CHANGES = {
  SECOND_FACTOR_ENABLED: {
    subject: "Two-factor authentication was enabled at Lyrebird",
    says: "Two-factor authentication was enabled for your Lyrebird account, and other browsers were signed out.",
  },
  SECOND_FACTOR_DISABLED: {
    subject: "Two-factor authentication was disabled at Lyrebird",
    says: "Two-factor authentication was disabled for your Lyrebird account, and other browsers were signed out.",
  },
  SECOND_FACTOR_RESET: {
    subject: "Two-factor authentication was reset at Lyrebird",
    says: "An operator removed two-factor authentication from your Lyrebird account, and all browsers were signed out. Set it up again after you have signed in.",
  },
  ACCOUNT_LOCKED: {
    subject: "Your Lyrebird account was locked",
    says: "An operator has locked your Lyrebird account: nobody signs in to it, its keys are refused, and its copies open nothing. What its strategies hold stays as it is. Ask the operator for the reason.",
  },
  ACCOUNT_UNLOCKED: {
    subject: "Your Lyrebird account was unlocked",
    says: "An operator has unlocked your Lyrebird account: its keys work again, and copies that the lock has paused follow again.",
  },
  ACCOUNT_CLOSED: {
    subject: "Your Lyrebird account was closed",
    says: "Your Lyrebird account was closed for good: its keys are revoked, its strategies are being closed, its copies are stopped, and your address is no longer known here. What copies held stays at your exchange.",
  },
  KEY_CREATED: {
    subject: "An API key was created at Lyrebird",
    says: "An API key was created for your Lyrebird account.",
  },
  KEY_REVOKED: {
    subject: "An API key was revoked at Lyrebird",
    says: "An API key of your Lyrebird account was revoked. It no longer works.",
  },
} as const;

/** A change of an account that its owner is notified of. */
export type NoticedChange = keyof typeof CHANGES;

/** Changes by others, about which the owner can do nothing. */
const BY_OTHERS: ReadonlySet<NoticedChange> = new Set([
  "ACCOUNT_LOCKED",
  "ACCOUNT_UNLOCKED",
  "ACCOUNT_CLOSED",
]);

export function noticeMail(
  change: NoticedChange,
  {
    to,
    securityUrl,
    resetUrl,
  }: { readonly to: string; readonly securityUrl: string; readonly resetUrl: string },
): Mail {
  const { subject, says } = CHANGES[change];
  return {
    kind: "NOTE",
    to,
    link: null,
    about: `the note: ${subject}`,
    subject,
    text: BY_OTHERS.has(change)
      ? `${says}
`
      : `${says}

If it was you, you don't have to do anything. The activity of your account is listed here:

${securityUrl}

If it was not you, set a new password at once, then check your keys and your activity:

${resetUrl}
`,
  };
}

const COPY_NOTES = {
  CREDENTIALS: {
    subject: "A copy at Lyrebird is paused: your exchange refuses the key",
    says: `One of your copies is paused: the exchange no longer accepts the API key of your account there. Nothing is sent until you replace it. Holdings and open orders of the copy stay at the exchange as they are.`,
    todo: "Replace the account's key, then resume the copy:",
    page: "ACCOUNTS",
  },
  STOP_LOSS: {
    subject: "A copy at Lyrebird has reached its stop loss",
    says: `One of your copies has reached the stop loss that you set. Its orders are canceled, what it held is sold, and it is paused: it opens nothing.`,
    todo: "See how it ended. You can resume it there; its stop loss then counts from the copy's value now:",
    page: "COPY",
  },
  TAKE_PROFIT: {
    subject: "A copy at Lyrebird has reached its take profit",
    says: `One of your copies has reached the take profit that you set. Its orders are canceled, what it held is sold, and it is paused: it opens nothing.`,
    todo: "See how it ended. You can resume it there; its stop loss and take profit then count from the copy's value now:",
    page: "COPY",
  },
  STRATEGY_CLOSED: {
    subject: "A copy at Lyrebird has ended: its strategy was closed",
    says: `A strategy that you copied was closed for good. The orders of your copy are canceled, what it held is sold, and it has ended.`,
    todo: "See how it ended:",
    page: "COPY",
  },
  ACCOUNT_UNFIT: {
    subject: "A copy at Lyrebird is paused: your exchange account cannot be traded on",
    says: `One of your copies is paused: your account at the exchange is not set up so that it can be traded on. The copy opens nothing.`,
    todo: "See what is missing, change it at the exchange, then resume the copy:",
    page: "ACCOUNTS",
  },
  EXIT_FAILED: {
    subject: "A copy at Lyrebird cannot close a position",
    says: `Your exchange has refused several times an order with which one of your copies was to close a position, or a part of it. It is tried again until it is done. The last stop of the position stays where it is.`,
    todo: "See what the exchange says. You can also close the position there yourself:",
    page: "COPY",
  },
  CLOSED_BY_VENUE: {
    subject: "A copy at Lyrebird: your exchange has closed a position",
    says: `Your exchange has closed a position of one of your copies by itself, or a part of it: it was liquidated, or reduced for the sake of others. The copy goes on.`,
    todo: "See what it has cost, and what the copy has left:",
    page: "COPY",
  },
  OFF_TARGET: {
    subject: "A copy at Lyrebird holds more than it should",
    says: `One of your copies has held for more than a minute what its strategy has closed already, worth more than a tenth of the copy.`,
    todo: "See what it waits for. You can also close the position at the exchange yourself:",
    page: "COPY",
  },
  BEHIND: {
    subject: "A copy at Lyrebird is behind its strategy",
    says: `One of your copies has not dealt for more than a minute with something that its strategy did. The exchange may not answer, or may limit how often it is asked. It is tried again.`,
    todo: "See how far it is:",
    page: "COPY",
  },
} as const;

/** Why a copy paused or ended by itself, or another reason for a mail to its copier. */
export type CopyNote = keyof typeof COPY_NOTES;

export function isCopyNote(reason: string): reason is CopyNote {
  return Object.hasOwn(COPY_NOTES, reason);
}

/** Does not name the strategy, since its owner chose the name: the copy's page shows it. */
export function copyMail(
  reason: CopyNote,
  {
    to,
    copyUrl,
    accountsUrl,
  }: { readonly to: string; readonly copyUrl: string; readonly accountsUrl: string },
): Mail {
  const { subject, says, todo, page } = COPY_NOTES[reason];
  return {
    kind: "NOTE",
    to,
    link: null,
    about: `the note: ${subject}`,
    subject,
    text: `${says}

${todo}

${page === "COPY" ? copyUrl : accountsUrl}

The copy's log shows which copy it is and the outcome of each of its orders:

${copyUrl}/log
`,
  };
}

/** An operator's decision about an identity form; the reason is in the operator's words. */
export function identityDecisionMail({
  to,
  decision,
  identityUrl,
}: {
  readonly to: string;
  readonly decision:
    | { readonly status: "APPROVED" }
    | { readonly status: "REJECTED"; readonly reason: string };
  readonly identityUrl: string;
}): Mail {
  const says =
    decision.status === "APPROVED"
      ? `Your identity has been approved. You can now use the Trader profile to create keys and strategies, or the Copier profile to copy:`
      : `Your identity could not be approved. The reason:

${decision.reason}

You can fill in the form again:`;
  return {
    kind: "NOTE",
    to,
    link: null,
    about: "the decision about an identity form",
    subject:
      decision.status === "APPROVED"
        ? "Your identity was approved at Lyrebird"
        : "Your identity form at Lyrebird needs another look",
    text: `${says}

${identityUrl}

If you have no account at Lyrebird, somebody may have mistyped their address; you don't have to do anything.
`,
  };
}
