// The copier as a process of its own: beside a server that does not copy, on one PostgreSQL database, and
// more than once. When one of them is killed, another finishes its work. The venue is a second server, on a
// database of its own.
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { type Books, type Copier, type Lead, newCopier, newLeads, newVenueAccounts } from "../copy/actors.ts";
import { eventually } from "../support/eventually.ts";
import { type CopierProcess, startCopier } from "../support/servers/copier-process.ts";
import { type GatewayProcess, newDirectory, runNode, startGateway } from "../support/servers/gateway.ts";
import {
  hasPostgresPrograms,
  PASSWORD,
  type PostgresServer,
  postgresTitle,
  startPostgres,
} from "../support/servers/postgres.ts";
import { MARKET_BUY, spotTrader } from "../support/spot-trader.ts";

/** A lease of eight seconds has to run out, and requests of its holder have to expire; on a busy machine. */
const TAKEN_OVER_MS_MAX = 60_000;
/** A request has a sixtieth of the weight of a minute. */
const ASK_AGAIN_MS = 1_000;

describe.skipIf(!hasPostgresPrograms)(postgresTitle("a copier by itself"), () => {
  let database: PostgresServer;
  let url: string;
  let venue: GatewayProcess;
  let venueBooks: Books;
  let gateway: GatewayProcess;
  let books: Books;
  let client: Client;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const started = await startPostgres();
    if (started === null) throw new Error("where there are programs there is a server");
    database = started;
    url = await database.newDatabase();
    venue = await startGateway();
    venueBooks = await openDataDirectory(venue.dataDir, null);
    env = { DATABASE_URL: url, COPY_VENUES: venue.url };
    gateway = await startGateway({ args: ["--role", "gateway"], env });
    books = await openDataDirectory(gateway.dataDir, null, url);
    client = new Client({ connectionString: url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    for (const { store } of [books, venueBooks]) await store.close();
    expect([await gateway.stop(), await venue.stop()]).toEqual([0, 0]);
    await database.stop();
  });

  async function newCopierProcess(): Promise<CopierProcess> {
    const started = await startCopier(gateway, env);
    onTestFinished(() => void started.process.kill("SIGKILL"));
    return started;
  }

  async function follow(): Promise<{ readonly lead: Lead; readonly copier: Copier }> {
    const [lead] = await newLeads(books, ["SPOT"]);
    const [account] = await newVenueAccounts(venueBooks, "SPOT", 1);
    if (lead === undefined || account === undefined) throw new Error("they were made");
    return { lead, copier: await newCopier(books, { lead, venue: account, origin: venue.url }) };
  }

  async function buy(lead: Lead): Promise<void> {
    const placed = await spotTrader(gateway.url, lead).place(MARKET_BUY);
    expect(placed).toMatchObject({ status: 200, body: { status: "FILLED" } });
  }

  /** Resolves when the copier's account at the venue has so many orders; answers their client ids. */
  async function mirrored({ venue: account }: Copier, count: number, msMax?: number): Promise<string[]> {
    const trader = spotTrader(venue.url, account);
    let ids: string[] = [];
    await eventually(
      `${count} orders are mirrored`,
      async () => {
        const { body } = await trader.allOrders({ symbol: MARKET_BUY.symbol });
        ids = body.map(({ clientOrderId }: { clientOrderId: string }) => clientOrderId);
        return ids.length >= count;
      },
      { askAgainMs: ASK_AGAIN_MS, ...(msMax === undefined ? {} : { msMax }) },
    );
    return ids;
  }

  async function holderOf({ strategyId }: Lead): Promise<string | null> {
    const { rows } = await client.query("SELECT holder FROM leads WHERE strategy_id = $1", [strategyId]);
    return rows[0]?.holder ?? null;
  }

  test("copies what a server has committed that leaves it alone, and ends in order", async () => {
    const { lead, copier } = await follow();
    await buy(lead);
    const alone = await newCopierProcess();
    await mirrored(copier, 1);
    expect(await holderOf(lead)).toBe(alone.name);
    await buy(lead);
    const ids = await mirrored(copier, 2);
    expect(ids).toEqual([expect.stringMatching(/^lyre[0-9a-f]{28}$/), expect.stringMatching(/^lyre/)]);
    expect(await alone.stop()).toBe(0);
    expect(await holderOf(lead)).toBeNull();
    const said = alone.output() + gateway.output();
    for (const secret of [PASSWORD, copier.venue.apiSecret]) expect(said).not.toContain(secret);
  });

  test("that is killed is followed by another, which copies each order once", async () => {
    const { lead, copier } = await follow();
    const both = [await newCopierProcess(), await newCopierProcess()];
    await buy(lead);
    await mirrored(copier, 1);
    const holder = await holderOf(lead);
    const killed = both.find(({ name }) => name === holder);
    const other = both.find(({ name }) => name !== holder);
    if (killed === undefined || other === undefined) throw new Error(`one of them has it, not ${holder}`);
    await killed.kill();
    await buy(lead);
    await mirrored(copier, 2, TAKEN_OVER_MS_MAX);
    expect(await holderOf(lead)).toBe(other.name);
    await eventually("what was done is recorded", async () => {
      const copy = await books.store.copying.findCopy(copier.copyId);
      return copy !== null && copy.doneSeq === (await books.store.copying.findLead(lead.strategyId))?.seq;
    });
    expect(await mirrored(copier, 2)).toHaveLength(2);
    const entries = await books.store.copying.listMirrorEntries(copier.copyId, { limit: 10 });
    expect(entries.map(({ status }) => status)).toEqual(["FILLED", "FILLED"]);
    expect(await other.stop()).toBe(0);
  });

  test("does not start on a database of which it lacks the master key", () => {
    const refused = runNode(["src/main.ts", "--role", "copier", "--data", newDirectory()], env);
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).toMatch(/has been used with a master key/);
  });
});
