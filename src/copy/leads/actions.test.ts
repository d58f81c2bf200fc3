import { describe, expect, test } from "vitest";
import {
  ContractMarket,
  cleanFixtures,
  createFixture,
  executed,
  type createFixture as openFixture,
  StubMarket,
} from "../../desk/testing/fixture.ts";
import type { StrategyType } from "../../domain/account.ts";
import { collectiveId } from "../../domain/collective-id.ts";
import type { Command, EntryOptions, PlaceLeg, PlaceOrder } from "../../domain/command.ts";
import type { LeadAction } from "../../domain/copying.ts";
import type { OrderExpired, OrderFilled } from "../../domain/event.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type { JournalEntry } from "../../domain/strategy.ts";
import { decide } from "../../engine/decide.ts";
import { STRICT_FUTURES, STRICT_SPOT } from "../../engine/testing/strict-steps.ts";
import { type ScenarioSetup, Workbench } from "../../engine/testing/workbench.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { actionsOf } from "./actions.ts";
import { wordsOf } from "./testing/action-words.ts";
import { replay } from "./testing/replay.ts";

cleanFixtures();

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** The actions of the whole journal of a strategy, without its state. */
async function intentsOf(fixture: Fixture, strategyId: string, type: StrategyType): Promise<string[]> {
  return (await linesOf(fixture, strategyId, type)).map((line) => line.replace(/ \|.*/, ""));
}

async function linesOf({ store }: Fixture, strategyId: string, type: StrategyType): Promise<string[]> {
  const entries = await store.listEntries(strategyId);
  return replay({ strategyId, type }, entries).actions.map(wordsOf);
}

async function carryOut(
  { desk }: Fixture,
  strategyId: string,
  ...commands: readonly Command[]
): Promise<void> {
  for (const command of commands) executed(await desk.execute(strategyId, command));
}

let lastClientId = 0;

function order(
  side: "BUY" | "SELL",
  quantity: string,
  { price, stopPrice, entry }: { price?: string; stopPrice?: string; entry?: Partial<EntryOptions> } = {},
): PlaceOrder {
  lastClientId += 1;
  const plain = price === undefined ? "MARKET" : "LIMIT";
  const stop = price === undefined ? "STOP_LOSS" : "STOP_LOSS_LIMIT";
  return {
    type: "PlaceOrder",
    symbol: "BTCUSDT",
    side,
    orderType: stopPrice === undefined ? plain : stop,
    size: { quantity: decimal(quantity) },
    price: price === undefined ? null : decimal(price),
    stopPrice: stopPrice === undefined ? null : decimal(stopPrice),
    clientOrderId: `c${lastClientId}`,
    ...(entry && { entry: { reduceOnly: false, attached: null, leverage: null, ...entry } }),
  };
}

const seen = (price: string): { readonly seen: Price } => ({ seen: decimal(price) });

