// Mails to people over SMTP. Without SMTP nothing is sent: the log gets the link of the mail, in the only log
// entry that ever has one. Mails are sent in the background. A failed mail is retried a few times and then
// given up, which the log says without the link. Mails that wait are lost with the process; people request
// another. Each kind of mail has its own bound, and the kinds share the connections fairly, so that many
// sign-ups do not delay a link to a new password. Mails have links that open accounts, so none is sent
// unencrypted, and neither is the password of the mail server, unless a setting allows it.
import type { Logger } from "pino";
import { Pauses } from "../../concurrency/delays.ts";
import { Semaphore } from "../../concurrency/semaphore.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { MailSettings } from "../../config/config.ts";
import type { AskedMail } from "./mail-budget.ts";

/** The delay before each retry, ms. */
export const MAIL_RETRIES_MS: readonly number[] = [10_000, 60_000, 300_000];
/** Mails of a kind that wait or are in flight. Beyond it further ones of that kind are given up at once. */
export const MAILS_OF_A_KIND_MAX = 250;
/** Connections to the mail server at once. */
export const MAILS_AT_ONCE = 4;
/** How long the mail server may be silent, ms. */
const SILENCE_MS_MAX = 20_000;

/** A mail server that answers this code or a higher one will never accept the mail. */
const PERMANENT_FAILURE_MIN = 500;

/** Mails that anybody can request, and notifications. */
export type MailKind = AskedMail | "NOTE";

export type Mail = {
  readonly kind: MailKind;
  readonly to: string;
  readonly subject: string;
  /** Plain text, with `LINK` in place of the link. */
  readonly text: string;
  /** The mail's name in the log. */
  readonly about: string;
  /** For the reader of the mail only; null if the mail has none. */
  readonly link: string | null;
};

/** The place of the link in a mail's text. */
export const LINK = "{link}";

type Transport = {
  sendMail(mail: { to: string; subject: string; text: string }): Promise<unknown>;
  /** Connects and signs in, without sending anything. */
  verify(): Promise<unknown>;
  close(): void;
};

/** nodemailer's code for a connection that could not be encrypted. */
const NOT_ENCRYPTED = "ETLS";
const WITHOUT_TLS =
  "the mail server offers no usable TLS, so it gets no password and no mail: have it offer STARTTLS, name it as smtps:// in SMTP_URL, or, if nobody else is on the way to it, set SMTP_TLS=if-offered";

export class Mailer {
  readonly #settings: MailSettings | null;
  readonly #log: Pick<Logger, "info" | "warn" | "error">;
  #transport: Promise<Transport> | null = null;
  /** How many mails are in flight, by kind. */
  readonly #inFlight = new Map<MailKind, number>();
  /** Fair between the kinds, so that none waits for all mails of another. */
  readonly #slots = new Semaphore<MailKind>({ permits: MAILS_AT_ONCE });
  /** Delays before retries; over when the mailer is closed. */
  readonly #pauses: Pauses;
  #idle: (() => void)[] = [];

  constructor(parts: {
    /** Null writes links to the log. */
    settings: MailSettings | null;
    after: Timers["after"];
    log: Pick<Logger, "info" | "warn" | "error">;
  }) {
    this.#settings = parts.settings;
    this.#pauses = new Pauses(parts.after);
    this.#log = parts.log;
  }

  /** False if links go to the log. */
  get sendsMail(): boolean {
    return this.#settings !== null;
  }

