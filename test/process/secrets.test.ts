// No secret is anywhere but where it belongs. The real program issues and uses every kind of secret. The test
// then searches for each, in every encoding, in the database's files, its log and a backup, in the log at its
// most verbose level, in the metrics, every row's answer and every page, and in the reachable memory of each
// thread.
// Memory means what V8 can reach after a full collection, by its heap snapshot: texts, whole and in pieces.
// It does not contain the bytes of buffers; later requests overwrite those of earlier ones.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MASTER_KEY_NAME } from "../../src/config/data-directory.ts";
import { type GatewayProcess, newDirectory, startGateway } from "../support/servers/gateway.ts";
import {
  hasPostgresPrograms,
  PASSWORD,
  type PostgresServer,
  postgresTitle,
  startPostgres,
} from "../support/servers/postgres.ts";
import { backupOf, filesOf, heapsOf, heapWriter, wordsOf } from "./secrets/evidence.ts";
import {
  DEMO_API_SECRET,
  DEMO_PASSWORD,
  type Journey,
  KYC_FIELDS,
  type Links,
  MASTER_KEY,
  travel,
} from "./secrets/journey.ts";
import { openMailServer } from "./secrets/mail-server.ts";
import { countOf, findSecrets, type Haystack, type Secret } from "./secrets/search.ts";

const SMTP_PASSWORD = "smtp password";
const DATABASE_PASSWORD = "database password";
/**
 * All that may be in memory, and has to be: what opens the next connection to the mail server and to the
 * database, which neither of their clients can be asked to fetch from elsewhere. Master keys are not among
 * it: they lie outside of V8's heap, as do the keys that are derived of them.
 */
const IN_MEMORY: readonly string[] = [SMTP_PASSWORD, DATABASE_PASSWORD];

/**
 * Everything takes a few seconds, beside other tests several times that, and up to a minute passes until the
 * steps of codes begin, ms.
 */
const ALL_MS_MAX = 300_000;

const linksIn =
  (text: string): Links =>
  (page) =>
    [...text.matchAll(new RegExp(`/${page}#token=([\\w-]+)`, "g"))].map(([, token = ""]) => token);

/** What is read of a server after everything that is secret has been issued and used on it. */
type Aftermath = Journey & {
  readonly greeting: string;
  readonly log: readonly string[];
  readonly stored: readonly Haystack[];
  readonly heaps: readonly Haystack[];
};

async function readAll(
  gateway: GatewayProcess,
  asked: {
    readonly links: Links;
    readonly env: Readonly<Record<string, string>>;
    readonly heapFolder: string;
    readonly venue: GatewayProcess;
  },
): Promise<Aftermath> {
  const { links, env, heapFolder, venue } = asked;
  const journey = await travel(gateway, { links, env, venue });
  const heaps = await heapsOf(gateway, heapFolder);
  const stored = [...filesOf(gateway, { except: MASTER_KEY_NAME }), backupOf(gateway, env)];
  for (const connection of journey.open) connection.close();
  return { ...journey, ...wordsOf(gateway), stored, heaps };
}

const ofKind = (secrets: readonly Secret[], isWanted: (kind: string) => boolean) =>
  secrets.filter(({ kind }) => isWanted(kind));

/** The kinds that were found, each once. */
function kindsIn(secrets: readonly Secret[], haystacks: readonly Haystack[]): string[] {
  return [...new Set(findSecrets(secrets, haystacks).map(({ kind }) => kind))].sort();
}

function expectNothingStoredOrShown({ secrets, stored, shown }: Aftermath): void {
  expect(findSecrets(secrets, stored)).toEqual([]);
  const isForm = ({ name }: Haystack) => name === "GET /operator/kyc/:submissionId";
  expect(
    findSecrets(
      secrets,
      shown.filter((each) => !isForm(each)),
    ),
  ).toEqual([]);
  const form = shown.filter(isForm);
  expect(kindsIn(secrets, form)).toEqual([...KYC_FIELDS].sort());
}