describe("what a spot strategy does", () => {
  test("orders that are filled, that are filled later, and that are canceled", async () => {
    const at = await createFixture();
    await carryOut(
      at,
      "one",
      order("BUY", "1"),
      order("SELL", "0.4", { price: "105" }),
      order("BUY", "0.5", { price: "90" }),
      { type: "FillRestingOrder", orderId: 2, ...seen("105") },
      { type: "CancelOrder", orderId: 3 },
    );
    expect(await linesOf(at, "one", "SPOT")).toEqual([
      "PLACE 1 BUY MARKET 1 filled 1 @ 100 | 200 USDT",
      "PLACE 2 SELL LIMIT 0.4 limit 105 | 100 USDT, 0.999 BTC, BTCUSDT 100",
      "PLACE 3 BUY LIMIT 0.5 limit 90 | 100 USDT, 0.999 BTC, BTCUSDT 100, exits for 0.4 BTCUSDT",
      "FILL 2 SELL 0.4 @ 105 | 100 USDT, 0.999 BTC, BTCUSDT 100, exits for 0.4 BTCUSDT",
      "CANCEL 3 CANCELED | 141.958 USDT, 0.599 BTC, BTCUSDT 105",
    ]);
  });

  test("each exit has what earlier exits have promised and not sold yet", async () => {
    const at = await createFixture();
    await carryOut(
      at,
      "one",
      order("BUY", "1"),
      order("SELL", "0.3", { price: "105" }),
      order("SELL", "0.4", { price: "106" }),
      { type: "FillRestingOrder", orderId: 2, ...seen("105") },
      order("SELL", "0.1", { price: "107" }),
    );
    const promised = (await linesOf(at, "one", "SPOT")).map((line) => /exits for (.*)/.exec(line)?.[1]);
    const [, first, second, , third] = promised;
    expect([first, second, third]).toEqual([undefined, "0.3 BTCUSDT", "0.4 BTCUSDT"]);
  });

  test("an order by its quote amount is for what it bought", async () => {
    const at = await createFixture();
    await carryOut(at, "one", { ...order("BUY", "1"), size: { quoteQuantity: decimal("50") } });
    expect(await intentsOf(at, "one", "SPOT")).toEqual(["PLACE 1 BUY MARKET 0.5 filled 0.5 @ 100"]);
  });

  test("a sale that leaves dust alone empties, and one that leaves more does not", async () => {
    const at = await createFixture();
    await carryOut(
      at,
      "one",
      order("BUY", "1"),
      order("SELL", "0.5", { price: "105" }),
      order("SELL", "0.49", { price: "105" }),
      { type: "FillRestingOrder", orderId: 2, ...seen("105") },
      { type: "FillRestingOrder", orderId: 3, ...seen("105") },
    );
    // The remainder is 0.009 BTC at 105, less than a unit of the quote asset.
    expect((await intentsOf(at, "one", "SPOT")).slice(-2)).toEqual([
      "FILL 2 SELL 0.5 @ 105",
      "FILL 3 SELL 0.49 @ 105 empties",
    ]);
  });

  test("a triggered and filled stop is a fill, one that only becomes open nothing, one that is not permitted a cancellation", async () => {
    const market = new StubMarket();
    market.trade("BTCUSDT", "100");
    const at = await createFixture({ market });
    await carryOut(
      at,
      "one",
      order("BUY", "1"),
      order("SELL", "0.2", { stopPrice: "95" }),
      order("SELL", "0.2", { stopPrice: "95", price: "120" }),
      order("BUY", "0.4", { stopPrice: "110" }),
      { type: "TriggerStop", orderId: 2, ...seen("95") },
      { type: "TriggerStop", orderId: 3, ...seen("95") },
    );
    market.show("BTCUSDT", "990", "1000");
    await carryOut(at, "one", { type: "TriggerStop", orderId: 4, ...seen("110") });
    expect(await intentsOf(at, "one", "SPOT")).toEqual([
      "PLACE 1 BUY MARKET 1 filled 1 @ 100",
      "PLACE 2 SELL STOP_LOSS 0.2 stop 95",
      "PLACE 3 SELL STOP_LOSS_LIMIT 0.2 limit 120 stop 95",
      "PLACE 4 BUY STOP_LOSS 0.4 stop 110",
      "FILL 2 SELL 0.2 @ 99",
      "CANCEL 4 EXPIRED",
    ]);
  });

  test("a signal's order is as good as any other", async () => {
    const at = await createFixture();
    const signal = { signalId: "s", processedAt: 5, order: order("BUY", "1") };
    await carryOut(at, "one", { type: "ExecuteSignal", ...signal });
    const tooLarge = { ...signal, signalId: "t", order: order("BUY", "100") };
    await carryOut(at, "one", { type: "ExecuteSignal", ...tooLarge });
    expect(await intentsOf(at, "one", "SPOT")).toEqual(["PLACE 1 BUY MARKET 1 filled 1 @ 100"]);
  });

  test("closing is one action, however long it takes and whatever it sells", async () => {
    const market = new StubMarket();
    const at = await createFixture({ market });
    await carryOut(at, "one", order("BUY", "1"), order("BUY", "0.1", { price: "90" }));
    market.silence("BTCUSDT");
    await carryOut(at, "one", { type: "CloseStrategy" });
    market.show("BTCUSDT", "99", "100");
    await carryOut(at, "one", { type: "CloseStrategy" });
    expect((await at.store.loadAccount("one"))?.account.status).toBe("CLOSED");
    expect((await linesOf(at, "one", "SPOT")).slice(2)).toEqual(["CLOSE | 100 USDT, 0.999 BTC, BTCUSDT 100"]);
  });
});

