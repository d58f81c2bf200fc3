// What a browser that watches a strategy receives, with a stock Socket.IO client: that a part of it has
// changed, regardless of where the change came from.
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { ALL_PARTS } from "../../../src/dashboard-api/live/changes.ts";
import { CHANGES_TOLD_EVERY_MS, VERSIONS_CHECKED_EVERY_MS } from "../../../src/dashboard-api/live/limits.ts";
import { buy, executed } from "../../../src/desk/testing/fixture.ts";
import { decimal, type Quantity } from "../../../src/money/decimal.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import { ask, type LiveFixture, openLiveFixture, PRICES } from "../../support/dashboard/live-fixture.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

let fixture: LiveFixture;
afterEach(() => fixture.close());

describe("a strategy that is watched", () => {
  test("has its changes announced after they were committed, with their parts", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot } = await fixture.somebody();
    const client = await fixture.watching(cookie, spot);
    executed(await fixture.desk.execute(spot, buy("market", "one")));
    const changed = await client.next("changed");
    expect(changed.strategyId).toBe(spot);
    expect(new Set(changed.what)).toEqual(new Set(["account", "orders", "trades"]));
    const { rows } = { rows: await fixture.store.listTrades(spot, { symbol: "BTCUSDT", limit: 9 }) };
    expect(rows).toHaveLength(1);
  });

  test("announces a position, a request, and all commits of another server", async () => {
    fixture = await openLiveFixture();
    const { cookie, futures } = await fixture.somebody();
    const client = await fixture.watching(cookie, futures);
    const size = { quantity: decimal<Quantity>("1") };
    executed(await fixture.desk.execute(futures, { ...buy("market", "one"), size }));
    expect((await client.next("changed")).what).toContain("positions");
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    fixture.request(futures);
    expect(await client.next("changed")).toEqual({ strategyId: futures, what: ["requests"] });
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    executed(await fixture.otherDesk.execute(futures, { ...buy("market", "two"), size }));
    for (const listener of fixture.elsewhere) {
      listener.committed([
        { strategyId: futures, type: "FUTURES" },
        { strategyId: "unknown", type: "SPOT" },
      ]);
    }
    expect((await client.next("changed")).what).toEqual(ALL_PARTS);
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    executed(await fixture.otherDesk.execute(futures, { ...buy("market", "three"), size }));
    for (const listener of fixture.elsewhere) listener.resumed();
    expect((await client.next("changed")).what).toEqual(ALL_PARTS);
  });

  test("finds unannounced commits of another server, once, and before and after its own", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot } = await fixture.somebody();
    const client = await fixture.watching(cookie, spot);
    const look = async () => {
      fixture.time.advance(VERSIONS_CHECKED_EVERY_MS);
      // After the poll, which used the same database.
      await fixture.store.versionsOf([spot]);
      expect(await ask(client, "unfollow", PRICES)).toBeNull();
      return client.events.filter(({ name }) => name === "changed").map(({ payload }) => payload.what);
    };
    expect(await look()).toEqual([]);
    executed(await fixture.otherDesk.execute(spot, buy("market", "theirs")));
    expect(await look()).toEqual([ALL_PARTS]);
    expect(await look()).toEqual([ALL_PARTS]);
    executed(await fixture.desk.execute(spot, buy("50", "ours")));
    const ours = ["orders", "account"];
    expect(await look()).toEqual([ALL_PARTS, ours]);
    executed(await fixture.otherDesk.execute(spot, buy("market", "theirs too")));
    executed(await fixture.desk.execute(spot, buy("50", "ours too")));
    expect(await look()).toEqual([ALL_PARTS, ours, ours, ALL_PARTS]);
    expect(await look()).toHaveLength(4);
  });

  test("is announced when a store that was out of reach comes back", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot, futures } = await fixture.somebody();
    const client = await fixture.watching(cookie, spot);
    const { versionsOf } = fixture.store;
    let asked = 0;
    fixture.store.versionsOf = () => {
      asked += 1;
      return Promise.reject(new StoreUnavailable("cut off"));
    };
    expect(await ask(client, "watch", { strategyId: futures })).toMatchObject({ code: "BUSY" });
    executed(await fixture.otherDesk.execute(spot, buy("market", "theirs")));
    fixture.time.advance(VERSIONS_CHECKED_EVERY_MS);
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    expect(asked).toBe(2);
    fixture.store.versionsOf = versionsOf;
    fixture.time.advance(VERSIONS_CHECKED_EVERY_MS);
    expect(await client.next("changed")).toEqual({ strategyId: spot, what: ALL_PARTS });
  });

  test("announces its signals: received, sent again, waiting, executed and refused", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot } = await fixture.somebody();
    const client = await fixture.watching(cookie, spot);
    const told = async () => {
      const first = await client.next("changed");
      fixture.time.advance(CHANGES_TOLD_EVERY_MS);
      return first.what;
    };
    const submit = (idempotencyKey: string, order: object) =>
      fixture.signals.submit(
        { strategyId: spot, type: "SPOT", status: "LIVE" },
        {
          idempotencyKey,
          body: JSON.stringify(order),
          admittedAt: fixture.time.now(),
          signed: { signature: randomUUID(), expiresAt: fixture.time.now() },
        },
      );
    const order = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.1" };
    await submit("executed", order);
    expect(new Set(await told())).toEqual(new Set(["account", "orders", "trades", "signals"]));
    await submit("executed", order);
    expect(await told()).toEqual(["signals"]);

    await submit("refused", { ...order, quantity: "900000" });
    expect(await told()).toEqual(["signals"]);

    fixture.markets.SPOT.silence("BTCUSDT");
    const waiting = await submit("waiting", order);
    expect(waiting).toMatchObject({ signal: { state: { status: "FAILED" } } });
    expect(await told()).toEqual(["signals"]);
    expect(await told()).toEqual(["signals"]);
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    expect(client.events.filter(({ name }) => name === "changed")).toHaveLength(5);
  });

  test("is announced at once, and then everything together", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot } = await fixture.somebody();
    const client = await fixture.watching(cookie, spot);
    for (const id of ["one", "two", "three", "four"]) {
      executed(await fixture.desk.execute(spot, buy("50", id)));
    }
    fixture.request(spot);
    expect((await client.next("changed")).what).toEqual(["orders", "account"]);
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    expect((await client.next("changed")).what).toEqual(["orders", "account", "requests"]);
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    expect(await ask(client, "unwatch", { strategyId: spot })).toBeNull();
    executed(await fixture.desk.execute(spot, buy("50", "five")));
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    expect(client.events.filter(({ name }) => name === "changed")).toHaveLength(2);
  });

  test("is the person's own: another's is not found, and nothing of it is announced", async () => {
    fixture = await openLiveFixture();
    const owner = await fixture.somebody();
    const stranger = await fixture.somebody();
    const client = await fixture.joined(stranger.cookie);
    const refused = await ask(client, "watch", { strategyId: owner.spot });
    expect(refused).toMatchObject({ code: "NOT_FOUND" });
    expect(await ask(client, "watch", { strategyId: "no such strategy" })).toEqual(refused);
    expect(await client.next("refused")).toEqual(refused);
    const watcher = await fixture.watching(owner.cookie, owner.spot);
    executed(await fixture.desk.execute(owner.spot, buy("market", "one")));
    await watcher.next("changed");
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    expect(client.events.map(({ name }) => name)).not.toContain("changed");
  });

  test("is watched again by a browser that comes back", async () => {
    fixture = await openLiveFixture();
    const { cookie, spot } = await fixture.somebody();
    const client = fixture.open({ cookie, origin: fixture.url }, { reconnection: true });
    await client.next("connect");
    await ask(client, "watch", { strategyId: spot });
    fixture.sockets[0]?.destroy();
    await client.next("disconnect");
    await client.next("connect");
    executed(await fixture.desk.execute(spot, buy("50", "one")));
    expect(await ask(client, "watch", { strategyId: spot })).toBeNull();
    expect(client.events.map(({ name }) => name)).not.toContain("changed");
    executed(await fixture.desk.execute(spot, buy("50", "two")));
    fixture.time.advance(CHANGES_TOLD_EVERY_MS);
    expect((await client.next("changed")).strategyId).toBe(spot);
  });
});
