// Copying to a venue over HTTPS with a self-signed certificate: a second server that serves TLS. A server
// configured to trust it connects accounts and mirrors orders there; another one reports the fault, and
// stores nothing.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type SecureVersion } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemTimers } from "../../src/concurrency/time.ts";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { HttpSender } from "../../src/copy/venue/signed-rest.ts";
import { type Books, newCopier, newLeads, newVenueAccounts } from "../copy/actors.ts";
import { Visitor } from "../copy/browser-client.ts";
import { eventually } from "../support/eventually.ts";
import { newCertificate, writeCertificate } from "../support/servers/certificate.ts";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { MARKET_BUY, spotTrader } from "../support/spot-trader.ts";

const FAULT =
  "its certificate is not signed by an authority that this server trusts (DEPTH_ZERO_SELF_SIGNED_CERT)";
const TRADES = { symbol: MARKET_BUY.symbol, limit: 10 };

describe("a venue with a self-signed certificate", () => {
  const opened = new AsyncDisposableStack();
  const files = writeCertificate(newCertificate());
  let venue: GatewayProcess;
  let venueBooks: Books;
  /** By its name, which its certificate has. */
  let origin: string;
  beforeAll(async () => {
    venue = await startGateway({ env: files });
    opened.defer(() => venue.kill());
    venueBooks = await openDataDirectory(venue.dataDir, null);
    opened.defer(() => venueBooks.store.close());
    origin = `https://localhost:${new URL(venue.url).port}`;
  });
  afterAll(() => opened.disposeAsync());

  async function openServer(env: Readonly<Record<string, string>>) {
    const gateway = await startGateway({ env: { COPY_VENUES: origin, ...env } });
    opened.defer(() => gateway.kill());
    const books = await openDataDirectory(gateway.dataDir, null);
    opened.defer(() => books.store.close());
    const [lead] = await newLeads(books, ["SPOT"]);
    const [account] = await newVenueAccounts(venueBooks, "SPOT", 1);
    if (lead === undefined || account === undefined) throw new Error("they were made");
    const buy = async () =>
      expect(await spotTrader(gateway.url, lead).place(MARKET_BUY)).toMatchObject({
        status: 200,
        body: { status: "FILLED" },
      });
    return { gateway, books, lead, account, buy };
  }

  async function connectionTerms(
    person: Visitor,
    { apiKey, apiSecret }: { apiKey: string; apiSecret: string },
  ) {
    return { family: "SPOT", venue: origin, label: "Mine", code: await person.code(), apiKey, apiSecret };
  }

  test("that is trusted has an account connected, and an order mirrored there", async () => {
    const { gateway, books, lead, account, buy } = await openServer({ NODE_EXTRA_CA_CERTS: files.TLS_CERT });
    const person = await Visitor.signUp(gateway.url, books, { profile: "COPIER" });
    const terms = await connectionTerms(person, account);
    const connected = await person.call("POST", "/copying/accounts", terms);
    expect(connected).toMatchObject({
      status: 201,
      body: { account: { status: "CONNECTED", venue: origin } },
    });
    const { copyId } = await person.send("POST", "/copies", {
      strategyId: lead.strategyId,
      accountId: connected.body.account.accountId,
      settings: { share: "1", maxPerOrder: null, stopLoss: null },
    });
    await buy();
    await eventually("the order is mirrored", async () => {
      const [entry] = await books.store.copying.listMirrorEntries(copyId, { limit: 1 });
      return entry?.status === "FILLED";
    });
    const trades = await venueBooks.store.listTrades(account.strategyId, TRADES);
    expect(trades).toHaveLength(1);
    expect(await gateway.stop()).toBe(0);
  });

  test("that is not trusted is reported as such, and no data of the account is stored", async () => {
    const { gateway, books, lead, account, buy } = await openServer({});
    const person = await Visitor.signUp(gateway.url, books, { profile: "COPIER" });
    const refused = await person.call("POST", "/copying/accounts", await connectionTerms(person, account));
    expect(refused.status).toBe(503);
    expect(refused.body.error).toMatchObject({
      code: "VENUE_SILENT",
      message: `This server does not trust the exchange: ${FAULT}.`,
      action: "Nothing was sent there. Tell the operator, who has to fix this.",
    });
    expect(await books.store.copying.countAccounts()).toEqual([]);

    // An account that was connected before counts as unreachable, and an operator sees why.
    const operator = await Visitor.signUp(gateway.url, books, { role: "OPERATOR" });
    await newCopier(books, { lead, venue: account, origin });
    await buy();
    await eventually(
      "an operator sees what is wrong",
      async () => {
        const { venues } = await operator.get("/operator/copying");
        const [health] = venues[0].health;
        return health !== undefined && health.failure === FAULT && !health.isAnswering;
      },
      { askAgainMs: 250 },
    );
    expect(await venueBooks.store.listTrades(account.strategyId, TRADES)).toEqual([]);
    expect(await gateway.stop()).toBe(0);
  });
});

test.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])(
  "one that is not trusted sees nothing of a request with a key in it (%s)",
  async (maxVersion) => {
    let [connections, bytes] = [0, 0];
    const server = createServer({ ...newCertificate(), maxVersion }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", ({ length }) => {
        bytes += length;
      });
    });
    server.on("tlsClientError", () => {});
    server.on("connection", (socket) => {
      connections += 1;
      socket.once("close", () => ended.resolve());
    });
    const ended = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const sender = new HttpSender({ origin: `https://localhost:${port}`, after: systemTimers.after });
    const request = {
      method: "POST",
      target: "/api/v3/order",
      body: "signature=1",
      apiKey: "a-key",
    } as const;
    const refused = { kind: "UNREACHABLE", reason: "DEPTH_ZERO_SELF_SIGNED_CERT" };
    expect(await sender.send(request)).toEqual(refused);
    await ended.promise;
    sender.close();
    server.close();
    expect({ connections, bytes }).toEqual({ connections: 1, bytes: 0 });
  },
);
