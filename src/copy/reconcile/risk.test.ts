// What must be impossible when real money is copied: a size that counts money twice, an exit that is given
// up, a position without its strategy's stop, an order that is executed twice, and one symbol that delays the
// exit of another. Each test reproduces a defect.
import { afterEach, describe, expect, test } from "vitest";
import type { BehaviorOptions, WayRequest } from "../../../test/campaigns/copy-faults/exchange-behavior.ts";
import { type FaultyWay, openFaultyWay } from "../../../test/campaigns/copy-faults/faulty-way.ts";
import { eventually } from "../../../test/support/eventually.ts";
import type { Answer } from "../../../test/support/servers/fault-proxy.ts";
import { type Account, emptyAccount, type StrategyType } from "../../domain/account.ts";
import type { CopySettings } from "../../domain/copying.ts";
import { apply } from "../../engine/apply.ts";
import { decimal, formatBriefly, type Price, type Quantity } from "../../money/decimal.ts";
import { UNCONFIRMED_MS_MAX } from "../executor/balances.ts";
import {
  audit,
  type Copier,
  type CopiesFixture,
  openCopiesFixture,
  places,
} from "../testing/copies-fixture.ts";

const BTC = "BTCUSDT";
const ETH = "ETHUSDT";
const ORDER = "/fapi/v1/order";
/** Real time that the processes may take to answer while the manual clock does not move, ms. */
const ANSWERED_MS_MAX = 1_500;
/** How long a test waits for something that takes time of the clock, which runs much faster, ms. */
const SETTLED_MS_MAX = 15_000;
const STEP_MS = 500;

let fixture: CopiesFixture;
let way: FaultyWay;
let strategy: string;
let copier: Copier;
const secrets = new Map<string, string>();

/** A strategy, a copier with an equal account, and an exchange between them with the given behavior. */
async function open(
  type: StrategyType,
  behavior: BehaviorOptions = {},
  settings: Partial<CopySettings> = {},
): Promise<void> {
  fixture = await openCopiesFixture({
    through: async (url) => {
      const reuseIds = { secretOf: (apiKey: string) => secrets.get(apiKey) };
      way = await openFaultyWay(url, () => 0.5, { cuts: false, behavior: { ...behavior, reuseIds } });
      return way.url;
    },
  });
  way.exchange.setClock(fixture.time.now);
  strategy = await fixture.strategy(type);
  await fixture.start();
  copier = await fixture.copier(strategy, type, settings);
  secrets.set(copier.account.apiKey, copier.account.apiSecret);
}

afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await way.close();
});

const seen = (price: string) => ({ seen: decimal<Price>(price), seenAt: fixture.time.now() });

/** Advances the clock until the condition holds. */
async function settles(what: string, holds: () => Promise<boolean>): Promise<void> {
  const step = async () => {
    if (await holds()) return true;
    await fixture.passes(STEP_MS);
    return false;
  };
  await eventually(what, step, { msMax: SETTLED_MS_MAX });
}

/**
 * Expects the condition before the clock has advanced this far; the clock does not move while the processes
 * answer.
 */
async function within(ms: number, what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let passed = 0; ; passed += STEP_MS) {
    const isSo = await eventually(what, holds, { msMax: ANSWERED_MS_MAX }).then(
      () => true,
      () => false,
    );
    if (isSo) return;
    if (passed >= ms) throw new Error(`not within ${ms} ms of the clock: ${what}`);
    await fixture.passes(STEP_MS);
  }
}

const isFlat = async (symbol = BTC) => (await fixture.position(copier, symbol)) === "0";

/** Answers the next requests of a kind by itself, so many times. */
function answers(times: number, holds: (request: WayRequest) => boolean, answer: Answer): () => number {
  let answered = 0;
  way.exchange.instead = (request) => {
    if (answered >= times || !holds(request)) return null;
    answered += 1;
    return answer;
  };
  return () => answered;
}

function refused(code: number, msg: string): Answer {
  return { status: 400, body: JSON.stringify({ code, msg }) };
}

const isOrder = ({ method, path }: WayRequest) => method === "POST" && path.endsWith("/order");