describe("what a futures strategy does", () => {
  const leg = (legType: PlaceLeg["legType"], triggerPrice: string): PlaceLeg => ({
    type: "PlaceLeg",
    symbol: "BTCUSDT",
    side: "SELL",
    legType,
    triggerPrice: decimal(triggerPrice),
    clientLegId: `leg-${triggerPrice}`,
  });
  const open = () => createFixture({ futures: ["one"], strategies: [], contracts: new ContractMarket() });

  test("an entry with a leverage and legs, and the leg that fires before its sibling is taken back", async () => {
    const at = await open();
    const attached = { takeProfitPrice: decimal<Price>("110"), stopLossPrice: decimal<Price>("90") };
    await carryOut(at, "one", order("BUY", "2", { entry: { leverage: 5, attached } }), {
      type: "TriggerLeg",
      legId: 2,
      ...seen("90"),
    });
    expect(await linesOf(at, "one", "FUTURES")).toEqual([
      "SET_LEVERAGE BTCUSDT 5 | 1000 USDT",
      "PLACE 1 BUY MARKET 2 5x filled 2 @ 100 | 1000 USDT",
      "PLACE_LEG 2 SELL STOP_MARKET 90 | 999.9 USDT, 2 BTCUSDT, BTCUSDT 100",
      "PLACE_LEG 3 SELL TAKE_PROFIT_MARKET 110 | 999.9 USDT, 2 BTCUSDT, BTCUSDT 100",
      "FIRE_LEG 2 SELL 2 @ 99 | 999.9 USDT, 2 BTCUSDT, BTCUSDT 100",
      "CANCEL_LEG 3 | 997.801 USDT",
    ]);
  });

  test("the legs of an open entry are mirrored once they are armed, and never if they are not", async () => {
    const at = await open();
    const entry = {
      attached: { takeProfitPrice: decimal<Price>("110"), stopLossPrice: decimal<Price>("80") },
    };
    const stopOnly = { attached: { takeProfitPrice: null, stopLossPrice: decimal<Price>("85") } };
    await carryOut(
      at,
      "one",
      order("BUY", "2", { price: "95", entry }),
      order("BUY", "1", { price: "94", entry: stopOnly }),
      order("BUY", "1", { price: "93", entry: stopOnly }),
      { type: "CancelLeg", legId: 3 },
      { type: "CancelOrder", orderId: 6 },
      { type: "FillRestingOrder", orderId: 1, ...seen("95") },
      { type: "FillRestingOrder", orderId: 4, ...seen("94") },
      { type: "CancelLeg", legId: 2 },
    );
    expect(await intentsOf(at, "one", "FUTURES")).toEqual([
      "PLACE 1 BUY LIMIT 2 limit 95 20x",
      "PLACE 4 BUY LIMIT 1 limit 94 20x",
      "PLACE 6 BUY LIMIT 1 limit 93 20x",
      "CANCEL 6 CANCELED",
      "FILL 1 BUY 2 @ 95",
      "PLACE_LEG 2 SELL STOP_MARKET 80",
      "FILL 4 BUY 1 @ 94",
      "CANCEL_LEG 2",
    ]);
  });

  test("legs and orders have the collective id of their own number", async () => {
    const at = await open();
    await carryOut(at, "one", order("BUY", "2"), leg("STOP_MARKET", "90"), {
      type: "TriggerLeg",
      legId: 2,
      ...seen("90"),
    });
    const { actions } = replay({ strategyId: "one", type: "FUTURES" }, await at.store.listEntries("one"));
    expect(actions.map((action) => "collectiveId" in action && action.collectiveId)).toEqual(
      [1, 2, 2].map((number) => collectiveId("one", number)),
    );
  });

  test("what closes a position comes before the legs and the reduce-only orders that go with it", async () => {
    const at = await open();
    await carryOut(
      at,
      "one",
      order("BUY", "2"),
      leg("STOP_MARKET", "90"),
      order("SELL", "2", { price: "120", entry: { reduceOnly: true } }),
      order("SELL", "2", { price: "101" }),
      { type: "FillRestingOrder", orderId: 4, ...seen("101") },
    );
    expect((await intentsOf(at, "one", "FUTURES")).slice(1)).toEqual([
      "PLACE_LEG 2 SELL STOP_MARKET 90",
      "PLACE 3 SELL LIMIT 2 limit 120 reduceOnly 20x",
      "PLACE 4 SELL LIMIT 2 limit 101 20x",
      "FILL 4 SELL 2 @ 101 empties",
      "CANCEL_LEG 2",
      "CANCEL 3 EXPIRED",
    ]);
  });

  test("of a contract only orders against the position are exits", async () => {
    const at = await open();
    await carryOut(
      at,
      "one",
      order("SELL", "2"),
      order("BUY", "0.5", { price: "90", entry: { reduceOnly: true } }),
      order("SELL", "1", { price: "110" }),
      order("BUY", "1", { price: "80" }),
    );
    expect((await linesOf(at, "one", "FUTURES")).at(-1)).toMatch(/-2 BTCUSDT.*exits for 0\.5 BTCUSDT$/);
  });

  test("an order through zero takes the old leg with it, and does not empty", async () => {
    const at = await open();
    await carryOut(
      at,
      "one",
      order("BUY", "2"),
      leg("STOP_MARKET", "90"),
      order("SELL", "5", { price: "101" }),
      {
        type: "FillRestingOrder",
        orderId: 3,
        ...seen("101"),
      },
    );
    expect((await linesOf(at, "one", "FUTURES")).slice(-2)).toEqual([
      "FILL 3 SELL 5 @ 101 | 999.9 USDT, 2 BTCUSDT, BTCUSDT 100, exits for 5 BTCUSDT",
      "CANCEL_LEG 2 | 1001.799 USDT, -3 BTCUSDT, BTCUSDT 101",
    ]);
  });

  test("a liquidation cancels open orders before it, and cancels the legs after it", async () => {
    const at = await open();
    await carryOut(
      at,
      "one",
      order("BUY", "2"),
      leg("STOP_MARKET", "90"),
      order("BUY", "1", { price: "80" }),
      {
        type: "LiquidatePosition",
        symbol: "BTCUSDT",
        ...seen("50"),
      },
    );
    const lines = await linesOf(at, "one", "FUTURES");
    expect(lines.map((line) => line.split(" ").slice(0, 2).join(" ")).slice(3)).toEqual([
      "CANCEL 3",
      "LIQUIDATE 4",
      "CANCEL_LEG 2",
    ]);
    expect(lines.at(-2)).toMatch(/\| 999\.9 USDT, 2 BTCUSDT, BTCUSDT 100$/);
    // The mark price is beyond the bankruptcy price: the whole margin of 10 is lost, the fee of 0.1 within
    // it.
    expect(lines.at(-1)).toMatch(/\| 990 USDT$/);
  });

  test("a changed leverage is one, and closing with positions is one action", async () => {
    const at = await open();
    await carryOut(
      at,
      "one",
      { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 10 },
      order("BUY", "2"),
      leg("STOP_MARKET", "90"),
      { type: "CloseStrategy" },
    );
    expect(await intentsOf(at, "one", "FUTURES")).toEqual([
      "SET_LEVERAGE BTCUSDT 10",
      "PLACE 1 BUY MARKET 2 10x filled 2 @ 100",
      "PLACE_LEG 2 SELL STOP_MARKET 90",
      "CLOSE",
    ]);
  });
});

