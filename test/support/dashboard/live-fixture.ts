// The dashboard's live connection in the test's own process: real sockets, sessions and a real database,
// while time, the markets and the site that is ours are the test's. Fixtures may stand on one database at
// once, as servers do.
import { deepStrictEqual } from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createManualTime } from "../../../src/concurrency/testing/manual-time.ts";
import type { LiveParts } from "../../../src/dashboard-api/live/live.ts";
import { openLive } from "../../../src/dashboard-api/live/live.ts";
import { ownOrigins } from "../../../src/dashboard-api/origin.ts";
import { SERVER_MESSAGES } from "../../../src/dashboard-api/schemas/live.ts";
import { Desk } from "../../../src/desk/desk.ts";
import { ContractMarket, StubMarket } from "../../../src/desk/testing/fixture.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Gateway } from "../../../src/http/pipeline.ts";
import { seedStrategies } from "../../../src/keys/seed.ts";
import type { UpstreamAnswer } from "../../../src/market/client/rest/rest.ts";
import { makePerson } from "../../../src/people/made-people.ts";
import { createPeople } from "../../../src/people/people.ts";
import type { ElsewhereListener } from "../../../src/store/ports/trading.ts";
import type { Store } from "../../../src/store/store.ts";
import { createStreams } from "../../../src/streams/server.ts";
import { createStubMarket } from "../../../src/streams/testing/stub-market.ts";
import { isStreamUpgrade } from "../../../src/streams/upgrade-handler.ts";
import { openOwnGateway } from "../servers/own-gateway.ts";
import { openStream, type StreamClient, type StreamClientOptions } from "../sockets/stream-client.ts";

const PASSWORD = "seven lyrebirds sing at dusk";
const SOURCE = { follow: () => () => {}, close() {} };
const UNAVAILABLE: UpstreamAnswer = { unavailable: true, reason: "nothing is asked here" };
const CALLER = { address: "127.0.0.1", userAgent: "a test", cookies: null };

/** A topic that there is. */
export const PRICES = { kind: "prices", family: "SPOT", symbol: "BTCUSDT" } as const;

/** Resolves with why a message was refused, null if it was not. */
export function ask(client: StreamClient, name: string, payload?: unknown): Promise<{ code: string } | null> {
  return new Promise((resolve) => void client.socket.emit(name, payload, resolve));
}

const LISTENS_ON = "127.0.0.1";

let numberOfPeople = 0;

