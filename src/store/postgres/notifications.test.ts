import { connect, createServer, type Socket } from "node:net";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../../../test/support/postgres.ts";
import type { Position } from "../../domain/account.ts";
import { emptyAccount } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { Order } from "../../domain/order.ts";
import { decimal, type Price, type Rate } from "../../money/decimal.ts";
import { legOf } from "../contract/futures-records.ts";
import { accountOf, commitOf, createdOf, orderOf, tradeOf, upTo } from "../contract/records.ts";
import { create } from "../contract/store-under-test.ts";
import type { Commit, CommittedElsewhere, ElsewhereListener } from "../ports/trading.ts";
import type { Store } from "../store.ts";
import { listenForCommits, payloadsOf } from "./notifications.ts";
import { openPostgresStore } from "./postgres-store.ts";

/** PostgreSQL's own bound. */
const PAYLOAD_BYTES = 8_000;

const RESTING = orderOf(1);
const FILLED = orderOf(1, { status: "FILLED" });

describe("others are told, or not, of", () => {
  test.each([
    ["a resting order", [placed(RESTING)], [RESTING], true],
    ["an order that is filled in its own entry", [placed(RESTING)], [FILLED], false],
    ["an order that is filled later", [], [FILLED], true],
    ["an order that is canceled", [], [orderOf(1, { status: "CANCELED" })], true],
    ["a close that had nothing open", [closed("StrategyClosed")], [], true],
    ["a close that waits", [closed("StrategyClosing")], [], true],
    ["what changed no order", [], [], false],
    ["a futures market order", [placed(RESTING), filled(null)], [FILLED], true],
    ["a settlement of funding", [settled()], [], true],
    [
      "another leverage",
      [{ type: "LeverageChanged", at: 1, symbol: "BTCUSDT", leverage: 2, postings: [] }],
      [],
      false,
    ],
  ] as const)("%s", (_what, events, orders, isTold) => {
    const payloads = payloadsOf("here", [commitOf(accountOf("one"), 2, { events, orders })]);
    expect(payloads).toEqual(isTold ? ['["here","Sone"]'] : []);
  });

  test("a leg, whatever became of it, and of which type its strategy is", () => {
    for (const status of ["NEW", "CANCELED"] as const) {
      const legs = [legOf(1, { status })];
      expect(payloadsOf("here", [commitOf(emptyAccount("one", "FUTURES"), 2, { legs })])).toEqual([
        '["here","Fone"]',
      ]);
    }
  });

  test("a group in payloads that PostgreSQL takes, every strategy once", () => {
    // Of two and of three bytes a character, and with one that has to be escaped.
    for (const prefix of ["00000000-0000-4000-8000-00000000", 'é€"'.repeat(12)]) {
      const ids = upTo(200).map((id) => `${prefix}${id}`);
      const payloads = payloadsOf(
        "0123456789abcdef",
        ids.map((id) => resting(id, 2)),
      );
      for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(PAYLOAD_BYTES);
      expect(payloads.flatMap((payload) => JSON.parse(payload).slice(1))).toEqual(ids.map((id) => `S${id}`));
      expect(payloads.length).toBeLessThanOrEqual(3);
    }
  });
});

