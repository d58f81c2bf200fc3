// Two real gateways on one PostgreSQL database: a listen key of one is valid at the other, and a stream at
// either brings what was done at both, each event once and in order.

import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { FuturesListener } from "../sockets/listening-client.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import { newDirectory, startGateway } from "../support/servers/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../support/servers/postgres.ts";
import { send, signed } from "../support/signed-client.ts";

const symbol = "BTCUSDT";
/** Four orders a round of both servers: fewer than a key may place in ten seconds. */
const ROUNDS = 12;

describe.skipIf(!hasPostgres)(postgresTitle("user data of two servers on one PostgreSQL database"), () => {
  let server: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("there are programs, so there is a server");
    server = opened;
  });
  afterAll(() => server?.stop());

  test("a stream at either server has all that was done at both, in the order of its commits", async () => {
    const databaseUrl = await server.newDatabase();
    const directories = [newDirectory(), newDirectory()] as const;
    const start = async (dataDir: string) => {
      const gateway = await startGateway({ dataDir, env: { DATABASE_URL: databaseUrl, SIM_SEED: "7" } });
      onTestFinished(() => gateway.kill());
      return gateway.url;
    };
    const first = await start(directories[0]);
    copyFileSync(join(directories[0], "master.key"), join(directories[1], "master.key"));
    const second = await start(directories[1]);
    const keys = await strategyOf(directories[0], databaseUrl);

    const ask = (url: string, method: string) =>
      send(url, method, "/fapi/v1/listenKey", { headers: { "x-mbx-apikey": keys.apiKey } });
    const { listenKey } = (await ask(first, "POST")).body;
    expect((await ask(second, "POST")).body.listenKey).toBe(listenKey);
    const streams = [await listen(first, listenKey), await listen(second, listenKey)] as const;
    let leverage = 2;
    await eventually(
      "both streams are open",
      async () => {
        leverage = leverage === 20 ? 2 : leverage + 1;
        await signed(first, keys, "POST", "/fapi/v1/leverage", { symbol, leverage });
        return streams.every(({ texts }) => texts.length > 0);
      },
      { askAgainMs: 100 },
    );

    const { price } = (await send(first, "GET", `/fapi/v1/ticker/price?symbol=${symbol}`)).body;
    const far = String(Math.round(Number(price) * 0.08) * 10);
    const tradeAt = async (url: string) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const side = round % 2 === 0 ? "BUY" : "SELL";
        const order = { symbol, side, quantity: "0.01" };
        await priced(() => signed(url, keys, "POST", "/fapi/v1/order", { ...order, type: "MARKET" }));
        const limit = { ...order, side: "BUY", type: "LIMIT", timeInForce: "GTC", price: far };
        const { body } = await signed(url, keys, "POST", "/fapi/v1/order", limit);
        if (body.orderId !== undefined)
          await signed(url, keys, "DELETE", "/fapi/v1/order", { symbol, orderId: body.orderId });
      }
    };
    await Promise.all([tradeAt(first), tradeAt(second)]);

    const listed = async (path: string) => {
      const { status, body } = await signed(first, keys, "GET", path, { symbol, limit: 1000 });
      expect(`${status} ${JSON.stringify(body).slice(0, 300)}`).toMatch(/^200 /);
      return body;
    };
    const orders = await listed("/fapi/v1/allOrders");
    const trades = await listed("/fapi/v1/userTrades");
    expect(orders.length).toBeGreaterThan(2 * ROUNDS);
    for (const { texts } of streams) {
      const client = new FuturesListener();
      let read = 0;
      await eventually("all is heard", () => {
        for (; read < texts.length; read += 1) client.hear(texts[read] ?? "");
        const isOver = orders.every(
          ({ orderId, status }: { orderId: number; status: string }) =>
            client.orders.get(orderId)?.status === status,
        );
        return isOver && client.trades.length >= trades.length;
      });
      expect(client.trades.map(({ id }) => id)).toEqual(trades.map(({ id }: { id: number }) => id));
      expect(client.orders.size).toBe(orders.length);
    }
    const withoutTime = (text: string) => text.replace(/"E":\d+/, "");
    const [ours, theirs] = streams.map(({ texts }) => texts.filter((text) => !text.includes("CONFIG")));
    // Unrealized profits follow the mark price that each server has seen.
    const comparable = (texts: readonly string[] | undefined) =>
      texts?.map((text) => withoutTime(text).replace(/"up":"[^"]*"/, ""));
    expect(comparable(ours)).toEqual(comparable(theirs));

    await ask(second, "DELETE");
    await eventually("both are closed", () =>
      streams.every(({ socket }) => socket.readyState === socket.CLOSED),
    );
  }, 120_000);
});

async function listen(url: string, listenKey: string) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/private/ws?listenKey=${listenKey}`);
  const texts: string[] = [];
  socket.on("message", (data) => texts.push(String(data)));
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  return { socket, texts };
}

/** A futures strategy, made by a third process with the master key of the others. */
async function strategyOf(masterKeyOf: string, databaseUrl: string) {
  const directory = newDirectory();
  copyFileSync(join(masterKeyOf, "master.key"), join(directory, "master.key"));
  const { store, master } = await openDataDirectory(directory, null, databaseUrl);
  try {
    const [bot] = await seedStrategies(store, master, ["FUTURES"], Date.now());
    if (bot === undefined) throw new Error("one strategy was asked for");
    return bot;
  } finally {
    await store.close();
  }
}