/**
 * The moments at which a stop of a position was taken away at the venue while the position stayed, by the
 * venue's own journal.
 */
async function stopsTaken({ account: { strategyId } }: Copier, symbol = BTC): Promise<readonly string[]> {
  const account = emptyAccount(strategyId, "FUTURES");
  const taken: string[] = [];
  for (const { version, events } of await fixture.venue.store.listEntries(strategyId)) {
    const before = hasStop(account, symbol);
    for (const event of events) apply(account, event);
    const isOpen = account.positions.has(symbol);
    if (before && isOpen && !hasStop(account, symbol)) taken.push(`entry ${version}`);
  }
  return taken;
}

function hasStop({ openLegs }: Account, symbol: string): boolean {
  return [...openLegs.values()].some((leg) => leg.symbol === symbol && leg.type === "STOP_MARKET");
}

async function isProtected(): Promise<boolean> {
  const loaded = await fixture.venue.store.loadAccount(copier.account.strategyId);
  return loaded !== null && hasStop(loaded.account, BTC);
}

/** Long 0.05 BTC at leverage 10 with a stop at 95,000. */
async function longWithStop(): Promise<void> {
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: BTC, leverage: 10 });
  const attached = { takeProfitPrice: null, stopLossPrice: decimal<Price>("95000") };
  const entry = { reduceOnly: false, leverage: null, attached };
  await fixture.does(strategy, { ...places("BUY", "0.05"), entry });
  expect(await fixture.position(copier, BTC)).toBe("0.05");
  await settles("the stop is at the venue", isProtected);
}

const REDUCES = { entry: { reduceOnly: true, leverage: null, attached: null } };

async function stopOfStrategy(): Promise<number> {
  const legs = (await fixture.store.loadAccount(strategy))?.account.openLegs;
  return [...(legs?.values() ?? [])][0]?.legId ?? 0;
}

describe("a spot size counts money once", () => {
  /**
   * Bought for 150 of 200 USDT. A part is on sale at 101,000: the price triggers the strategy's order first,
   * then the copy's.
   */
  async function soldFrom(quantity: string): Promise<void> {
    await open("SPOT");
    await fixture.does(strategy, places("BUY", "0.0015"));
    const own = await fixture.does(strategy, places("SELL", quantity, { at: "101000" }));
    const copied = (await fixture.entries(copier)).at(-1)?.venueOrderId ?? "";
    fixture.pairs.show(BTC, "101000", "101010");
    fixture.time.advance(2_000);
    await fixture.does(strategy, { type: "FillRestingOrder", orderId: own, ...seen("101000") });
    await fixture.venue.fill(copier.account, copied, "101000");
  }

  /** With equal accounts a purchase is as large as the strategy's, less a fee. */
  async function buysEqually(quantity: string): Promise<void> {
    await fixture.does(strategy, places("BUY", quantity, { symbol: ETH }));
    const bought = (await fixture.entries(copier)).at(-1);
    expect(bought).toMatchObject({ kind: "PLACE", symbol: ETH, status: "FILLED" });
    const whole = decimal<Quantity>(quantity);
    expect(bought?.quantity).toBeLessThanOrEqual(whole);
    expect((bought?.quantity ?? 0n) * 1_000n).toBeGreaterThanOrEqual(whole * 995n);
  }

  test("when the copy's sale was filled and is not booked yet", async () => {
    await soldFrom("0.00149");
    await buysEqually("0.05");
  });

  test("when the sale is booked after the balances were read", async () => {
    await soldFrom("0.001");
    // More than what was left without the sale: the balances are read for it.
    await fixture.does(strategy, places("BUY", "0.03", { symbol: ETH }));
    await fixture.does(strategy, places("SELL", "0.0003"));
    await buysEqually("0.01");
  });
});

