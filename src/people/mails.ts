// The words of all mails to people. None repeats what somebody typed, such as a name: whoever signs up with a stranger's address
// would otherwise write to that stranger in our name.
import { LINK, type Mail, type MailKind } from "./mail.ts";

/** A link of ours and whom it is for. */
type LinkTo = { readonly to: string; readonly link: string };

const NOT_ASKED_FOR = "If you did not ask for it, somebody may have mistyped their address.";

export function verificationMail({ to, link }: LinkTo, kind: MailKind): Mail {
  return {
    kind,
    to,
    link,
    about: "the link that verifies an e-mail address",
    subject: "Verify your e-mail address for Lyrebird",
    text: `Welcome to Lyrebird.

Open this link to verify your e-mail address. It works once, for 24 hours:

${LINK}

If several such mails came, open the link of your own sign-up: its password will be the one of the account.

${NOT_ASKED_FOR} You need not do anything: without the link there is no account to sign in to.
`,
  };
}

/** For whoever signs up with an address that has an account: the page does not say so, this mail does. */
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
    text: `Somebody has just signed up to Lyrebird with this e-mail address, which has an account already.

If it was you, sign in with the password that you have:

${signInUrl}

or ask for a new one:

${resetUrl}

If it was not you, you need not do anything: nothing of your account was shown or changed.
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

If you did not ask for it, you need not do anything: your password stays as it is. Do not pass the link on to anybody.
`,
  };
}

/** Tells the owner what may have been somebody else. */
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

If it was you, you need not do anything.

If it was not you, set another one at once, and look at your keys and your activity afterwards:

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
  KEY_CREATED: {
    subject: "An API key was created at Lyrebird",
    says: "An API key was created for your Lyrebird account.",
  },
  KEY_REVOKED: {
    subject: "An API key was revoked at Lyrebird",
    says: "An API key of your Lyrebird account was revoked: it does nothing any more.",
  },
} as const;

/** What was done with somebody's account that its owner is told of. */
export type NoticedChange = keyof typeof CHANGES;

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
    text: `${says}

If it was you, you need not do anything. What was done with your account, and when, stands here:

${securityUrl}

If it was not you, set a new password at once, and look at your keys and your activity afterwards:

${resetUrl}
`,
  };
}

const PAUSES = {
  CREDENTIALS: {
    subject: "A copy at Lyrebird is paused: your exchange refuses the key",
    says: `A copy of yours is paused: the exchange does not accept the API key of your account there any more. Nothing is sent until it has
another. What the copy holds, and what rests, stays at the exchange as it is.`,
    todo: "Give the account another key, then resume the copy:",
    page: "ACCOUNTS",
  },
  STOP_LOSS: {
    subject: "A copy at Lyrebird has reached its stop loss",
    says: `A copy of yours has lost as much as the stop loss that you set. Its orders are cancelled, what it held is sold, and it is paused:
it opens nothing.`,
    todo: "Look at how it ended. You can resume it there; its stop loss then counts from what the copy is worth now:",
    page: "COPY",
  },
  STRATEGY_CLOSED: {
    subject: "A copy at Lyrebird has ended: its strategy was closed",
    says: `A strategy that you copied was closed, for good. The orders of your copy are cancelled, what it held is sold, and it has ended.`,
    todo: "Look at how it ended:",
    page: "COPY",
  },
  ACCOUNT_UNFIT: {
    subject: "A copy at Lyrebird is paused: your exchange account cannot be traded on",
    says: `A copy of yours is paused: the exchange does not let us trade on your account as it is set up there. The copy opens nothing.`,
    todo: "See what the account lacks, mend it at the exchange, then resume the copy:",
    page: "ACCOUNTS",
  },
} as const;

/** Why a copy has paused, or ended, by itself. */
export type ToldPause = keyof typeof PAUSES;

export function isToldPause(reason: string): reason is ToldPause {
  return Object.hasOwn(PAUSES, reason);
}

/** The strategy is not named, since its owner chose the name: the copy's page says which it is. */
export function copyPausedMail(
  reason: ToldPause,
  {
    to,
    copyUrl,
    accountsUrl,
  }: { readonly to: string; readonly copyUrl: string; readonly accountsUrl: string },
): Mail {
  const { subject, says, todo, page } = PAUSES[reason];
  return {
    kind: "NOTE",
    to,
    link: null,
    about: `the note: ${subject}`,
    subject,
    text: `${says}

${todo}

${page === "COPY" ? copyUrl : accountsUrl}

Which copy it is, and what became of each of its orders, stands in its log:

${copyUrl}/log
`,
  };
}

/** What an operator has decided about somebody's identity form; the reason is in the operator's words. */
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
      ? `Your identity has been approved. You may now switch to the Trader profile, and create keys and strategies:`
      : `Your identity could not be approved. The reason:

${decision.reason}

You may fill in the form again:`;
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

If you have no account at Lyrebird, somebody may have mistyped their address; you need not do anything.
`,
  };
}