  /** Logs what is wrong with the settings before the first mail needs them. Never throws. */
  async check(): Promise<void> {
    if (this.#settings === null) return;
    const { tls, smtpUrl } = this.#settings;
    if (tls === "IF_OFFERED" && new URL(smtpUrl).protocol === "smtp:") {
      this.#log.warn(
        "SMTP_TLS is if-offered: mails, the links in them and the mail server's password may cross the network in clear",
      );
    }
    if (tls !== "REQUIRED") return;
    try {
      await (await this.#opened()).verify();
    } catch (error) {
      const { code, responseCode } = failureOf(error);
      const message = code === NOT_ENCRYPTED ? WITHOUT_TLS : "the mail server could not be used at the start";
      this.#log.error({ code, responseCode }, message);
    }
  }

  /** Sends a mail in the background, or logs it with its link if there is no SMTP. Never throws. */
  send(mail: Mail): void {
    const { kind, to, about, link } = mail;
    if (this.#settings === null) {
      const logged = link === null ? { to } : { to, link };
      this.#log.info(logged, `no SMTP is configured, so this is not sent: ${about}`);
      return;
    }
    const inFlight = this.#inFlight.get(kind) ?? 0;
    if (this.#pauses.isOver || inFlight >= MAILS_OF_A_KIND_MAX) {
      this.#log.error(
        { about },
        "a mail was given up: too many of its kind are waiting, or the server stops",
      );
      return;
    }
    this.#inFlight.set(kind, inFlight + 1);
    void this.#deliver(mail).finally(() => this.#ended(kind));
  }

  /** Gives up retries, and resolves when nothing is in flight. */
  async close(): Promise<void> {
    this.#pauses.end();
    if (this.#inFlight.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    (await this.#transport?.catch(() => null))?.close();
  }

  #ended(kind: MailKind): void {
    const others = (this.#inFlight.get(kind) ?? 0) - 1;
    if (others > 0) this.#inFlight.set(kind, others);
    else this.#inFlight.delete(kind);
    if (this.#inFlight.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #deliver(mail: Mail): Promise<void> {
    for (const retryMs of [...MAIL_RETRIES_MS, null]) {
      const failure = await this.#slots.run(mail.kind, () => this.#attempt(mail));
      if (failure === null) return;
      const isFinal = retryMs === null || this.#pauses.isOver || failure.isFinal;
      const { about } = mail;
      const { code, responseCode } = failure;
      this.#log.warn(
        { about, code, responseCode },
        isFinal ? "a mail could not be sent and is given up" : "a mail could not be sent; it is tried again",
      );
      if (code === NOT_ENCRYPTED) this.#log.error(WITHOUT_TLS);
      if (isFinal) return;
      await this.#pauses.pause(retryMs);
      if (this.#pauses.isOver) return;
    }
  }

  async #attempt({ to, subject, text, link }: Mail): Promise<MailFailure | null> {
    try {
      const transport = await this.#opened();
      // A function, since `$&` in a replacement text has a meaning.
      await transport.sendMail({ to, subject, text: text.replace(LINK, () => link ?? "") });
      return null;
    } catch (error) {
      // Its message may contain the mail or the settings.
      return failureOf(error);
    }
  }

  #opened(): Promise<Transport> {
    this.#transport ??= openTransport(this.#settings);
    return this.#transport;
  }
}

type MailFailure = {
  readonly code: string;
  readonly responseCode: number | null;
  readonly isFinal: boolean;
};

function failureOf(error: unknown): MailFailure {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const answered = typeof responseCode === "number" ? responseCode : null;
  return {
    code: typeof code === "string" ? code : "unknown",
    responseCode: answered,
    isFinal: answered !== null && answered >= PERMANENT_FAILURE_MIN,
  };
}

/** Loads nodemailer with the first mail, so that the start of the server does not wait for it. */
async function openTransport(settings: MailSettings | null): Promise<Transport> {
  if (settings === null) throw new Error("without SMTP nothing is sent");
  const { createTransport } = await import("nodemailer");
  return createTransport(
    {
      url: settings.tls === "REQUIRED" ? demandingTls(settings.smtpUrl) : settings.smtpUrl,
      connectionTimeout: SILENCE_MS_MAX,
      greetingTimeout: SILENCE_MS_MAX,
      socketTimeout: SILENCE_MS_MAX,
      // A mail is plain text: nodemailer reads no file or address for it.
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from: settings.from },
  );
}

/** TLS options in the query of the address, which take precedence over the settings. */
const SAYS_OF_TLS = ["requireTLS", "ignoreTLS", "opportunisticTLS", "secured"];

function demandingTls(smtpUrl: string): string {
  const url = new URL(smtpUrl);
  for (const name of SAYS_OF_TLS) url.searchParams.delete(name);
  url.searchParams.set("requireTLS", "true");
  return url.href;
}