describe("an order that ends in the entry that placed it", () => {
  /** An entry of the engine's own, its order cut short: filled by as much at a price each, and expired. */
  async function cutShort(...fills: readonly (readonly [quantity: string, price: string])[]) {
    const at = await createFixture();
    await carryOut(at, "one", order("BUY", "1"));
    const [opening, entry] = await at.store.listEntries("one");
    const [placed, filled] = entry?.events ?? [];
    if (opening === undefined || entry === undefined || placed?.type !== "OrderPlaced")
      throw new Error("it was placed");
    const { trade } = filled as OrderFilled;
    const trades: OrderFilled[] = fills.map(([quantity, price], index) => ({
      ...(filled as OrderFilled),
      trade: { ...trade, tradeId: index + 1, quantity: decimal(quantity), price: decimal(price) },
      postings: [],
    }));
    const expired: OrderExpired = {
      type: "OrderExpired",
      at: entry.at,
      orderId: placed.order.orderId,
      reason: "BOOK_EMPTY",
      postings: [],
    };
    const entries: JournalEntry[] = [opening, { ...entry, events: [placed, ...trades, expired] }];
    return replay({ strategyId: "one", type: "SPOT" }, entries).actions.map(wordsOf);
  }

  test("is for what was executed of it, at the average rounded down", async () => {
    expect(await cutShort(["0.2", "100"], ["0.1", "101"])).toEqual([
      "PLACE 1 BUY MARKET 0.3 filled 0.3 @ 100.33333333 | 200 USDT",
    ]);
  });

  test("is no action if nothing of it was executed", async () => {
    expect(await cutShort()).toEqual([]);
  });
});

