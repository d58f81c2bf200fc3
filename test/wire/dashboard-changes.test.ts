// What a browser that watches a strategy receives, with a stock Socket.IO client: that a part of it has
// changed, regardless of where the change came from.
import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { ALL_PARTS } from "../../src/dashboard-api/live/changes.ts";
import { CHANGES_TOLD_EVERY_MS, VERSIONS_CHECKED_EVERY_MS } from "../../src/dashboard-api/live/limits.ts";
import { buy, executed } from "../../src/desk/testing/stage.ts";
import { decimal, type Quantity } from "../../src/money/decimal.ts";
import { StoreUnavailable } from "../../src/store/store.ts";
import { ask, type LiveStage, openLiveStage, PRICES } from "../support/live-stage.ts";
import { stayOnLoopback } from "../support/loopback-only.ts";

stayOnLoopback();

let stage: LiveStage;
afterEach(() => stage.close());

describe("a strategy that is watched", () => {
  test("has its changes announced after they were committed, with their parts", async () => {
    stage = await openLiveStage();
    const { cookie, spot } = await stage.somebody();
    const client = await stage.watching(cookie, spot);
    executed(await stage.desk.execute(spot, buy("market", "one")));
    const changed = await client.next("changed");
    expect(changed.strategyId).toBe(spot);
    expect(new Set(changed.what)).toEqual(new Set(["account", "orders", "trades"]));
    const { rows } = { rows: await stage.store.listTrades(spot, { symbol: "BTCUSDT", limit: 9 }) };
    expect(rows).toHaveLength(1);
  });

  test("announces a position, a request, and all commits of another server", async () => {
    stage = await openLiveStage();
    const { cookie, futures } = await stage.somebody();
    const client = await stage.watching(cookie, futures);
    const size = { quantity: decimal<Quantity>("1") };
    executed(await stage.desk.execute(futures, { ...buy("market", "one"), size }));
    expect((await client.next("changed")).what).toContain("positions");
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    stage.request(futures);
    expect(await client.next("changed")).toEqual({ strategyId: futures, what: ["requests"] });
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    executed(await stage.otherDesk.execute(futures, { ...buy("market", "two"), size }));
    for (const listener of stage.elsewhere) {
      listener.committed([
        { strategyId: futures, type: "FUTURES" },
        { strategyId: "unknown", type: "SPOT" },
      ]);
    }
    expect((await client.next("changed")).what).toEqual(ALL_PARTS);
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    executed(await stage.otherDesk.execute(futures, { ...buy("market", "three"), size }));
    for (const listener of stage.elsewhere) listener.resumed();
    expect((await client.next("changed")).what).toEqual(ALL_PARTS);
  });

  test("finds unannounced commits of another server, once, and before and after its own", async () => {
    stage = await openLiveStage();
    const { cookie, spot } = await stage.somebody();
    const client = await stage.watching(cookie, spot);
    const look = async () => {
      stage.time.advance(VERSIONS_CHECKED_EVERY_MS);
      // After the poll, which used the same database.
      await stage.store.versionsOf([spot]);
      expect(await ask(client, "unfollow", PRICES)).toBeNull();
      return client.events.filter(({ name }) => name === "changed").map(({ payload }) => payload.what);
    };
    expect(await look()).toEqual([]);
    executed(await stage.otherDesk.execute(spot, buy("market", "theirs")));
    expect(await look()).toEqual([ALL_PARTS]);
    expect(await look()).toEqual([ALL_PARTS]);
    executed(await stage.desk.execute(spot, buy("50", "ours")));
    const ours = ["orders", "account"];
    expect(await look()).toEqual([ALL_PARTS, ours]);
    executed(await stage.otherDesk.execute(spot, buy("market", "theirs too")));
    executed(await stage.desk.execute(spot, buy("50", "ours too")));
    expect(await look()).toEqual([ALL_PARTS, ours, ours, ALL_PARTS]);
    expect(await look()).toHaveLength(4);
  });

  test("is announced when a store that was out of reach comes back", async () => {
    stage = await openLiveStage();
    const { cookie, spot, futures } = await stage.somebody();
    const client = await stage.watching(cookie, spot);
    const { versionsOf } = stage.store;
    let asked = 0;
    stage.store.versionsOf = () => {
      asked += 1;
      return Promise.reject(new StoreUnavailable("cut off"));
    };
    expect(await ask(client, "watch", { strategyId: futures })).toMatchObject({ code: "BUSY" });
    executed(await stage.otherDesk.execute(spot, buy("market", "theirs")));
    stage.time.advance(VERSIONS_CHECKED_EVERY_MS);
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    expect(asked).toBe(2);
    stage.store.versionsOf = versionsOf;
    stage.time.advance(VERSIONS_CHECKED_EVERY_MS);
    expect(await client.next("changed")).toEqual({ strategyId: spot, what: ALL_PARTS });
  });

  test("announces its signals: received, sent again, waiting, executed and refused", async () => {
    stage = await openLiveStage();
    const { cookie, spot } = await stage.somebody();
    const client = await stage.watching(cookie, spot);
    const told = async () => {
      const first = await client.next("changed");
      stage.time.advance(CHANGES_TOLD_EVERY_MS);
      return first.what;
    };
    const submit = (idempotencyKey: string, order: object) =>
      stage.signals.submit(
        { strategyId: spot, type: "SPOT", status: "LIVE" },
        {
          idempotencyKey,
          body: JSON.stringify(order),
          admittedAt: stage.time.now(),
          signed: { signature: randomUUID(), expiresAt: stage.time.now() },
        },
      );
    const order = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.1" };
    await submit("executed", order);
    expect(await told()).toEqual(["signals"]);
    expect(new Set(await told())).toEqual(new Set(["account", "orders", "trades", "signals"]));
    await submit("executed", order);
    expect(await told()).toEqual(["signals"]);

    await submit("refused", { ...order, quantity: "900000" });
    expect(await told()).toEqual(["signals"]);
    expect(await told()).toEqual(["signals"]);

    stage.markets.SPOT.silence("BTCUSDT");
    const waiting = await submit("waiting", order);
    expect(waiting).toMatchObject({ signal: { state: { status: "FAILED" } } });
    expect(await told()).toEqual(["signals"]);
    expect(await told()).toEqual(["signals"]);
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    expect(client.events.filter(({ name }) => name === "changed")).toHaveLength(7);
  });

  test("is announced at once, and then everything together", async () => {
    stage = await openLiveStage();
    const { cookie, spot } = await stage.somebody();
    const client = await stage.watching(cookie, spot);
    for (const id of ["one", "two", "three", "four"]) {
      executed(await stage.desk.execute(spot, buy("50", id)));
    }
    stage.request(spot);
    expect((await client.next("changed")).what).toEqual(["orders", "account"]);
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    expect((await client.next("changed")).what).toEqual(["orders", "account", "requests"]);
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    expect(await ask(client, "unwatch", { strategyId: spot })).toBeNull();
    executed(await stage.desk.execute(spot, buy("50", "five")));
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    expect(client.events.filter(({ name }) => name === "changed")).toHaveLength(2);
  });

  test("is the person's own: another's is not found, and nothing of it is announced", async () => {
    stage = await openLiveStage();
    const owner = await stage.somebody();
    const stranger = await stage.somebody();
    const client = await stage.joined(stranger.cookie);
    const refused = await ask(client, "watch", { strategyId: owner.spot });
    expect(refused).toMatchObject({ code: "NOT_FOUND" });
    expect(await ask(client, "watch", { strategyId: "no such strategy" })).toEqual(refused);
    expect(await client.next("refused")).toEqual(refused);
    const watcher = await stage.watching(owner.cookie, owner.spot);
    executed(await stage.desk.execute(owner.spot, buy("market", "one")));
    await watcher.next("changed");
    expect(await ask(client, "unfollow", PRICES)).toBeNull();
    expect(client.events.map(({ name }) => name)).not.toContain("changed");
  });

  test("is watched again by a browser that comes back", async () => {
    stage = await openLiveStage();
    const { cookie, spot } = await stage.somebody();
    const client = stage.open({ cookie, origin: stage.url }, { reconnection: true });
    await client.next("connect");
    await ask(client, "watch", { strategyId: spot });
    stage.sockets[0]?.destroy();
    await client.next("disconnect");
    await client.next("connect");
    executed(await stage.desk.execute(spot, buy("50", "one")));
    expect(await ask(client, "watch", { strategyId: spot })).toBeNull();
    expect(client.events.map(({ name }) => name)).not.toContain("changed");
    executed(await stage.desk.execute(spot, buy("50", "two")));
    stage.time.advance(CHANGES_TOLD_EVERY_MS);
    expect((await client.next("changed")).strategyId).toBe(spot);
  });
});
