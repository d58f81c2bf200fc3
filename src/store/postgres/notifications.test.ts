import { connect, createServer, type Socket } from "node:net";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../../test/support/servers/postgres.ts";
import type { Position } from "../../domain/account.ts";
import { emptyAccount } from "../../domain/account.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { Order } from "../../domain/order.ts";
import { SLOTS } from "../../domain/strategy.ts";
import { decimal, type Price, type Rate } from "../../money/decimal.ts";
import { legOf } from "../contract/futures-records.ts";
import { accountOf, commitOf, createdOf, orderOf, tradeOf, upTo } from "../contract/records.ts";
import { create } from "../contract/store-under-test.ts";
import type { Commit, CommittedElsewhere, ElsewhereListener } from "../ports/trading.ts";
import type { Store } from "../store.ts";
import { concernsOwner, listenForCommits } from "./notifications.ts";
import { openPostgresStore } from "./postgres-store.ts";

const RESTING = orderOf(1);
const FILLED = orderOf(1, { status: "FILLED" });

describe("the owner of a slot is notified, or not, of", () => {
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
    expect(concernsOwner(commitOf(accountOf("one"), 2, { events, orders }))).toBe(isTold);
  });

  test("a leg, whatever became of it", () => {
    for (const status of ["NEW", "CANCELED"] as const) {
      const legs = [legOf(1, { status })];
      expect(concernsOwner(commitOf(emptyAccount("one", "FUTURES"), 2, { legs }))).toBe(true);
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

  test("the owner of a slot hears what others commit, and nobody else does", async () => {
    const [owner, other, third] = [await open(), await open(), await open()];
    await ownEverything(owner);
    await create(other, "one", "two");
    const [heard, ...deaf] = [await hear(owner), await hear(other), await hear(third)];
    for (const version of [2, 3]) await other.commit([resting("one", version)]);
    await owner.commit([resting("two", 2)]);
    await third.commit([resting("two", 3), resting("one", 4)]);
    await eventually("all is heard", () => heard.includes("one") && heard.includes("two"));
    await eventually("all is sent", () => isQuiet());
    expect(new Set(heard)).toEqual(new Set(["one", "two"]));
    expect(deaf).toEqual([[], []]);
  });

  test("who watches a strategy hears every commit to it, market orders and the owner's too", async () => {
    const [owner, other, watching] = [await open(), await open(), await open()];
    await ownEverything(owner);
    await create(other, "one", "two");
    const [heardOwner, heard] = [await hear(owner), await hear(watching)];
    const stop = await watch(watching, "one");
    const market = (version: number) =>
      commitOf(accountOf("one"), version, { events: [placed(RESTING)], orders: [FILLED] });
    await other.commit([market(2), resting("two", 2)]);
    await eventually("it is heard", () => heard.length === 1 && heardOwner.length === 1);
    await owner.commit([resting("one", 3)]);
    await eventually("it is heard", () => heard.length === 2);
    stop();
    await eventually("the row is gone", async () => (await carryOut(url, WATCHES)) === 0);
    await other.commit([resting("one", 4)]);
    await eventually("the owner hears it", () => heardOwner.length === 2);
    expect(heard).toEqual(["one", "one"]);
    expect(heardOwner).toEqual(["two", "one"]);
  });

  test("a group of many strategies is heard as a whole", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(there);
    const ids = upTo(200).map((id) => `00000000-0000-4000-8000-00000000${1000 + id}`);
    await create(here, ...ids);
    const heard = await hear(there);
    await here.commit(ids.map((id) => resting(id, 2)));
    await eventually("all are heard", () => heard.length === ids.length);
    expect(heard.toSorted()).toEqual(ids);
  });

  test("each is heard with its type, by every listener of a process over one connection", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(there);
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
      expect(each.toSorted((one, other) => (one.type < other.type ? 1 : -1))).toEqual([
        { strategyId: "spot", type: "SPOT" },
        { strategyId: "perpetual", type: "FUTURES" },
      ]);
    }
    expect(await carryOut(url, LISTENERS)).toBe(1);
  });

  test("what is heard can be read, and the last commit is always heard", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(there);
    await create(here, "one");
    const reads: Promise<number | undefined>[] = [];
    const committed = () => {
      reads.push(there.loadAccount("one").then((found) => found?.version));
    };
    onTestFinished(await there.onCommittedElsewhere({ ...DEAF, committed }));
    for (const version of upTo(20)) await here.commit([resting("one", version + 1)]);
    await eventually("all is sent", () => isQuiet());
    await eventually("the last is heard", async () => (await Promise.all(reads)).includes(21));
  });

  test("nothing is heard of a group that was outdated, nor does an owner hear of a market order", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(there);
    await create(here, "one", "two");
    const heard = await hear(there);
    expect(await here.commit([resting("one", 7)])).toEqual(["OUTDATED"]);
    await here.commit([commitOf(accountOf("one"), 2, { events: [placed(RESTING)], orders: [FILLED] })]);
    await here.commit([resting("two", 2)]);
    await eventually("the last is heard", () => heard.length > 0);
    expect(heard).toEqual(["two"]);
  });

  test("a commit does not notify, so it does not wait for those that do; what could not be sent is sent again", async () => {
    const { here, there } = await withoutRightToNotify();
    await create(here, "one");
    const heard = await hear(there);
    expect(await here.commit([resting("one", 2)])).toEqual(["COMMITTED"]);
    expect(await here.commit([resting("one", 3)])).toEqual(["COMMITTED"]);
    expect(heard).toEqual([]);
    await carryOut(url, "GRANT EXECUTE ON FUNCTION pg_notify(text, text) TO PUBLIC");
    await eventually("it is sent again", () => heard.length > 0);
    expect(heard).toEqual(["one"]);
  });

  test("a store that is closed has sent everything", async () => {
    const [here, there] = [await openPostgresStore(url), await open()];
    await ownEverything(there);
    await create(here, "one");
    const heard = await hear(there);
    await here.commit([resting("one", 2)]);
    await here.close();
    await eventually("it is heard", () => heard.length > 0);
  });

  test("a server that owned a slot until its lease ended notifies the owner after that", async () => {
    const [here, there] = [await open(), await open()];
    await here.slots?.renew(300);
    await here.slots?.take(SLOTS);
    await create(here, "one");
    await there.slots?.renew(LEASE_MS);
    const heard = await hear(there);
    await eventually("the slots are free", async () => (await there.slots?.take(SLOTS))?.size === SLOTS);
    await here.commit([resting("one", 2)]);
    await eventually("it is heard", () => heard.length > 0);
  });

  test("a server whose renewal is not answered yet notifies the owner, which may not be itself any more", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(here);
    await create(here, "one");
    await there.slots?.renew(LEASE_MS);
    const heard = await hear(there);
    await carryOut(url, `UPDATE slots SET server = '${there.slots?.serverId}'`);
    const holder = new Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("BEGIN");
    await holder.query("LOCK TABLE servers IN ACCESS EXCLUSIVE MODE");
    // Whether it waits or has failed by the end makes no difference.
    const renewed = here.slots?.renew(LEASE_MS).catch(() => {});
    await here.commit([resting("one", 2)]);
    await eventually("it is heard", () => heard.length > 0);
    await holder.query("ROLLBACK");
    await renewed;
  });

  test("who has stopped listening hears no more, and what is no payload of ours is passed over", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(there);
    await create(here, "one", "two");
    const [stopped, heard] = [[] as string[], await hear(there)];
    const stop = await there.onCommittedElsewhere({
      ...DEAF,
      committed: (strategies) => stopped.push(...idsOf(strategies)),
    });
    await stop();
    await carryOut(url, `SELECT pg_notify('lyrebird_${there.slots?.serverId}', 'no JSON')`);
    await here.commit([resting("one", 2)]);
    await eventually("it is heard", () => heard.length > 0);
    expect([heard, stopped]).toEqual([["one"], []]);
    expect(await carryOut(url, LISTENERS)).toBe(1);
  });

  test("a listener that is cut off says so, and hears again", async () => {
    const [here, there] = [await open(), await open()];
    await ownEverything(there);
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
    await carryOut(url, "INSERT INTO watches (strategy_id, server, renewed_at) VALUES ('one', 'there', 0)");
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

  async function open(address = url): Promise<Store> {
    const store = await openPostgresStore(address);
    onTestFinished(() => store.close());
    return store;
  }

  async function watch(store: Store, strategyId: string): Promise<() => void> {
    const stop = store.watchStrategy(strategyId);
    await eventually("the row is there", async () => (await carryOut(url, WATCHES)) > 0);
    return stop;
  }

  /** Whether no notification is being sent. */
  async function isQuiet(): Promise<boolean> {
    const sending =
      "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_notify%' AND pid <> pg_backend_pid()";
    return (await carryOut(url, sending)) === 0;
  }

  /** Two stores of a role that may do everything else; the second one owns all slots. */
  async function withoutRightToNotify(): Promise<{ here: Store; there: Store }> {
    const role = `plain_${Math.random().toString(36).slice(2)}`;
    const address = new URL(url);
    const database = address.pathname.slice(1);
    await carryOut(url, `CREATE ROLE ${role} LOGIN PASSWORD 'plain'`);
    await carryOut(url, `ALTER DATABASE ${database} OWNER TO ${role}`);
    await carryOut(url, "REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC");
    address.username = role;
    address.password = "plain";
    const [here, there] = [await open(address.href), await open(address.href)];
    await ownEverything(there);
    return { here, there };
  }
});

const LEASE_MS = 60_000;
const WATCHES = "SELECT FROM watches";
const LISTENERS =
  "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'lyrebird listener'";

const DEAF: ElsewhereListener = { committed() {}, lost() {}, resumed() {} };

async function ownEverything({ slots }: Store): Promise<void> {
  await slots?.renew(LEASE_MS);
  await slots?.take(SLOTS);
}

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