/** The greeting shows what a demo begins with, and nothing else that is secret. */
function expectGreetingAlone({ secrets, greeting }: Aftermath): void {
  const demo = ofKind(secrets, (kind) => kind === DEMO_PASSWORD || kind === DEMO_API_SECRET);
  expect(demo.map(({ kind, text }) => [kind, countOf(text, greeting)])).toEqual([
    [DEMO_PASSWORD, 1],
    // On a line of its own and in the line to be copied.
    [DEMO_API_SECRET, 2],
    [DEMO_API_SECRET, 2],
  ]);
  const others = secrets.filter((secret) => !demo.includes(secret));
  expect(findSecrets(others, [textOf("greeting", greeting)])).toEqual([]);
}

function textOf(name: string, text: string): Haystack {
  return { name, bytes: Buffer.from(text, "utf8") };
}

/**
 * Every kind that the journey is to have issued: should it leave one out, nothing of it would be found
 * either.
 */
const KINDS = [
  ...["first password", "changed password", "reset password", "wrong password", "operator password"],
  ...["session cookie", "device cookie", "link to verify-email", "link to reset-password"],
  ...["totp seed", "recovery code", "api secret", "seeded api secret", "api secret of the new master key"],
  "exchange secret",
  ...[MASTER_KEY, DEMO_PASSWORD, DEMO_API_SECRET, ...KYC_FIELDS],
].sort();

describe("on a database of its own, without a mail server", () => {
  let venue: GatewayProcess;
  let gateway: GatewayProcess;
  let after: Aftermath;

  beforeAll(async () => {
    const heapFolder = newDirectory();
    venue = await startGateway();
    const env = { LOG_LEVEL: "trace", COPY_VENUES: venue.url, ...heapWriter(heapFolder) };
    gateway = await startGateway({ env });
    const links: Links = (page) => linksIn(gateway.output())(page);
    after = await readAll(gateway, { links, env: {}, heapFolder, venue });
  }, ALL_MS_MAX);
  afterAll(async () => {
    await gateway?.kill();
    await venue?.kill();
  });

  test("every kind of secret was issued", () => {
    expect([...new Set(after.secrets.map(({ kind }) => kind))].sort()).toEqual(KINDS);
    expect(ofKind(after.secrets, (kind) => kind === MASTER_KEY)).toHaveLength(2);
  });

  test("none is in the database's files or a backup, nor shown again by any row, page or metric", () => {
    expectNothingStoredOrShown(after);
    const known: Secret = { kind: "what is stored", text: "ada@example.com" };
    expect([...new Set(findSecrets([known], after.stored).map(({ where }) => where))]).toContain("backup");
  });

  test("the log has each link once, in the entry that replaces its mail, and nothing else", () => {
    expectGreetingAlone(after);
    const lines = after.log.map((line) => JSON.parse(line) as { readonly link?: string });
    const links = lines.flatMap(({ link }) => link ?? []).join("\n");
    for (const { text } of ofKind(after.secrets, (kind) => kind.startsWith("link"))) {
      expect(countOf(text, links)).toBe(1);
    }
    const others = lines.map(({ link, ...line }) => JSON.stringify(line)).join("\n");
    expect(lines.some((line) => "level" in line)).toBe(true);
    expect(findSecrets(after.secrets, [textOf("log", others)])).toEqual([]);
  });

  test("none is in memory when its request has ended, of any thread, while browsers and bots are connected", () => {
    expect(after.heaps.length).toBeGreaterThan(1);
    expect(findSecrets(after.secrets, after.heaps)).toEqual([]);
  });

  test("the search finds a secret in each of these places, in whatever form, once it is there", () => {
    const places = [...after.stored, ...after.shown, ...after.heaps, textOf("log", after.log.join("\n"))];
    for (const kind of KINDS) {
      const secret = after.secrets.find((each) => each.kind === kind);
      if (secret === undefined) throw new Error(`no ${kind} was issued`);
      // Where exactly is as good as random, and differs from kind to kind.
      const place = places[KINDS.indexOf(kind) % places.length] ?? textOf("nothing", "");
      for (const [form, planted] of plantedForms(secret.text)) {
        const at = Math.floor(place.bytes.length / 3);
        const bytes = Buffer.concat([place.bytes.subarray(0, at), planted, place.bytes.subarray(at)]);
        expect(kindsIn([secret], [{ name: place.name, bytes }]), `${kind} as ${form}`).toContain(kind);
      }
    }
    const [canary = { kind: "", text: "" }] = after.secrets;
    for (const { name, bytes } of places) {
      const spoilt = { name, bytes: Buffer.concat([bytes, Buffer.from(canary.text)]) };
      expect(kindsIn([canary], [spoilt]), name).toEqual([canary.kind]);
    }
  });
});