/** Opens a fixture; `publicUrl` is the setting of that name. */
export async function openLiveFixture({ publicUrl = null }: { readonly publicUrl?: string | null } = {}) {
  const time = createManualTime(Date.now());
  const elsewhere: ElsewhereListener[] = [];
  const between = (opened: Store): Store => ({
    ...opened,
    onCommittedElsewhere(listener) {
      elsewhere.push(listener);
      return Promise.resolve(async () => void elsewhere.splice(elsewhere.indexOf(listener), 1));
    },
  });
  const wallNow = () => time.now();
  const marketOf = (market: StubMarket) => {
    const streams = createStubMarket(() => UNAVAILABLE);
    const watched: string[] = [];
    return Object.assign(market, streams, {
      watched,
      watch(symbol: string) {
        watched.push(symbol);
        return () => void watched.splice(watched.indexOf(symbol), 1);
      },
    });
  };
  const markets = { SPOT: marketOf(new StubMarket()), FUTURES: marketOf(new ContractMarket()) };
  const own = await openOwnGateway(markets as unknown as Gateway["markets"], wallNow, { between });
  const { log } = own;
  const { store, master, desk, signals } = own.gateway;
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  const otherDesk = new Desk({ store, markets, onStoreFailure, log });
  const server = createServer({ shouldUpgradeCallback: isStreamUpgrade }, (_request, response) =>
    response.writeHead(404).end(),
  );
  const sockets: Socket[] = [];
  server.on("connection", (socket) => void sockets.push(socket));
  let url = "";
  const people = createPeople({
    store,
    master,
    wallNow,
    publicUrl: () => url,
    mail: null,
    after: time.after,
    log,
  });
  const pairs = { has: () => true };
  const sources = { candles: () => SOURCE, depth: () => SOURCE };
  const streams = createStreams({
    ...{ server, store, master, pairs, sources, wallNow, timers: time, log },
    addressOf: () => "127.0.0.1",
    onKeyUsed: () => {},
    onRefused: () => {},
  });
  const news = new Set<(strategyId: string) => void>();
  const live = await openLive({
    streams,
    store,
    desk,
    accounts: people.accounts,
    signals,
    requests: {
      onNews(listener) {
        news.add(listener);
        return () => news.delete(listener);
      },
    },
    markets: markets as unknown as LiveParts["markets"],
    isMetered: false,
    asksAboutQuietSymbols: false,
    origins: () => ownOrigins({ publicUrl, host: LISTENS_ON, tls: null }, portOf(server)),
    wallNow,
    wallClock: time,
    timers: time,
    log,
  });
  await new Promise<void>((resolve) => void server.listen(0, LISTENS_ON, resolve));
  url = `http://${LISTENS_ON}:${portOf(server)}`;
  const clients: StreamClient[] = [];
  const open = (headers: Readonly<Record<string, string>>, options: StreamClientOptions = {}) => {
    const key = { apiKey: "", apiSecret: "" };
    const client = openStream(url, "/dashboard", key, { auth: null, headers, ...options });
    clients.push(client);
    return client;
  };
  const joined = async (cookie: string) => {
    const client = open({ cookie, origin: url });
    await client.next("connect");
    return client;
  };

  return {
    url,
    time,
    store,
    /** Copiers call it after they have changed a copy. */
    copyChanged: live.copyChanged,
    desk,
    /** Of another server on the same database, which tells nobody here what it commits. */
    otherDesk,
    signals,
    people,
    markets,
    elsewhere,
    /** Those of the server, in the order in which they came. */
    sockets,
    /** A key of the strategy has asked for something. */
    request(strategyId: string): void {
      for (const listener of news) listener(strategyId);
    },
    /** Somebody new who is signed in, with a strategy of each type, and the cookies of the browser. */
    async somebody() {
      numberOfPeople += 1;
      const email = `live-${numberOfPeople}@example.org`;
      const made = { email, name: "Live", role: "PERSON", profile: "TRADER", kyc: "APPROVED" } as const;
      const terms = {
        password: PASSWORD,
        who: { kind: "SERVICE" },
        what: "SIGNED_UP",
        at: wallNow(),
      } as const;
      const personId = await makePerson(store.people, made, terms);
      if (personId === null) throw new Error("the address is new");
      const types: readonly StrategyType[] = ["SPOT", "FUTURES"];
      const strategies = await seedStrategies(store, master, types, wallNow(), { ownerId: personId });
      const [spot = "", futures = ""] = strategies.map(({ strategyId }) => strategyId);
      const signIn = async () => {
        const answer = await people.accounts.signIn({ email, password: PASSWORD, code: null }, CALLER);
        if ("refused" in answer) throw new Error(answer.refused);
        return answer.cookies.map((cookie) => cookie.split(";")[0]).join("; ");
      };
      return { personId, spot, futures, signIn, cookie: await signIn() };
    },
    /** A browser's connection, joined or not yet. */
    open,
    /** One that has joined from the dashboard's own page. */
    joined,
    /** One that watches a strategy of its person. */
    async watching(cookie: string, strategyId: string): Promise<StreamClient> {
      const client = await joined(cookie);
      const refusal = await ask(client, "watch", { strategyId });
      if (refusal !== null) throw new Error(`not watched: ${refusal.code}`);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      await live.close();
      await streams.close();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await people.close();
      await otherDesk.drain();
      await own.close();
      for (const { name, payload } of clients.flatMap(({ events }) => events)) demandDescribed(name, payload);
    },
  };
}

/** Throws unless a message is exactly what its schema describes. */
function demandDescribed(name: string, payload: unknown): void {
  const [, schema] = Object.entries(SERVER_MESSAGES).find(([each]) => each === name) ?? [];
  if (schema !== undefined) deepStrictEqual(schema.parse(payload), payload, name);
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

export type LiveFixture = Awaited<ReturnType<typeof openLiveFixture>>;
