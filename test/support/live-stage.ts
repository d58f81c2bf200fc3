// The dashboard's live connection in the test's own process: real sockets, sessions and a real database, while time, the markets and
// the site that is ours are the test's. Stages may stand on one database at once, as servers do.
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import pino from "pino";
import type { LiveParts } from "../../src/dashboard/live/live.ts";
import { openLive } from "../../src/dashboard/live/live.ts";
import { openDataDirectory } from "../../src/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import { ContractMarket, StubMarket } from "../../src/desk/testing/stage.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { STANDARD } from "../../src/engine/profiles.ts";
import { seedStrategies } from "../../src/identity/seed.ts";
import type { UpstreamAnswer } from "../../src/market/client/rest.ts";
import { createManualTime } from "../../src/market/client/testing/manual-time.ts";
import { makePerson } from "../../src/people/made-people.ts";
import { createPeople } from "../../src/people/people.ts";
import type { ElsewhereListener, Store } from "../../src/store/store.ts";
import { isStreamUpgrade } from "../../src/streams/front-door.ts";
import { createStreams } from "../../src/streams/server.ts";
import { createStubMarket } from "../../src/streams/testing/stub-market.ts";
import { newDirectory } from "./gateway.ts";
import { openStream, type StreamClient, type StreamClientOptions } from "./stream-client.ts";

const PASSWORD = "correct horse battery staple";
const SOURCE = { follow: () => () => {}, close() {} };
const UNAVAILABLE: UpstreamAnswer = { unavailable: true, reason: "nothing is asked here" };
const CALLER = { address: "127.0.0.1", userAgent: "a test", cookies: null };

let numberOfPeople = 0;

export async function openLiveStage() {
  const time = createManualTime(Date.now());
  const { store: opened, master } = await openDataDirectory(newDirectory(), null);
  const elsewhere: ElsewhereListener[] = [];
  const store: Store = {
    ...opened,
    onCommittedElsewhere(listener) {
      elsewhere.push(listener);
      return Promise.resolve(async () => void elsewhere.splice(elsewhere.indexOf(listener), 1));
    },
  };
  const log = pino({ level: "silent" });
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
  const desk = new Desk({
    store,
    markets,
    profiles: STANDARD,
    onStoreFailure: (error) => {
      throw error;
    },
    log,
  });
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
  const streams = createStreams({ server, store, master, pairs, sources, wallNow, timers: time, log });
  const news = new Set<(strategyId: string) => void>();
  const live = await openLive({
    streams,
    store,
    desk,
    accounts: people.accounts,
    requests: {
      onNews(listener) {
        news.add(listener);
        return () => news.delete(listener);
      },
    },
    markets: markets as unknown as LiveParts["markets"],
    isMetered: false,
    asksAboutQuietSymbols: false,
    origins: () => new Set([url]),
    wallNow,
    wallClock: time,
    timers: time,
    log,
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: StreamClient[] = [];

  return {
    url,
    time,
    store,
    desk,
    people,
    markets,
    elsewhere,
    /** Those of the server, in the order in which they came. */
    sockets,
    /** A key of the strategy has asked for something. */
    request(strategyId: string): void {
      for (const listener of news) listener(strategyId);
    },
    /** Somebody new who is signed in, with a strategy of each family, and the cookies of the browser. */
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
    open(headers: Readonly<Record<string, string>>, options: StreamClientOptions = {}): StreamClient {
      const key = { apiKey: "", apiSecret: "" };
      const client = openStream(url, "/dashboard", key, { auth: null, headers, ...options });
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      await live.close();
      await streams.close();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
      await people.close();
      await desk.drain();
      await store.close();
    },
  };
}

export type LiveStage = Awaited<ReturnType<typeof openLiveStage>>;
