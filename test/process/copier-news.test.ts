// News of a copier in a process of its own, through a server that does not copy: changes of a copy by the
// live connection, pauses by mail, and for operators the state of venues, and that no copier runs any more.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { REPORT_AGE_MS_MAX } from "../../src/domain/venue-report.ts";
import { type Books, type Lead, newLeads, newVenueAccounts } from "../copy/actors.ts";
import { Visitor } from "../copy/browser-client.ts";
import { eventually } from "../support/eventually.ts";
import { type CopierProcess, startCopier } from "../support/servers/copier-process.ts";
import { FaultProxy } from "../support/servers/fault-proxy.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import { openStream } from "../support/sockets/stream-client.ts";
import { MARKET_BUY, spotTrader } from "../support/spot-trader.ts";
import { openMailServer } from "./secrets/mail-server.ts";

/** Small enough for a few of them. */
const BUY = { ...MARKET_BUY, quantity: "0.0005" };
const BAN_SECONDS = 600;
const BANNED = {
  answer: {
    status: 418,
    headers: { "retry-after": String(BAN_SECONDS) },
    body: JSON.stringify({ code: -1003, msg: "Way too many requests; IP banned." }),
  },
} as const;
const MAIL_PASSWORD = "a-password-of-the-mail-server";
/** A silence is noticed after some seconds of real time. */
const SILENCE_MS_MAX = REPORT_AGE_MS_MAX + 10_000;