/** A workbench under `strict` whose account is changed by the translation of its entries. */
class LeadBench extends Workbench {
  readonly actions: LeadAction[] = [];
  #version = 1;

  override carryOut(command: Command): string {
    const decision = decide(this.account, command, { market: this.market, at: this.at });
    if (isRefusal(decision)) return decision.refusal;
    this.#version += 1;
    const entry = { version: this.#version, at: this.at, events: decision.events };
    this.actions.push(...actionsOf(this.account, this.actions.at(-1) ?? null, entry));
    return "carried out";
  }
}

function intentsUnder(setup: ScenarioSetup, steps: readonly string[]): string[] {
  const bench = new LeadBench(setup);
  for (const step of steps) bench.take(step);
  return bench.actions.map((action) => wordsOf(action).replace(/ \|.*/, ""));
}

describe("what a strategy under strict does", () => {
  const BOOK = [
    ...["asks BTCUSDT 60000x0.0005 60001x0.0005", "bids BTCUSDT 59999x1 59998x5"],
    ...["average BTCUSDT 60000", "grant 200 USDT"],
  ];

  test.each<[what: string, steps: string[], intents: string[]]>([
    [
      "an order that the book ends counts with what was executed",
      ["buy 0.002 BTCUSDT"],
      ["PLACE 1 BUY MARKET 0.001 filled 0.001 @ 60000.5"],
    ],
    [
      "an order that is filled in parts is placed once",
      ["buy 0.002 BTCUSDT @ 60000", "seller 0.001 BTCUSDT @ 60000", "seller 1 BTCUSDT @ 60000"],
      [
        "PLACE 1 BUY LIMIT 0.002 limit 60000 filled 0.0005 @ 60000",
        "FILL 1 BUY 0.001 @ 60000",
        "FILL 1 BUY 0.0005 @ 60000",
      ],
    ],
    [
      "the cancel of an order that was filled in part at its placement says how much",
      ["buy 0.002 BTCUSDT @ 60000", "cancel 1"],
      [
        "PLACE 1 BUY LIMIT 0.002 limit 60000 filled 0.0005 @ 60000",
        "CANCEL 1 CANCELED executed 0.0005 of 0.002",
      ],
    ],
    [
      "the cancel of an order that was filled in part later says how much, too",
      ["buy 0.002 BTCUSDT @ 60000", "seller 0.001 BTCUSDT @ 60000", "cancel 1"],
      [
        "PLACE 1 BUY LIMIT 0.002 limit 60000 filled 0.0005 @ 60000",
        "FILL 1 BUY 0.001 @ 60000",
        "CANCEL 1 CANCELED executed 0.0015 of 0.002",
      ],
    ],
    ["an order that executes nothing is none", ["buy 0.002 BTCUSDT @ 60000 FOK"], []],
    [
      "an order that never takes is copied as an ordinary limit",
      ["buy 0.002 BTCUSDT @ 59000 maker"],
      ["PLACE 1 BUY LIMIT 0.002 limit 59000"],
    ],
  ])("%s", (_what, steps, intents) => {
    expect(intentsUnder(STRICT_SPOT, [...BOOK, ...steps])).toEqual(intents);
  });

  const CONTRACT = [
    ...["asks BTCUSDT 60000x1", "bids BTCUSDT 60000x1", "mark BTCUSDT 60000", "leverage BTCUSDT 20"],
    ...["buy 0.008 BTCUSDT", "stop sell BTCUSDT 59000"],
  ];

  test.each<[what: string, bids: string, intents: string[]]>([
    ["whole: it closes the position", "59000x1", ["FIRE_LEG 2 SELL 0.008 @ 59000"]],
    [
      "in part: the leg is over, and its order is a placement",
      "59000x0.003",
      ["PLACE 3 SELL MARKET 0.003 reduceOnly 20x filled 0.003 @ 59000", "CANCEL_LEG 2"],
    ],
    ["not at all: it stays open, and is tried again", "10000x1", []],
  ])("a leg that fires and is filled %s", (_what, bids, intents) => {
    const fired = [`bids BTCUSDT ${bids}`, "mark BTCUSDT 59000"];
    expect(intentsUnder(STRICT_FUTURES, [...CONTRACT, ...fired]).slice(3)).toEqual(intents);
  });
});
