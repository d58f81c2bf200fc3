// Mails through a real mail server: sending, retries, giving up, and that no link is in the log.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import pino from "pino";
import { SMTPServer } from "smtp-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { newCertificate, type TestCertificate } from "../../../test/support/servers/certificate.ts";
import type { MailSettings } from "../../config/config.ts";
import { browser, openPeopleFixture, PASSWORD, type PeopleFixture } from "../testing/people-fixture.ts";
import { MAIL_RETRIES_MS, MAILS_AT_ONCE, MAILS_OF_A_KIND_MAX, Mailer } from "./mail.ts";
import { passwordChangedMail, resetMail, signUpMail } from "./mails.ts";

const ADA = "ada@example.com";
const GIVEN_UP = "a mail could not be sent and is given up";

type Received = { readonly to: string; readonly text: string };

/** A mail server that answers each mail with the code of `refusal`, or accepts it. */
async function openMailServer(refusal: () => { code: number } | null = () => null) {
  const received: Received[] = [];
  const attempts: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onAuth: (auth, _, done) => done(null, { user: auth.username }),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const to = session.envelope.rcptTo.map(({ address }) => address).join();
        attempts.push(to);
        const refused = refusal();
        if (refused === null) received.push({ to, text: Buffer.concat(chunks).toString("utf8") });
        done(refused === null ? null : Object.assign(new Error("not taken"), { responseCode: refused.code }));
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  onTestFinished(close);
  const { port } = server.server.address() as AddressInfo;
  return { received, attempts, port, close };
}