/** The encodings in which a mistake might write a secret. */
function plantedForms(text: string): (readonly [form: string, bytes: Buffer])[] {
  const forms: (readonly [string, string])[] = [
    ["text", text],
    ["a field of JSON", JSON.stringify({ secret: text })],
    ["hex", Buffer.from(text).toString("hex")],
    ["base64", Buffer.from(text).toString("base64")],
    ["base64url of more", Buffer.from(`a:${text}:b`).toString("base64url")],
    ["basic authentication", Buffer.from(`user:${text}`).toString("base64")],
    ...(/^[0-9a-f]{64}$/.test(text)
      ? [["base64 of its bytes", Buffer.from(text, "hex").toString("base64")] as const]
      : []),
  ];
  return forms.flatMap(([form, written]) => [
    [form, Buffer.from(written, "latin1")] as const,
    [`${form} in UTF-16`, Buffer.from(written, "utf16le")] as const,
  ]);
}

describe.skipIf(!hasPostgresPrograms)(postgresTitle("on PostgreSQL, with a mail server"), () => {
  let postgres: PostgresServer | null = null;
  let venue: GatewayProcess;
  let gateway: GatewayProcess;
  let mailServer: Awaited<ReturnType<typeof openMailServer>>;
  let after: Aftermath;

  beforeAll(async () => {
    postgres = await startPostgres();
    const smtpPassword = randomBytes(16).toString("hex");
    mailServer = await openMailServer(smtpPassword);
    const heapFolder = newDirectory();
    const env = { DATABASE_URL: (await postgres?.newDatabase()) ?? "" };
    venue = await startGateway();
    gateway = await startGateway({
      env: {
        ...env,
        COPY_VENUES: venue.url,
        LOG_LEVEL: "trace",
        SMTP_URL: `smtp://lyrebird:${smtpPassword}@127.0.0.1:${mailServer.port}`,
        MAIL_FROM: "Lyrebird <lyrebird@example.org>",
        ...heapWriter(heapFolder),
      },
    });
    const links: Links = (page) => linksIn(mailServer.text())(page);
    const all = await readAll(gateway, { links, env, heapFolder, venue });
    const configured: readonly Secret[] = [
      { kind: SMTP_PASSWORD, text: smtpPassword },
      { kind: DATABASE_PASSWORD, text: PASSWORD },
    ];
    after = { ...all, secrets: [...all.secrets, ...configured] };
  }, ALL_MS_MAX);
  afterAll(async () => {
    await gateway?.kill();
    await venue?.kill();
    await mailServer?.close();
    await postgres?.stop();
  });

  test("none is in a backup or a file, nor shown again by any row, page or metric", () => {
    expectNothingStoredOrShown(after);
  });

  test("none is logged, no link either", () => {
    expectGreetingAlone(after);
    expect(after.log.length).toBeGreaterThan(0);
    expect(findSecrets(after.secrets, [textOf("log", after.log.join("\n"))])).toEqual([]);
  });

  test("in memory is what opens the next connection to the mail server and the database, and nothing else", () => {
    expect(kindsIn(after.secrets, after.heaps)).toEqual([...IN_MEMORY].sort());
  });
});
