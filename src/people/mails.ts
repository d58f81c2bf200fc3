// The words of all mails to people. None repeats what somebody typed, such as a name: whoever signs up with a stranger's address
// would otherwise write to that stranger in our name.
import { LINK, type Mail } from "./mail.ts";

/** A link of ours and whom it is for. */
type LinkTo = { readonly to: string; readonly link: string };

const NOT_ASKED_FOR = "If you did not ask for it, somebody may have mistyped their address.";

export function verificationMail({ to, link }: LinkTo): Mail {
  return {
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