describe("an exit that the venue refuses once is repeated, and the stop stays until the position is gone", () => {
  test("a market order in a thin book: -4131", async () => {
    await open("FUTURES");
    await longWithStop();
    const met = answers(
      1,
      isOrder,
      refused(-4131, "The counterparty's best price does not meet the filter."),
    );
    await fixture.does(strategy, { ...places("SELL", "0.05"), ...REDUCES }, false);
    await settles("the copy is flat", isFlat);
    expect(met()).toBe(1);
    expect(await stopsTaken(copier)).toEqual([]);
  });

  test("the close of a strategy's stop: -4400", async () => {
    await open("FUTURES");
    await longWithStop();
    const met = answers(1, isOrder, refused(-4400, "Futures Trading Quantitative Rules violated."));
    fixture.contracts.show(BTC, "94990", "95000", "95000");
    fixture.time.advance(2_000);
    await fixture.does(
      strategy,
      { type: "TriggerLeg", legId: await stopOfStrategy(), ...seen("95000") },
      false,
    );
    await settles("the copy is flat", isFlat);
    expect(met()).toBe(1);
    expect(await stopsTaken(copier)).toEqual([]);
  });

  test("a plain sale that the venue is too busy for: -1008", async () => {
    await open("FUTURES");
    await longWithStop();
    const met = answers(1, isOrder, refused(-1008, "Server is currently overloaded with other requests."));
    await fixture.does(strategy, places("SELL", "0.05"), false);
    await settles("the copy is flat", isFlat);
    expect(met()).toBe(1);
    expect(await stopsTaken(copier)).toEqual([]);
  });

  test("a sale of a spot holding: -1008", async () => {
    await open("SPOT");
    await fixture.does(strategy, places("BUY", "0.0015"));
    const met = answers(1, isOrder, refused(-1008, "Server is currently overloaded with other requests."));
    await fixture.does(strategy, places("SELL", "0.00149"), false);
    const held = async () => decimal<Quantity>(await fixture.owned(copier, "BTC"));
    // The fee of the purchase leaves less than a step.
    await settles("it is sold", async () => (await held()) < decimal<Quantity>("0.00002"));
    expect(met()).toBe(1);
  });
});

describe("an exit that was missed is made up for, although an open limit is to sell another part", () => {
  /** The lines of what the reconciler has sold. */
  const brought = async () => (await fixture.log(copier)).filter((line) => line.startsWith("RECONCILE"));
  const limits = async () =>
    (await fixture.venue.orders(copier.account, BTC))
      .filter(({ type }) => type === "LIMIT")
      .map(({ quantity, status }) => `${formatBriefly(quantity)} ${status}`);

  /** The strategy sells at the market while a kill switch is set. */
  async function sellsHalted(quantity: string): Promise<void> {
    await fixture.halt(strategy);
    await fixture.does(strategy, places("SELL", quantity));
    await fixture.unhalt(strategy);
  }

  test.each<[StrategyType, bought: string, limit: string, sold: string, line: string]>([
    ["SPOT", "0.0018", "0.0009", "0.0008", "0.00079"],
    ["FUTURES", "0.018", "0.009", "0.008", "0.008"],
  ])("%s", async (type, bought, limit, sold, line) => {
    await open(type);
    await fixture.does(strategy, places("BUY", bought));
    await fixture.does(strategy, places("SELL", limit, { at: "110000" }));
    await sellsHalted(sold);
    const at = fixture.time.now();
    const filled = `RECONCILE SELL MARKET ${line} FILLED executed ${line}`;
    await settles("it is sold", async () => (await brought()).includes(filled));
    expect(fixture.time.now() - at).toBeLessThan(10_000);
    await fixture.passesAtRest(120_000);
    expect(await brought()).toEqual([filled]);
    expect(await limits()).toEqual([expect.stringMatching(/NEW$/)]);
  });

  test("also where the strategy's limit is larger than the position that it has left", async () => {
    await open("FUTURES");
    await fixture.does(strategy, places("BUY", "0.018"));
    await fixture.does(strategy, places("SELL", "0.018", { at: "110000" }));
    await sellsHalted("0.008");
    await settles("it is sold", async () => (await fixture.position(copier, BTC)) === "0.01");
    expect(await limits()).toEqual(["0.018 NEW"]);
  });

  test("also where the strategy has left the position, and its limit is still open", async () => {
    await open("FUTURES");
    await fixture.does(strategy, places("BUY", "0.018"));
    await fixture.does(strategy, places("SELL", "0.018", { at: "110000" }));
    await sellsHalted("0.018");
    await settles("the copy is flat", isFlat);
    expect(await limits()).toEqual(["0.018 CANCELED"]);
  });

  test.each<[StrategyType, bought: string, sold: string, rest: string]>([
    ["SPOT", "0.0018", "0.0008", "0.00099"],
    ["FUTURES", "0.018", "0.008", "0.01"],
  ])(
    "but not twice, by an order at the market and by a limit that has its share of it: %s",
    async (type, bought, sold, rest) => {
      await open(type);
      await fixture.does(strategy, places("BUY", bought));
      await sellsHalted(sold);
      // It is sized by all that the copy still has.
      await fixture.does(strategy, places("SELL", rest, { at: "110000" }));
      await fixture.passesAtRest(180_000);
      expect(await brought()).toEqual([]);
      expect(await limits()).toEqual([type === "SPOT" ? "0.00178 NEW" : "0.018 NEW"]);
    },
  );
});

