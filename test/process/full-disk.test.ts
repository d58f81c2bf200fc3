// A disk that is really full: writes are refused and reads work, no acknowledged write is lost, and the
// server recovers by itself when there is space again.
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { botClient } from "../support/bot-client.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import { canHaveOwnDisk, diskOf, startGateway } from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { restingPriceOf, symbol } from "../support/spot-trader.ts";

const DISK_MEBIBYTES = 16;
/** What is left for orders to use up. */
const LEFT_BYTES = 262_144;
/** Fewer than 200 USDT and the budget of ten seconds allow. */
const ORDERS_MAX = 30;
const RETRY_AFTER = /^[1-9][0-9]*$/;

const hasOwnDisks = canHaveOwnDisk();

/** A demo on a disk of its own, with its trader and an operator. */
async function openOnOwnDisk(env: Readonly<Record<string, string>> = {}) {
  const gateway = await startGateway({ diskMebibytes: DISK_MEBIBYTES, env });
  onTestFinished(() => gateway.kill());
  await eventually("the keys are printed", () => /^ {2}secret {2}/m.test(gateway.output()));
  const apiKey = /^ {2}apiKey {2}(lyre_bot_[0-9a-f]{64})$/m.exec(gateway.output())?.[1] ?? "";
  const apiSecret = /^ {2}secret {2}([0-9a-f]{64})$/m.exec(gateway.output())?.[1] ?? "";
  const ask = (method: string, path: string, parameters: Readonly<Record<string, string>> = {}) =>
    signed(gateway.url, { apiKey, apiSecret }, method, `/api/v3/${path}`, parameters);
  let sent = 0;
  const disk = diskOf(gateway);
  const filler = join(disk, "filler");
  return {
    gateway,
    ask,
    bot: botClient(gateway.url, { apiKey, apiSecret }),
    sent: () => sent,
    place() {
      sent += 1;
      const newClientOrderId = `mine-${sent}`;
      const order = { symbol, side: "BUY", type: "MARKET", quoteOrderQty: "6", newClientOrderId };
      return priced(() => ask("POST", "order", order));
    },
    /** Fills the disk, but for so many bytes. */
    fill(leftBytes: number) {
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(filler, Buffer.alloc(bavail * bsize - leftBytes));
    },
    clear: () => rmSync(filler),
    metric: async (name: string) => {
      const text = await (await fetch(`${gateway.url}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    },
  };
}

describe.skipIf(!hasOwnDisks)(
  `a disk${hasOwnDisks ? "" : " (skipped: none of its own can be made here)"}`,
  () => {
    test("that is full ends no server: writes are 503, reads go on, nothing answered is lost", async () => {
      // Without the bound that keeps some space free: this is about a disk that something else has filled.
      const { gateway, ask, place, sent, fill, clear } = await openOnOwnDisk({ DISK_FREE_PERCENT_MIN: "0" });
      expect(await place()).toMatchObject({ status: 200, body: { status: "FILLED" } });
      fill(LEFT_BYTES);
      const acknowledged = ["mine-1"];
      let answer = await place();
      for (; answer.status !== 503 && sent() < ORDERS_MAX; answer = await place()) {
        expect(answer).toMatchObject({ status: 200 });
        acknowledged.push(answer.body.clientOrderId);
      }
      expect(answer).toMatchObject({ status: 503, body: { code: -1008 } });
      expect(answer.headers.get("retry-after")).toMatch(RETRY_AFTER);
      expect(await place()).toMatchObject({ status: 503 });
      expect(await ask("GET", "account")).toMatchObject({ status: 200 });
      expect(gateway.process.exitCode).toBe(null);

      clear();
      await eventually("orders are taken again", async () => (await place()).status === 200);
      const known = (await ask("GET", "allOrders", { symbol })).body.map(
        ({ clientOrderId }: { clientOrderId: string }) => clientOrderId,
      );
      expect(known).toEqual(expect.arrayContaining(acknowledged));
      expect(gateway.output()).not.toMatch(/"level":60/);
      expect(await gateway.stop()).toBe(0);
    });

    test("with less than 5 % free takes nothing new, but cancels, repeats and reads; with space again it takes everything", async () => {
      const { gateway, ask, bot, place, fill, clear, metric } = await openOnOwnDisk();
      expect(await place()).toMatchObject({ status: 200 });
      const price = await restingPriceOf(gateway.url);
      const limit = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price };
      const { orderId } = (await ask("POST", "order", limit)).body;
      expect(await metric("lyrebird_database_size_bytes")).toBeGreaterThan(0);
      const size = await metric("lyrebird_disk_size_bytes");
      expect(size).toBe(DISK_MEBIBYTES * 1_048_576);
      expect(await metric("lyrebird_disk_is_short")).toBe(0);

      fill(size * 0.03);
      await eventually("it is noticed", async () => (await metric("lyrebird_disk_is_short")) === 1);
      expect(await metric("lyrebird_disk_free_bytes")).toBeLessThan(size * 0.05);
      const said = /"level":50.*"the disk is nearly full: new orders, signals and sign-ups are refused/;
      await eventually("the log says so", () => said.test(gateway.output()));
      const refused = await place();
      expect(refused).toMatchObject({
        status: 503,
        body: { code: -1008, msg: expect.stringContaining("short of disk space") },
      });
      expect(refused.headers.get("retry-after")).toMatch(RETRY_AFTER);
      expect(await bot.submit({ symbol, tradeType: "BUY", quantity: "0.001" }, "a key")).toMatchObject({
        status: 503,
      });
      const person = { name: "Ada", email: "ada@example.com", password: "a fine long password" };
      const signUp = await send(gateway.url, "POST", "/dashboard/api/sign-up", {
        headers: { origin: gateway.url, "content-type": "application/json" },
        body: JSON.stringify(person),
      });
      expect(signUp).toMatchObject({
        status: 503,
        body: { error: { code: "BUSY", message: expect.stringContaining("disk space") } },
      });

      // What was answered before is answered again.
      const repeated = {
        symbol,
        side: "BUY",
        type: "MARKET",
        quoteOrderQty: "6",
        newClientOrderId: "mine-1",
      };
      expect(await ask("POST", "order", repeated)).toMatchObject({ status: 200, body: { orderId: 1 } });
      expect(await ask("DELETE", "order", { symbol, orderId })).toMatchObject({ status: 200 });
      expect(await ask("GET", "account")).toMatchObject({ status: 200 });

      clear();
      await eventually("it is noticed", async () => (await metric("lyrebird_disk_is_short")) === 0);
      expect(await place()).toMatchObject({ status: 200 });
      await eventually("the log says so", () => gateway.output().includes("the disk has space again"));
    });
  },
);
