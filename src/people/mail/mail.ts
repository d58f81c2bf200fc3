// Mails to people, over SMTP where it is configured. Without SMTP nothing is sent: the link that a mail would have held is written
// to the server's log, for whoever runs it, and that line is the only one that ever holds a link.
//
// Sending is nobody's wait: whoever has a mail sent goes on at once, and is told the same whatever becomes of it. What cannot be
// sent is tried again a few times and then given up, and said in the log without the link. Mails that wait are lost with the
// process; people ask for another.
//
// Each kind of mail has places of its own, and the kinds take turns: however many sign up while the mail server is slow, a link to
// a new password gets out.
//
// Mails hold links that open accounts, so unless a setting allows it none is sent over a network in clear, nor is the password.
import type { Logger } from "pino";
import { Pauses } from "../../concurrency/delays.ts";
import { Semaphore } from "../../concurrency/semaphore.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { MailSettings } from "../../config.ts";
import type { AskedMail } from "./mail-budget.ts";

/** How long is waited before each further attempt, ms. */
export const MAIL_RETRIES_MS: readonly number[] = [10_000, 60_000, 300_000];
/** Mails of a kind that wait or are being sent. Beyond it further ones of that kind are given up at once. */
export const MAILS_OF_A_KIND_MAX = 250;
/** Connections to the mail server at once. */
export const MAILS_AT_ONCE = 4;
/** How long the mail server may be silent, ms. */
const SILENCE_MS_MAX = 20_000;

/** Answers of a mail server from here on say that it will not take this mail, however often it is asked. */
const REFUSED_FOR_GOOD = 500;

/** What may be asked for by anybody, and notes of what was done. */
export type MailKind = AskedMail | "NOTE";

export type Mail = {
  readonly kind: MailKind;
  readonly to: string;
  readonly subject: string;
  /** Plain text, with `LINK` where the link stands. */
  readonly text: string;
  /** What the log calls the mail. */
  readonly about: string;
  /** What only its reader may have; null if there is nothing of that kind. */
  readonly link: string | null;
};

/** Stands in a mail's text for its link. */
export const LINK = "{link}";

type Transport = {
  sendMail(mail: { to: string; subject: string; text: string }): Promise<unknown>;
  /** Connects and signs in, and sends nothing. */
  verify(): Promise<unknown>;
  close(): void;
};

/** What nodemailer calls a connection that could not be encrypted. */
const NOT_ENCRYPTED = "ETLS";
const WITHOUT_TLS =
  "the mail server offers no usable TLS, so it gets no password and no mail: have it offer STARTTLS, name it as smtps:// in SMTP_URL, or, if nobody else is on the way to it, set SMTP_TLS=if-offered";

export class Mailer {
  readonly #settings: MailSettings | null;
  readonly #log: Pick<Logger, "info" | "warn" | "error">;
  #transport: Promise<Transport> | null = null;
  /** How many are under way, by kind; a kind of which none is has no place here. */
  readonly #underWay = new Map<MailKind, number>();
  /** The kinds take turns, so that none waits for all mails of another kind to be sent. */
  readonly #slots = new Semaphore<MailKind>({ permits: MAILS_AT_ONCE });
  /** Before further attempts; over when the mailer is closed. */
  readonly #pauses: Pauses;
  #idle: (() => void)[] = [];

  constructor(parts: {
    /** Null: links go to the log. */
    settings: MailSettings | null;
    after: Timers["after"];
    log: Pick<Logger, "info" | "warn" | "error">;
  }) {
    this.#settings = parts.settings;
    this.#pauses = new Pauses(parts.after);
    this.#log = parts.log;
  }

  /** False if links are written to the log. */
  get sendsMail(): boolean {
    return this.#settings !== null;
  }

  /** Says in the log what is wrong with how mails are sent, before the first one has to be. Never throws. */
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

  /** Sends a mail by and by, or logs that it would have been, with its link if it has one. Never throws. */
  send(mail: Mail): void {
    const { kind, to, about, link } = mail;
    if (this.#settings === null) {
      const told = link === null ? { to } : { to, link };
      this.#log.info(told, `no SMTP is configured, so this is not sent: ${about}`);
      return;
    }
    const underWay = this.#underWay.get(kind) ?? 0;
    if (this.#pauses.isOver || underWay >= MAILS_OF_A_KIND_MAX) {
      this.#log.error(
        { about },
        "a mail was given up: too many of its kind are waiting, or the server stops",
      );
      return;
    }
    this.#underWay.set(kind, underWay + 1);
    void this.#deliver(mail).finally(() => this.#ended(kind));
  }

  /** Gives up what waits for another attempt, and resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#pauses.end();
    if (this.#underWay.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    (await this.#transport?.catch(() => null))?.close();
  }

  #ended(kind: MailKind): void {
    const others = (this.#underWay.get(kind) ?? 0) - 1;
    if (others > 0) this.#underWay.set(kind, others);
    else this.#underWay.delete(kind);
    if (this.#underWay.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
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
      // A function, since a text in its place may hold `$&`.
      await transport.sendMail({ to, subject, text: text.replace(LINK, () => link ?? "") });
      return null;
    } catch (error) {
      // Its words may repeat the mail, or the settings.
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
    isFinal: answered !== null && answered >= REFUSED_FOR_GOOD,
  };
}

/** Loaded only when the first mail is sent: the start of the server does not wait for it. */
async function openTransport(settings: MailSettings | null): Promise<Transport> {
  if (settings === null) throw new Error("without SMTP nothing is sent");
  const { createTransport } = await import("nodemailer");
  return createTransport(
    {
      url: settings.tls === "REQUIRED" ? demandingTls(settings.smtpUrl) : settings.smtpUrl,
      connectionTimeout: SILENCE_MS_MAX,
      greetingTimeout: SILENCE_MS_MAX,
      socketTimeout: SILENCE_MS_MAX,
      // A mail is text alone: nothing of it names a file or an address to be read.
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