test("an exit that is closed at the market after the seconds that the copier set takes no other exit along", async () => {
  await open("SPOT", {}, { closeAfterSeconds: 30 });
  await fixture.does(strategy, places("BUY", "0.0018"));
  const first = await fixture.does(strategy, places("SELL", "0.0006", { at: "101000" }));
  await fixture.does(strategy, places("SELL", "0.0005", { at: "110000" }));
  await fixture.does(strategy, places("SELL", "0.0006", { stop: "80000" }));
  await fixture.does(strategy, { type: "FillRestingOrder", orderId: first, ...seen("101000") });
  await fixture.passesAtRest(120_000);
  const orders = await fixture.venue.orders(copier.account, BTC);
  expect(orders.slice(1).map(({ type, status }) => `${type} ${status}`)).toEqual([
    "LIMIT CANCELED",
    "LIMIT NEW",
    "STOP_LOSS NEW",
    "MARKET FILLED",
  ]);
  expect((await fixture.log(copier)).at(-1)).toBe("RECONCILE SELL MARKET 0.00059 FILLED executed 0.00059");
});

describe("a copy keeps the stop of its position", () => {
  test("on spot, while a sale that the venue has refused is repeated with the coins that are free", async () => {
    await open("SPOT");
    await fixture.does(strategy, places("BUY", "0.0018"));
    await fixture.does(strategy, places("SELL", "0.001", { stop: "80000" }));
    const met = answers(1, isOrder, refused(-1008, "Server is currently overloaded with other requests."));
    await fixture.does(strategy, places("SELL", "0.0007"), false);
    const held = async () => decimal<Quantity>(await fixture.owned(copier, "BTC"));
    await settles("it is sold", async () => (await held()) < decimal<Quantity>("0.0012"));
    expect(met()).toBe(1);
    const orders = await fixture.venue.orders(copier.account, BTC);
    expect(orders.map(({ type, side, status }) => `${type} ${side} ${status}`)).toEqual([
      "MARKET BUY FILLED",
      "STOP_LOSS SELL NEW",
      "MARKET SELL FILLED",
    ]);
  });

  test("while its own exit is still open and the strategy's is filled", async () => {
    await open("FUTURES");
    await longWithStop();
    const exit = await fixture.does(strategy, { ...places("SELL", "0.05", { at: "101000" }), ...REDUCES });
    await fixture.does(strategy, { type: "FillRestingOrder", orderId: exit, ...seen("101010") });
    await fixture.passes(20_000);
    await fixture.dealtWith(strategy);
    expect((await isFlat()) || (await isProtected())).toBe(true);
    expect(await stopsTaken(copier)).toEqual([]);
  });

  test("under a kill switch, and is closed when it is lifted, since its strategy has left", async () => {
    await open("FUTURES");
    await longWithStop();
    await fixture.halt(strategy);
    await fixture.does(strategy, { ...places("SELL", "0.05"), ...REDUCES });
    expect(await fixture.position(copier, BTC)).toBe("0.05");
    expect(await isProtected()).toBe(true);
    await fixture.unhalt(strategy);
    await settles("the copy is flat", isFlat);
    expect(await stopsTaken(copier)).toEqual([]);
  });

  test("while its key is rejected, and is closed when the copy is resumed", async () => {
    await open("FUTURES");
    await longWithStop();
    const isSigned = ({ apiKey }: WayRequest) => apiKey !== null;
    answers(Number.POSITIVE_INFINITY, isSigned, {
      status: 401,
      body: JSON.stringify({ code: -2015, msg: "Invalid API-key, IP, or permissions for action." }),
    });
    await fixture.does(strategy, { ...places("SELL", "0.05"), ...REDUCES }, false);
    fixture.wake(strategy);
    await settles("the copy is paused", async () => (await fixture.copy(copier)).status === "PAUSED");
    expect(await fixture.copy(copier)).toMatchObject({ reason: "CREDENTIALS" });
    answers(0, isSigned, refused(0, ""));
    const { accountId, personId } = await fixture.copy(copier);
    const sealed = fixture.sealed(accountId, copier.account);
    const renewed = { accountId, personId, sealed, keyHint: "", at: fixture.time.now() };
    expect(await fixture.store.copying.replaceCredentials(renewed, audit(accountId))).toBe("REPLACED");
    await fixture.changeCopy(copier, strategy, "FOLLOWING", null);
    await settles("the copy is flat", isFlat);
    expect(await stopsTaken(copier)).toEqual([]);
  });
});