/** A mail server that accepts sign-ins on every connection; with a certificate it offers STARTTLS. */
async function openSignInServer(certificate: TestCertificate | null) {
  const sessions: { readonly password: string; readonly isEncrypted: boolean }[] = [];
  let mails = 0;
  const server = new SMTPServer({
    allowInsecureAuth: true,
    ...(certificate === null ? { disabledCommands: ["STARTTLS"] } : certificate),
    onAuth(auth, { secure }, done) {
      sessions.push({ password: auth.password ?? "", isEncrypted: secure });
      done(null, { user: auth.username });
    },
    onData(stream, _session, done) {
      stream.resume();
      stream.on("end", () => {
        mails += 1;
        done(null);
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { sessions, mails: () => mails, port: (server.server.address() as AddressInfo).port };
}

/** A mail server that accepts the next mail, in order of arrival, with each call. */
async function openSlowMailServer() {
  const received: string[] = [];
  const holding: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onAuth: (auth, _, done) => done(null, { user: auth.username }),
    onData(stream, session, done) {
      stream.resume();
      stream.on("end", () => {
        received.push(session.envelope.rcptTo.map(({ address }) => address).join());
        holding.push(() => done(null));
      });
    },
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { received, holding, port };
}

function settings(port: number, tls: MailSettings["tls"] = "LOOPBACK"): MailSettings {
  return {
    tls,
    smtpUrl: `smtp://lyrebird:pass-of-smtp@127.0.0.1:${port}`,
    from: "Lyrebird <bird@lyrebird.example>",
  };
}

/** Timers that the test fires. */
function ownTimers() {
  const set: { readonly delayMs: number; readonly callback: () => void }[] = [];
  return {
    set,
    after(delayMs: number, callback: () => void) {
      set.push({ delayMs, callback });
      return () => {};
    },
  };
}

async function signUp(fixture: PeopleFixture): Promise<void> {
  expect(await fixture.signUps.request(ADA, browser())).toBe(null);
  await fixture.settled();
}

function finish({ signUps }: PeopleFixture, token: string) {
  return signUps.finish({ token, name: "Ada", password: PASSWORD }, browser());
}

/** The decoded text of a mail, without soft line ends and escapes. */
function readable(text: string): string {
  return text
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
}

describe("with a mail server", () => {
  test("a link is sent and works, and is not logged", async () => {
    const { received, port } = await openMailServer();
    const fixture = await openPeopleFixture({ mail: settings(port) });
    expect(fixture.mailer.sendsMail).toBe(true);
    await signUp(fixture);
    await eventually("mails arrive", () => received.length === 1);
    const text = readable(received[0]?.text ?? "");
    expect(received[0]?.to).toBe(ADA);
    expect(text).toContain("From: Lyrebird <bird@lyrebird.example>");
    expect(text).toContain("Content-Type: text/plain");
    const token = /https:\/\/lyrebird\.example\/verify-email#token=([\w-]+)/.exec(text)?.[1] ?? "";
    expect(fixture.logText()).not.toContain(token);
    expect(fixture.logText()).not.toContain("pass-of-smtp");
    expect(await finish(fixture, token)).toHaveProperty("cookie");
  });

  test("a person who has an account already gets a mail without a link that does anything", async () => {
    const { received, port } = await openMailServer();
    const fixture = await openPeopleFixture({ mail: settings(port) });
    await signUp(fixture);
    await eventually("mails arrive", () => received.length === 1);
    const token = /token=([\w-]+)/.exec(readable(received[0]?.text ?? ""))?.[1] ?? "";
    await finish(fixture, token);
    await signUp(fixture);
    await eventually("mails arrive", () => received.length === 2);
    expect(readable(received[1]?.text ?? "")).toContain("which already has an account");
    expect(received[1]?.text).not.toContain("token");
  });

  test("that is down, a mail is retried a few times and given up, and answers do not change", async () => {
    const { port, close } = await openMailServer();
    await close();
    const timers = ownTimers();
    const fixture = await openPeopleFixture({ mail: settings(port), after: timers.after });
    await signUp(fixture);
    for (const [index, delayMs] of MAIL_RETRIES_MS.entries()) {
      await eventually("it is to be tried again", () => timers.set[index]?.delayMs === delayMs);
      timers.set[index]?.callback();
    }
    await eventually("it is given up", () => fixture.lines().at(-1)?.msg === GIVEN_UP);
    expect(fixture.lines()).toHaveLength(1 + MAIL_RETRIES_MS.length);
    expect(timers.set).toHaveLength(MAIL_RETRIES_MS.length);
    expect(fixture.logText()).not.toContain("token");
    expect(fixture.logText()).not.toContain(ADA);
    expect(fixture.logText()).not.toContain("pass-of-smtp");
  });

  test("that takes it the second time, it is sent once", async () => {
    const answers = [{ code: 451 }, null];
    const { received, attempts, port } = await openMailServer(() => answers.shift() ?? null);
    const timers = ownTimers();
    const fixture = await openPeopleFixture({ mail: settings(port), after: timers.after });
    await signUp(fixture);
    await eventually("it is to be tried again", () => timers.set.length === 1);
    timers.set[0]?.callback();
    await eventually("mails arrive", () => received.length === 1);
    expect(attempts).toHaveLength(2);
  });

  test("that refuses it for good, it is not tried again", async () => {
    const { attempts, port } = await openMailServer(() => ({ code: 550 }));
    const timers = ownTimers();
    const fixture = await openPeopleFixture({ mail: settings(port), after: timers.after });
    await signUp(fixture);
    await eventually("it is given up", () => fixture.lines().at(-1)?.msg === GIVEN_UP);
    expect(attempts).toHaveLength(1);
    expect(timers.set).toHaveLength(0);
  });

  test("that is slow, each kind has places of its own and its turn: a reset waits for no crowd of sign-ups", async () => {
    const { received, holding, port } = await openSlowMailServer();
    const written: string[] = [];
    const mailer = new Mailer({
      settings: settings(port),
      after: ownTimers().after,
      log: pino({ level: "trace" }, { write: (line: string) => void written.push(line) }),
    });
    const crowd = (count: number) => {
      for (let number = 0; number < count; number += 1) {
        const to = `stranger-${number}@example.com`;
        mailer.send(signUpMail({ to, link: "https://lyrebird.example/a" }));
      }
    };
    crowd(MAILS_OF_A_KIND_MAX);
    await eventually("all connections are taken", () => holding.length === MAILS_AT_ONCE);
    expect(written).toEqual([]);
    crowd(2);
    const dropped = written.map((line) => JSON.parse(line));
    expect(dropped).toMatchObject(Array(2).fill({ level: 50, about: expect.stringContaining("verifies") }));
    expect(written.join()).not.toContain("stranger");

    const link = "https://lyrebird.example/b";
    mailer.send(resetMail({ to: "reset@example.com", link }));
    mailer.send(passwordChangedMail({ to: "note@example.com", resetUrl: link }));
    expect(written).toHaveLength(2);
    const turns = ["stranger-4@example.com", "reset@example.com", "note@example.com"];
    for (const [index, to] of turns.entries()) {
      holding[index]?.();
      await eventually(`${to} is being sent`, () => received.at(-1) === to);
      expect(received).toHaveLength(MAILS_AT_ONCE + index + 1);
    }
    for (let done = turns.length; done < MAILS_OF_A_KIND_MAX + 2; done += 1) {
      await eventually("another is being sent", () => holding.length > done);
      holding[done]?.();
    }
    await mailer.close();
    expect(received).toHaveLength(MAILS_OF_A_KIND_MAX + 2);
  });

  test("that is down, closing gives up what waits", async () => {
    const { port, close } = await openMailServer();
    await close();
    const timers = ownTimers();
    const fixture = await openPeopleFixture({ mail: settings(port), after: timers.after });
    await signUp(fixture);
    await eventually("it is to be tried again", () => timers.set.length === 1);
    await fixture.close();
    expect(timers.set).toHaveLength(1);
  });
});

describe("with a mail server on another machine", () => {
  const NO_TLS = "the mail server offers no usable TLS, so it gets no password and no mail";

  test("that offers no TLS, no password and no mail is sent, and the log says what to do", async () => {
    const { sessions, mails, port } = await openSignInServer(null);
    const fixture = await openPeopleFixture({ mail: settings(port, "REQUIRED"), after: ownTimers().after });
    await fixture.mailer.check();
    expect(fixture.lines()).toMatchObject([{ level: 50, msg: expect.stringContaining(NO_TLS) }]);
    expect(fixture.lines()[0]?.msg).toMatch(/STARTTLS.*smtps:\/\/.*SMTP_TLS=if-offered/);
    await signUp(fixture);
    await eventually("it is given up", () => fixture.lines().length === 3);
    expect(fixture.lines()[1]).toMatchObject({ code: "ETLS", msg: GIVEN_UP });
    expect({ sessions, mails: mails() }).toEqual({ sessions: [], mails: 0 });
  });

  test("that has a certificate of nobody's, no password and no mail is sent either", async () => {
    const { sessions, mails, port } = await openSignInServer(newCertificate());
    const fixture = await openPeopleFixture({ mail: settings(port, "REQUIRED"), after: ownTimers().after });
    await fixture.mailer.check();
    await signUp(fixture);
    await eventually("it is to be tried again", () => fixture.lines().length === 2);
    expect({ sessions, mails: mails() }).toEqual({ sessions: [], mails: 0 });
  });

  test("that offers STARTTLS, password and mail are sent encrypted", async () => {
    const certificate = newCertificate();
    const { sessions, mails, port } = await openSignInServer(certificate);
    const smtpUrl = `smtp://lyrebird:pass-of-smtp@127.0.0.1:${port}?tls.ca=${encodeURIComponent(certificate.cert)}`;
    const mail: MailSettings = { ...settings(port, "REQUIRED"), smtpUrl };
    const fixture = await openPeopleFixture({ mail, after: ownTimers().after });
    await fixture.mailer.check();
    expect(fixture.lines()).toEqual([]);
    await signUp(fixture);
    await eventually("the mail arrives", () => mails() === 1);
    expect(sessions).toEqual(Array(2).fill({ password: "pass-of-smtp", isEncrypted: true }));
  });

  test("what its address says cannot take the encryption away", async () => {
    const { sessions, mails, port } = await openSignInServer(null);
    const smtpUrl = `${settings(port).smtpUrl}?ignoreTLS=true&requireTLS=false&opportunisticTLS=true&secured=true`;
    const mail: MailSettings = { ...settings(port, "REQUIRED"), smtpUrl };
    const fixture = await openPeopleFixture({ mail, after: ownTimers().after });
    await signUp(fixture);
    await eventually("it is given up", () => fixture.lines().length === 2);
    expect({ sessions, mails: mails() }).toEqual({ sessions: [], mails: 0 });
  });

  test("a setting lets mails go in clear, and the start warns of it", async () => {
    const { sessions, mails, port } = await openSignInServer(null);
    const fixture = await openPeopleFixture({ mail: settings(port, "IF_OFFERED") });
    await fixture.mailer.check();
    expect(fixture.lines()).toMatchObject([{ level: 40, msg: expect.stringContaining("in clear") }]);
    await signUp(fixture);
    await eventually("the mail arrives", () => mails() === 1);
    expect(sessions).toEqual([{ password: "pass-of-smtp", isEncrypted: false }]);
  });
});

test("without a mail server the link is in one line of the log, which says what it is", async () => {
  const fixture = await openPeopleFixture();
  expect(fixture.mailer.sendsMail).toBe(false);
  await signUp(fixture);
  const [line, ...others] = fixture.lines();
  expect(others).toEqual([]);
  expect(line).toMatchObject({
    to: ADA,
    link: expect.stringMatching(/^https:\/\/lyrebird\.example\/verify-email#token=[\w-]{43}$/),
    msg: "no SMTP is configured, so this is not sent: the link that verifies an e-mail address",
  });
});