describe.skipIf(!hasPostgres)(postgresTitle("on a PostgreSQL server"), () => {
  let server: Databases;
  let url: string;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    url = await server.newDatabase();
  });

  test("each hears what the other commits, in order, and nothing of its own", async () => {
    const [here, there] = [await open(), await open()];
    await create(here, "one", "two");
    const [heardHere, heardThere] = [await hear(here), await hear(there)];
    for (const version of [2, 3]) await here.commit([resting("one", version)]);
    await here.commit([resting("two", 2)]);
    await there.commit([resting("two", 3), resting("one", 4)]);
    await eventually("all is heard", () => heardHere.length + heardThere.length === 5);
    expect(heardThere).toEqual(["one", "one", "two"]);
    expect(heardHere.sort()).toEqual(["one", "two"]);
  });

  test("each is heard with its type, by every listener of a process over one connection", async () => {
    const [here, there] = [await open(), await open()];
    const perpetual = emptyAccount("perpetual", "FUTURES");
    await create(here, "spot");
    await here.createStrategies([createdOf("perpetual", { first: commitOf(perpetual, 1) })]);
    const heard: CommittedElsewhere[][] = [[], []];
    for (const each of heard) {
      const listener = {
        ...DEAF,
        committed: (strategies: readonly CommittedElsewhere[]) => each.push(...strategies),
      };
      onTestFinished(await there.onCommittedElsewhere(listener));
    }
    await here.commit([resting("spot", 2), commitOf(perpetual, 2, { legs: [legOf(1)] })]);
    await eventually("both have heard both", () => heard.every(({ length }) => length === 2));
    for (const each of heard) {
      expect(each).toEqual([
        { strategyId: "spot", type: "SPOT" },
        { strategyId: "perpetual", type: "FUTURES" },
      ]);
    }
    expect(await carryOut(url, LISTENERS)).toBe(1);
  });

  test("what is heard can be read", async () => {
    const [here, there] = [await open(), await open()];
    await create(here, "one");
    const read: Promise<number | undefined>[] = [];
    await there.onCommittedElsewhere({
      ...DEAF,
      committed: () => read.push(there.loadAccount("one").then((loaded) => loaded?.version)),
    });
    for (const version of upTo(20)) await here.commit([resting("one", version + 1)]);
    await eventually("all is heard", () => read.length === 20);
    for (const [index, version] of (await Promise.all(read)).entries()) {
      expect(version).toBeGreaterThanOrEqual(index + 2);
    }
  });

  test("nothing is heard of a group that was outdated, nor of a market order", async () => {
    const [here, there] = [await open(), await open()];
    await create(here, "one", "two");
    const heard = await hear(there);
    expect(await here.commit([resting("one", 7)])).toEqual(["OUTDATED"]);
    await here.commit([commitOf(accountOf("one"), 2, { events: [placed(RESTING)], orders: [FILLED] })]);
    await here.commit([resting("two", 2)]);
    await eventually("the last is heard", () => heard.length > 0);
    expect(heard).toEqual(["two"]);
  });

  test("who has stopped listening hears no more, and what is no payload of ours is passed over", async () => {
    const [here, there] = [await open(), await open()];
    await create(here, "one", "two");
    const [stopped, heard] = [[] as string[], await hear(there)];
    const stop = await there.onCommittedElsewhere({
      ...DEAF,
      committed: (strategies) => stopped.push(...idsOf(strategies)),
    });
    await stop();
    await carryOut(url, "SELECT pg_notify('lyrebird_commits', 'no JSON')");
    await here.commit([resting("one", 2)]);
    await eventually("it is heard", () => heard.length > 0);
    expect([heard, stopped]).toEqual([["one"], []]);
    expect(await carryOut(url, LISTENERS)).toBe(1);
  });

  test("a listener that is cut off says so, and hears again", async () => {
    const [here, there] = [await open(), await open()];
    await create(here, "one", "two");
    const said: string[] = [];
    await there.onCommittedElsewhere(saying(said));
    await carryOut(url, `SELECT pg_terminate_backend(pid) ${LISTENERS.slice("SELECT".length)}`);
    await eventually("the loss is said", () => said.length > 0);
    await here.commit([resting("one", 2)]);
    await eventually("it listens again", () => said.includes("resumed"));
    await here.commit([resting("two", 2)]);
    await eventually("the last is heard", () => said.includes("two"));
    expect(said).toEqual(["lost", "resumed", "two"]);
  });

  test("a connection on which nothing comes through any more is given up within three seconds", async () => {
    const here = await open();
    await create(here, "one");
    const proxy = await openProxy(url);
    const said: string[] = [];
    const stop = await listenForCommits(proxy.url, "there", saying(said));
    onTestFinished(stop);
    await here.commit([resting("one", 2)]);
    await eventually("it is heard", () => said.length > 0);
    const since = Date.now();
    proxy.swallow();
    await eventually("the loss is said", () => said.includes("lost"));
    // On a busy machine it takes longer; without the check of its own TCP would need a quarter of an hour.
    expect(Date.now() - since).toBeLessThan(60_000);
    proxy.passOn();
    await eventually("it listens again", () => said.includes("resumed"));
    expect(said).toEqual(["one", "lost", "resumed"]);
    // Nor does an end wait for it.
    proxy.swallow();
    await stop();
  });

  test("listening that cannot begin rejects and tries nothing more", async () => {
    await expect(listenForCommits("postgres://nobody@127.0.0.1:1/none", "here", DEAF)).rejects.toThrow();
  });

  async function open(): Promise<Store> {
    const store = await openPostgresStore(url);
    onTestFinished(() => store.close());
    return store;
  }
});

const LISTENERS =
  "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lyrebird listener'";

const DEAF: ElsewhereListener = { committed() {}, lost() {}, resumed() {} };

function saying(said: string[]): ElsewhereListener {
  return {
    committed: (strategies) => said.push(...idsOf(strategies)),
    lost: () => said.push("lost"),
    resumed: () => said.push("resumed"),
  };
}

/** Subscribes to a store and collects the strategies that it is notified of. */
async function hear(store: Store): Promise<string[]> {
  const heard: string[] = [];
  const stop = await store.onCommittedElsewhere({
    ...DEAF,
    committed: (strategies) => heard.push(...idsOf(strategies)),
  });
  onTestFinished(stop);
  return heard;
}

function idsOf(strategies: readonly CommittedElsewhere[]): string[] {
  return strategies.map(({ strategyId }) => strategyId);
}

/** A commit that leaves an order resting, each version another one. */
function resting(strategyId: string, version: number): Commit {
  return commitOf(accountOf(strategyId), version, { orders: [orderOf(version)] });
}

function placed(order: Order): DomainEvent {
  return { type: "OrderPlaced", at: 1_000, order, postings: [] };
}

function filled(position: Position | null): DomainEvent {
  return { type: "OrderFilled", at: 1_000, trade: tradeOf(1, 1), position, postings: [] };
}

function settled(): DomainEvent {
  const settlement = {
    symbol: "BTCUSDT",
    fundingTime: 1,
    rate: decimal<Rate>("0.0001"),
    markPrice: decimal<Price>("1"),
  };
  return { type: "FundingSettled", at: 1_000, ...settlement, asset: "USDT", position: null, postings: [] };
}

function closed(type: "StrategyClosing" | "StrategyClosed"): DomainEvent {
  return { type, at: 1_000, postings: [] };
}

/** Answers how many rows the answer has. */
async function carryOut(url: string, sql: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}

/** A way to the server that can stop passing anything on, without a word to either side. */
async function openProxy(target: string) {
  const { hostname, port } = new URL(target);
  let isSwallowing = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => !isSwallowing && to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const url = new URL(target);
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("it listens on a port");
  url.host = `127.0.0.1:${address.port}`;
  return {
    url: url.href,
    swallow() {
      isSwallowing = true;
    },
    passOn() {
      isSwallowing = false;
    },
  };
}
