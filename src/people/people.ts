// Composes everything about the people of a service: accounts, second factors, identity verification, lockout
// and mails.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { MailSettings } from "../config/config.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { Store } from "../store/store.ts";
import { AccountControl } from "./account-control.ts";
import { Accounts } from "./accounts.ts";
import { Cookies } from "./cookies.ts";
import { Kyc } from "./kyc/kyc.ts";
import { Lockout } from "./lockout.ts";
import { Links } from "./mail/links.ts";
import { Mailer } from "./mail/mail.ts";
import { MailBudget } from "./mail/mail-budget.ts";
import { identityDecisionMail, pageAt } from "./mail/mails.ts";
import { Notices } from "./mail/notices.ts";
import { PasswordResets } from "./password-resets.ts";
import { type Hasher, Passwords } from "./passwords.ts";
import { SecondFactors } from "./second-factor.ts";
import { SESSION_IDLE_MS_DEFAULT, Sessions } from "./sessions.ts";
import { SignUps } from "./sign-ups.ts";

export type PeopleParts = {
  readonly store: Pick<Store, "people" | "copying">;
  readonly master: MasterKey;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  /** Where people reach the dashboard, such as `https://lyrebird.example`. Known once the server listens. */
  readonly publicUrl: () => string;
  /** Null writes links to the log. */
  readonly mail: MailSettings | null;
  readonly after: Timers["after"];
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** How long an unused session lasts, ms. */
  readonly sessionIdleMs?: number;
  /** Hashes passwords instead of argon2id. */
  readonly hasher?: Hasher;
};

export type People = ReturnType<typeof createPeople>;

export function createPeople(parts: PeopleParts) {
  const { store, master, wallNow, publicUrl, after, log, sessionIdleMs = SESSION_IDLE_MS_DEFAULT } = parts;
  const { people } = store;
  const mailer = new Mailer({ settings: parts.mail, after, log });
  const notices = new Notices({ mailer, publicUrl });
  const cookies = new Cookies(publicUrl);
  const lockout = new Lockout({ people, master, cookies, wallNow, log });
  const secondFactors = new SecondFactors({ store: people, master, lockout, wallNow });
  const shared = {
    people,
    links: new Links({ people, wallNow }),
    sessions: new Sessions({ people, cookies, sessionIdleMs, wallNow }),
    passwords: new Passwords(parts.hasher),
    cookies,
    lockout,
    secondFactors,
    mailer,
    notices,
    mailBudget: new MailBudget(),
    publicUrl,
    wallNow,
    log,
  };
  const signUps = new SignUps(shared);
  const accounts = new Accounts(shared);
  const control = new AccountControl({
    people,
    copying: store.copying,
    wallNow,
    sessionsEnded: (personId) => shared.sessions.announceEnded(personId),
    tell: (person, change) => notices.tell(person, change),
  });
  const passwordResets = new PasswordResets(shared);
  const kyc = new Kyc({
    store: people,
    master,
    wallNow,
    tell: ({ email }, decision) =>
      mailer.send(
        identityDecisionMail({ to: email, decision, identityUrl: pageAt(publicUrl(), "/identity") }),
      ),
  });
  const settled = async () => {
    await signUps.settled();
    await passwordResets.settled();
    await lockout.settled();
  };
  return {
    signUps,
    accounts,
    control,
    passwordResets,
    secondFactors,
    kyc,
    lockout,
    mailer,
    notices,
    /** Resolves when all accepted work is done, except mails. */
    settled,
    /** Completes the work in flight. The store must still be open. */
    async close(): Promise<void> {
      await settled();
      await mailer.close();
    },
  };
}
