// A copy that is stopped without being closed: orders that would open something are canceled, closing orders
// stay, and the log records it.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import {
  audit,
  type Copier,
  type CopiesFixture,
  openCopiesFixture,
  places,
} from "../testing/copies-fixture.ts";

let fixture: CopiesFixture;
beforeEach(async () => {
  fixture = await openCopiesFixture();
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
});

const isWithdrawn = async (copier: Copier) =>
  (await fixture.entries(copier)).some(({ kind }) => kind === "WITHDRAW");
const failureOf = async ({ copyId }: Copier) =>
  (await fixture.store.copying.listRequests(copyId, 10)).find(({ kind }) => kind === "WITHDRAW")?.failure;

describe("on spot", () => {
  let strategy: string;
  let copier: Copier;
  beforeEach(async () => {
    strategy = await fixture.strategy("SPOT");
    await fixture.start();
    copier = await fixture.copier(strategy, "SPOT");
    await fixture.does(strategy, places("BUY", "0.001"));
    await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
    await fixture.does(strategy, places("SELL", "0.0005", { at: "110000" }));
  });
  const statuses = async () =>
    (await fixture.venue.orders(copier.account, "BTCUSDT")).map(({ side, status }) => `${side} ${status}`);
  const withdrawn = [
    "PLACE BUY MARKET 0.001 FILLED executed 0.001",
    "PLACE BUY LIMIT 0.0005 CANCELED",
    "PLACE SELL LIMIT 0.0005 LEFT",
    "WITHDRAW DONE",
  ];

  test("a bid is canceled, an ask stays and is not queried any more", async () => {
    await fixture.stopCopy(copier, strategy);
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await fixture.log(copier)).toEqual(withdrawn);
    expect(await failureOf(copier)).toBeNull();
    expect(await statuses()).toEqual(["BUY FILLED", "BUY CANCELED", "SELL NEW"]);
    const { copyId } = copier;
    expect(await fixture.store.copying.listOpenEntries({ copyId })).toEqual([]);
    await fixture.does(strategy, places("BUY", "0.0002"));
    expect(await fixture.log(copier)).toEqual(withdrawn);
  });

  test("what is left to do is done by the next process, however late", async () => {
    await fixture.stop();
    await fixture.stopCopy(copier, strategy);
    fixture.time.advance(2 * 3_600_000);
    await fixture.start();
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await fixture.log(copier)).toEqual(withdrawn);
  });

  test("also of a strategy that is closed in the meantime", async () => {
    await fixture.stop();
    await fixture.stopCopy(copier, strategy);
    await fixture.does(strategy, { type: "CloseStrategy" });
    await fixture.start();
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await fixture.log(copier)).toEqual(withdrawn);
    await fixture.passes(3_000);
    expect(await fixture.claimed()).toEqual([]);
  });

  test("an order that was sent before the stop, and not recorded, is found and taken back", async () => {
    const cut = fixture.cutRecording();
    await fixture.does(strategy, places("BUY", "0.0003", { at: "80000" }), false);
    fixture.wake(strategy);
    await cut;
    fixture.abandon();
    fixture.seams.recordProgress = fixture.store.copying.recordProgress;
    await fixture.stopCopy(copier, strategy);
    await fixture.start();
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect((await fixture.log(copier)).slice(3)).toEqual([
      "PLACE BUY LIMIT 0.0003 CANCELED",
      "WITHDRAW DONE",
    ]);
    expect((await statuses()).at(-1)).toBe("BUY CANCELED");
  });

  test("a kill switch puts it off", async () => {
    await fixture.halt(strategy);
    await fixture.stopCopy(copier, strategy);
    await fixture.passes(20_000);
    expect(await isWithdrawn(copier)).toBe(false);
    expect(await statuses()).toEqual(["BUY FILLED", "BUY NEW", "SELL NEW"]);
    await fixture.unhalt(strategy);
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await fixture.log(copier)).toEqual(withdrawn);
  });

  const given = [
    "PLACE BUY LIMIT 0.0005 LEFT",
    "PLACE SELL LIMIT 0.0005 LEFT",
    "WITHDRAW SKIPPED CREDENTIALS",
  ];

  test("a key that the venue rejects in the meantime leaves everything, and says so", async () => {
    await fixture.revoke(copier);
    await fixture.stopCopy(copier, strategy);
    await fixture.waitFor("it is given up", () => isWithdrawn(copier));
    expect((await fixture.log(copier)).slice(1)).toEqual(given);
    expect(await failureOf(copier)).toContain("key");
    expect(fixture.notified).toEqual([]);
  });

  test("an account that is disconnected in the meantime leaves everything, and says so", async () => {
    await fixture.stop();
    await fixture.stopCopy(copier, strategy);
    const { accountId, personId } = await fixture.copy(copier);
    const ended = { accountId, personId, at: fixture.time.now() };
    expect(await fixture.store.copying.disconnectAccount(ended, audit(accountId))).toBe(true);
    await fixture.start();
    await fixture.waitFor("it is given up", () => isWithdrawn(copier));
    expect((await fixture.log(copier)).slice(1)).toEqual(given);
    expect(await failureOf(copier)).toContain("key");
  });
});