describe("the trouble of one request is no other's", () => {
  test("an exit is not delayed by the entry of another symbol that the venue does not answer", async () => {
    await open("FUTURES");
    await fixture.does(strategy, { type: "ChangeLeverage", symbol: ETH, leverage: 10 });
    await fixture.does(strategy, places("BUY", "0.5", { symbol: ETH }));
    expect(await fixture.position(copier, ETH)).toBe("0.5");
    const isOfBtc = ({ method, path, parameters }: WayRequest) =>
      method === "POST" && path === ORDER && parameters.get("symbol") === BTC;
    answers(Number.POSITIVE_INFINITY, isOfBtc, {
      status: 503,
      body: JSON.stringify({ code: -1007, msg: "Timeout waiting for response from backend server." }),
    });
    await fixture.does(strategy, places("BUY", "0.002"), false);
    await fixture.does(strategy, places("SELL", "0.5", { symbol: ETH }), false);
    fixture.wake(strategy);
    await within(2_000, "the exit is carried out", () => isFlat(ETH));
  });

  test("a 401 without the venue's code does not pause a copy", async () => {
    await open("SPOT");
    await fixture.does(strategy, places("BUY", "0.0005"));
    const met = answers(1, ({ apiKey }) => apiKey !== null, {
      status: 401,
      body: "<html><body>401 Authorization Required</body></html>",
      headers: { "content-type": "text/html" },
    });
    await settles("it was met", async () => met() === 1);
    await fixture.passes(5_000);
    await fixture.does(strategy, places("BUY", "0.0002"));
    expect(await fixture.copy(copier)).toMatchObject({ status: "FOLLOWING" });
    expect((await fixture.log(copier)).at(-1)).toContain("FILLED");
  });
});

describe("an order that the venue executes and does not show is sent once", () => {
  const hide = { first: 1, every: 1_000_000, leastMs: 30_000, mostMs: 30_000 };

  test.each<[StrategyType, string, () => Promise<string>]>([
    ["FUTURES", "0.002", () => fixture.position(copier, BTC)],
    ["SPOT", "0.000999", () => fixture.owned(copier, "BTC")],
  ])("%s", async (type, expected, held) => {
    await open(type, { hide });
    await fixture.does(strategy, places("BUY", type === "SPOT" ? "0.001" : "0.002"), false);
    fixture.wake(strategy);
    await settles("it is executed", async () => (await held()) !== "0");
    // The venue shows it after half a minute; any repeat has been sent before that.
    await fixture.passes(90_000);
    await settles(
      "the copy knows what it has",
      async () => (await fixture.holds(copier, BTC)) === (await held()),
    );
    expect(way.exchange.met.HIDE).toBe(1);
    expect([...way.accepted.values()]).toEqual([1]);
    expect(await held()).toBe(expected);
  });
});