describe.skipIf(!hasPostgres)(postgresTitle("people beside a copier by itself"), () => {
  const opened = new AsyncDisposableStack();
  let venue: GatewayProcess;
  let venueBooks: Books;
  let proxy: FaultProxy;
  let gateway: GatewayProcess;
  let books: Books;
  let mails: Awaited<ReturnType<typeof openMailServer>>;
  let copier: CopierProcess;
  let operator: Visitor;

  beforeAll(async () => {
    const database: Databases | null = await openPostgres();
    if (database === null) throw new Error("where there are programs there is a server");
    opened.defer(() => database.stop());
    const url = await database.newDatabase();
    mails = await openMailServer(MAIL_PASSWORD);
    opened.defer(() => mails.close());
    venue = await startGateway();
    opened.defer(() => venue.kill());
    venueBooks = await openDataDirectory(venue.dataDir, null);
    opened.defer(() => venueBooks.store.close());
    proxy = opened.use(await FaultProxy.open(venue.url));
    const env = { DATABASE_URL: url, COPY_VENUES: proxy.url };
    gateway = await startGateway({ args: ["--role", "gateway"], env });
    opened.defer(() => gateway.kill());
    books = await openDataDirectory(gateway.dataDir, null, url);
    opened.defer(() => books.store.close());
    operator = await Visitor.signUp(gateway.url, books, { role: "OPERATOR" });
    expect(await operator.get("/operator/copying")).toMatchObject({ copiers: [], venues: [{ health: [] }] });
    copier = await startCopier(gateway, {
      ...env,
      PUBLIC_URL: gateway.url,
      SMTP_URL: `smtp://lyrebird:${MAIL_PASSWORD}@127.0.0.1:${mails.port}`,
      MAIL_FROM: "Lyrebird <lyrebird@example.org>",
    });
    opened.defer(() => copier.kill());
  });
  afterAll(() => opened.disposeAsync());

  type Follower = {
    readonly lead: Lead;
    readonly account: Credentials;
    readonly person: Visitor;
    readonly copyId: string;
  };

  /** A new person who connects an account and follows a strategy, all by the rows of the dashboard. */
  async function follow(): Promise<Follower> {
    const [lead] = await newLeads(books, ["SPOT"]);
    const [account] = await newVenueAccounts(venueBooks, "SPOT", 1);
    if (lead === undefined || account === undefined) throw new Error("they were made");
    const person = await Visitor.signUp(gateway.url, books, { profile: "COPIER" });
    const { apiKey, apiSecret } = account;
    const place = { family: "SPOT", venue: proxy.url, label: "Mine", code: await person.code() };
    const connected = await person.send("POST", "/copying/accounts", { ...place, apiKey, apiSecret });
    const { copyId } = await person.send("POST", "/copies", {
      strategyId: lead.strategyId,
      accountId: connected.account.accountId,
      settings: { share: "1", maxPerOrder: null, stopLoss: null },
    });
    return { lead, account, person, copyId };
  }

  async function buy({ lead }: Pick<Follower, "lead">): Promise<void> {
    const placed = await spotTrader(gateway.url, lead).place(BUY);
    expect(placed).toMatchObject({ status: 200, body: { status: "FILLED" } });
  }

  /** What the operator sees of the one venue, once it is so. */
  async function seen(
    what: string,
    isSo: (row: Awaited<ReturnType<typeof look>>) => boolean,
    msMax?: number,
  ) {
    let row = await look();
    const settings = { askAgainMs: 250, ...(msMax === undefined ? {} : { msMax }) };
    await eventually(
      what,
      async () => {
        row = await look();
        return isSo(row);
      },
      settings,
    );
    return row;
  }

  async function look() {
    const { venues, copiers } = await operator.get("/operator/copying");
    return { health: venues[0].health, copiers };
  }

  test("a copier learns at once that a copy has changed, and by mail that it has paused by itself", async () => {
    const follower = await follow();
    const { person, copyId, account } = follower;
    const headers = { cookie: person.cookies(), origin: gateway.url };
    const nobody = { apiKey: "", apiSecret: "" };
    const client = openStream(gateway.url, "/dashboard", nobody, { auth: null, headers });
    try {
      await client.next("connect");
      expect(await client.socket.emitWithAck("watchCopy", { copyId })).toBeNull();
      await buy(follower);
      expect(await client.next("copyChanged")).toEqual({ copyId });
      const isMirrored = async () => {
        const { rows } = await person.get(`/copies/${copyId}/entries`);
        return rows.length === 1 && rows[0].status === "FILLED";
      };
      await eventually("the order is mirrored", isMirrored, { askAgainMs: 250 });
    } finally {
      client.close();
    }
    await venueBooks.store.revokeKey(account.apiKey, Date.now());
    await buy(follower);
    await eventually("a mail says that the copy has paused", () =>
      mails.text().includes(`${gateway.url}/copies/${copyId}`),
    );
    expect(await person.get(`/copies/${copyId}`)).toMatchObject({ status: "PAUSED", reason: "CREDENTIALS" });
    expect(copier.output()).not.toMatch(/"level":(50|60)/);
  });

  test("an operator sees that a venue has banned us, and that no copier runs any more", async () => {
    const follower = await follow();
    await buy(follower);
    const well = await seen("the venue answers", ({ health }) => health.length === 1);
    const ours = { copier: copier.name, isSilent: false };
    expect(well).toMatchObject({
      health: [{ ...ours, family: "SPOT", isAnswering: true, failure: null, pausedUntil: null }],
      copiers: [ours],
    });

    const bannedAt = Date.now();
    proxy.plan("POST /api/v3/order", BANNED);
    await buy(follower);
    const banned = await seen("the venue has banned us", ({ health }) => health[0].pausedUntil !== null);
    const { pausedUntil } = banned.health[0];
    expect(pausedUntil).toBeGreaterThanOrEqual(bannedAt + BAN_SECONDS * 1_000);
    expect(pausedUntil).toBeLessThan(Date.now() + BAN_SECONDS * 1_000);

    await copier.kill();
    const silent = await seen("nobody reports", ({ copiers }) => copiers[0].isSilent, SILENCE_MS_MAX);
    expect(silent).toMatchObject({
      health: [{ ...ours, isSilent: true, pausedUntil }],
      copiers: [{ ...ours, isSilent: true }],
    });
  });
});