describe("of a contract", () => {
  let strategy: string;
  let copier: Copier;

  /** A long position of 0.002, perhaps with a stop. */
  async function opens(stopLossPrice: Price | null): Promise<void> {
    strategy = await fixture.strategy("FUTURES");
    await fixture.start();
    copier = await fixture.copier(strategy, "FUTURES");
    const entry = { reduceOnly: false, leverage: null, attached: { takeProfitPrice: null, stopLossPrice } };
    await fixture.does(strategy, { ...places("BUY", "0.002"), entry });
  }
  const sells = (quantity: string, at: string, reduceOnly = false) => {
    const entry = { reduceOnly, leverage: null, attached: null };
    return fixture.does(strategy, { ...places("SELL", quantity, { at }), entry });
  };
  const withdraws = async () => {
    await fixture.stopCopy(copier, strategy);
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    return (await fixture.log(copier)).slice(1, -1);
  };

  test("exits stay that close no more than is held: what is not reduce-only has what the others leave", async () => {
    await opens(null);
    await sells("0.002", "110000");
    await sells("0.001", "111000");
    await sells("0.001", "112000", true);
    expect(await withdraws()).toEqual([
      "PLACE SELL LIMIT 0.002 CANCELED",
      "PLACE SELL LIMIT 0.001 LEFT",
      "PLACE SELL LIMIT 0.001 LEFT",
    ]);
  });

  test("a limit that would open the other side once the stop has closed the position is canceled", async () => {
    await opens(decimal<Price>("90000"));
    await sells("0.002", "110000");
    await sells("0.001", "112000", true);
    expect(await withdraws()).toEqual([
      "PLACE_LEG SELL STOP_MARKET LEFT",
      "PLACE SELL LIMIT 0.002 CANCELED",
      "PLACE SELL LIMIT 0.001 LEFT",
    ]);
    const account = await fixture.venue.store.loadAccount(copier.account.strategyId);
    expect(account?.account.openLegs.size).toBe(1);
    expect(account?.account.openOrders.size).toBe(1);
    const [stop] = account?.account.openLegs.keys() ?? [];
    await fixture.venue.fire(copier.account, `${stop}`, "90000");
    expect(await fixture.position(copier, "BTCUSDT")).toBe("0");
    expect(
      (await fixture.venue.orders(copier.account, "BTCUSDT")).filter(({ status }) => status === "NEW"),
    ).toEqual([]);
  });
});

describe("an entry on spot whose outcome is not known", () => {
  let proxy: FaultProxy;
  const unknown = { status: 400, body: '{"code":-2013,"msg":"Order does not exist."}' };
  const canceledBefore = { status: 400, body: '{"code":-2011,"msg":"Unknown order sent."}' };
  /** Whether the venue shows no order, and cancels none. */
  let isHidden: boolean;

  beforeEach(async () => {
    await fixture[Symbol.asyncDispose]();
    isHidden = true;
    fixture = await openCopiesFixture({
      through: async (url) => {
        proxy = await FaultProxy.open(url, {
          rule({ route }) {
            const answers = new Map([
              ["GET /api/v3/order", unknown],
              ["DELETE /api/v3/order", canceledBefore],
            ]);
            const answer = isHidden ? answers.get(route) : undefined;
            return answer === undefined ? {} : { answer };
          },
        });
        return proxy.url;
      },
    });
  });
  afterEach(() => proxy[Symbol.asyncDispose]());

  test.each([
    ["is canceled", false, "CANCELED"],
    ["that the venue still hides is left", true, "LEFT UNCONFIRMED"],
  ])("%s", async (_, staysHidden, status) => {
    const strategy = await fixture.strategy("SPOT");
    await fixture.start();
    const copier = await fixture.copier(strategy, "SPOT");
    proxy.plan("POST /api/v3/order", { cut: "AFTER" });
    await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }), false);
    fixture.wake(strategy);
    const line = async () => (await fixture.log(copier))[0];
    await fixture.waitFor("nobody knows of it", async () => `${await line()}`.includes("UNCONFIRMED"));
    isHidden = staysHidden;
    await fixture.stopCopy(copier, strategy);
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await line()).toBe(`PLACE BUY LIMIT 0.0005 ${status}`);
    const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
    expect(order?.status).toBe(staysHidden ? "NEW" : "CANCELED");
  });

  test("that the venue still hides is left, also if the balances show that a part of it is executed", async () => {
    const strategy = await fixture.strategy("SPOT");
    await fixture.start();
    const copier = await fixture.copier(strategy, "SPOT");
    await fixture.waitFor("it is polled", async () => (await fixture.copy(copier)).book.snapshot !== null);
    proxy.plan("POST /api/v3/order", { cut: "AFTER" });
    await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }), false);
    fixture.wake(strategy);
    const line = async () => (await fixture.log(copier))[0];
    await fixture.waitFor("nobody knows of it", async () => `${await line()}`.includes("UNCONFIRMED"));
    const [order] = await fixture.venue.orders(copier.account, "BTCUSDT");
    await fixture.venue.fill(copier.account, `${order?.orderId}`, "90000");
    await fixture.waitFor("it is booked", async () => (await fixture.holds(copier, "BTCUSDT")) !== "0");
    await fixture.stopCopy(copier, strategy);
    await fixture.waitFor("it is withdrawn", () => isWithdrawn(copier));
    expect(await line()).toBe("PLACE BUY LIMIT 0.0005 LEFT executed 0.0004995 UNCONFIRMED");
  });
});