test("a sale that the venue has refused for long, and then executes and does not show, is made once", async () => {
  await open("SPOT", { hide: { first: 2, every: 1_000_000, leastMs: 60_000, mostMs: 60_000 } });
  await fixture.does(strategy, places("BUY", "0.001"));
  answers(Number.POSITIVE_INFINITY, isOrder, refused(-1008, "Server is currently overloaded."));
  await fixture.does(strategy, places("SELL", "0.0004"));
  await fixture.passes(UNCONFIRMED_MS_MAX + 60_000);
  answers(0, isOrder, refused(0, ""));
  await settles("it is executed", async () => (await fixture.owned(copier, "BTC")) !== "0.000999");
  await fixture.passesAtRest(120_000);
  expect(way.exchange.met.HIDE).toBe(1);
  expect([...way.accepted.values()]).toEqual([1, 1]);
  expect(await fixture.owned(copier, "BTC")).toBe("0.000609");
  expect((await fixture.log(copier)).at(-1)).toBe("RECONCILE SELL MARKET 0.00039 FILLED executed 0.00039");
});

test("an order that the venue executes, does not show and liquidates at once is not sent again", async () => {
  await open("FUTURES", { hide: { first: 1, every: 1_000_000, leastMs: 60_000, mostMs: 60_000 } });
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: BTC, leverage: 100 });
  await fixture.does(strategy, places("BUY", "0.1"), false);
  fixture.wake(strategy);
  await settles("it is executed", async () => (await fixture.position(copier, BTC)) !== "0");
  await fixture.venue.liquidate(copier.account, BTC, "98900");
  expect(await fixture.position(copier, BTC)).toBe("0");
  await fixture.passes(90_000);
  expect([...way.accepted.values()]).toEqual([1]);
  expect(await fixture.position(copier, BTC)).toBe("0");
});

test("of two orders that the venue does not show, the position tells which was executed", async () => {
  await open("FUTURES", { hide: { first: 1, every: 1, leastMs: 60_000, mostMs: 60_000 } });
  await fixture.does(strategy, places("BUY", "0.001", { at: "90000" }), false);
  await fixture.does(strategy, places("BUY", "0.002"), false);
  fixture.wake(strategy);
  const executed = async (orderType: string) =>
    (await fixture.entries(copier)).find((entry) => entry.orderType === orderType)?.executedQuantity;
  await settles("the second is booked", async () => (await executed("MARKET")) === decimal("0.002"));
  expect(await executed("LIMIT")).toBe(0n);
  expect(way.exchange.met.HIDE).toBe(2);
});

test("exits are sized on what other open exits have not promised yet", async () => {
  await open("FUTURES");
  await fixture.does(strategy, { type: "ChangeLeverage", symbol: BTC, leverage: 20 });
  await fixture.does(strategy, places("BUY", "0.1"));
  await fixture.does(strategy, { ...places("SELL", "0.04", { at: "101000" }), ...REDUCES });
  const [exit] = (await fixture.entries(copier)).slice(-1);
  await fixture.venue.fill(copier.account, exit?.venueOrderId ?? "", "101000");
  await fixture.ask(copier, strategy, { kind: "LOOK" });
  expect(await fixture.holds(copier, BTC)).toBe("0.06");
  // The copy's first exit is filled, the strategy's is not: both still have 0.06 to offer.
  await fixture.does(strategy, { ...places("SELL", "0.04", { at: "102000" }), ...REDUCES });
  expect((await fixture.entries(copier)).at(-1)).toMatchObject({
    ...{ kind: "PLACE", status: "RESTING" },
    quantity: decimal("0.04"),
  });
});

test("a limit that is still open at the strategy is placed, however late", async () => {
  await open("SPOT");
  await fixture.does(strategy, places("BUY", "0.0005"));
  await fixture.stop();
  await fixture.does(strategy, places("BUY", "0.0005", { at: "90000" }));
  fixture.time.advance(75_000);
  await fixture.start();
  await fixture.dealtWith(strategy);
  expect((await fixture.log(copier)).at(-1)).toBe("PLACE BUY LIMIT 0.0005 RESTING");
});
