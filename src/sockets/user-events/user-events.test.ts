// What an act sends, in which order and with which figures, as the tables of the reference say (sections 6.4
// to 6.6 and 7.3 to 7.6). Scenarios are written in the steps of the engine's scenarios.
import { describe, expect, test } from "vitest";
import type { Command } from "../../domain/command.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { decide } from "../../engine/decide.ts";
import { FUTURES } from "../../engine/testing/futures-setup.ts";
import { SPOT } from "../../engine/testing/spot-setup.ts";
import { STRICT_FUTURES, STRICT_SPOT } from "../../engine/testing/strict-steps.ts";
import { type ScenarioSetup, Workbench } from "../../engine/testing/workbench.ts";
import type { UserEvent } from "./event.ts";
import { futuresEvents } from "./futures.ts";
import { marginCall } from "./margin-call.ts";
import { spotEvents } from "./spot.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever an event has.
type Body = any;

/** A workbench whose account is changed by the translation, and what that has sent. */
class ListeningBench extends Workbench {
  heard: UserEvent[] = [];
  /** When events are sent, market time in Unix ms. */
  now = 0;
  #version = 1;

  override carryOut(command: Command): string {
    const decision = decide(this.account, command, { market: this.market, at: this.at });
    if (isRefusal(decision)) return decision.refusal;
    if (decision.events.length === 0) return "nothing";
    this.#version += 1;
    const translate = this.account.type === "SPOT" ? spotEvents : futuresEvents;
    const entry = { version: this.#version, events: decision.events };
    this.heard.push(...translate(this.account, entry, { now: this.now, market: this.marked() }));
    return "carried out";
  }

  marked() {
    return {
      rules: (symbol: string) => this.market.rules(symbol),
      lastMarkPrice: (symbol: string) => this.market.markPrice(symbol),
    };
  }
}

/** What the last of some steps sends. */
function eventsOf(setup: ScenarioSetup, steps: readonly string[], now = 0): Body[] {
  const bench = new ListeningBench(setup);
  bench.now = now;
  for (const step of steps) {
    bench.heard = [];
    bench.take(step);
  }
  return bench.heard.map(({ name, text }) => {
    const body = JSON.parse(text);
    expect(body.e).toBe(name);
    return body;
  });
}

function inWords(body: Body): string {
  switch (body.e) {
    case "executionReport": {
      const { x, X, i, w, m, W, eR } = body;
      const marks = [w && "book", m && "maker", W === undefined && "waits", eR].filter(Boolean);
      return [x, i, ...(x === X ? [] : [X]), ...marks].join(" ");
    }
    case "outboundAccountPosition":
      return `balances ${body.B.map(({ a, f, l }: Body) => `${a} ${Number(f)}+${Number(l)}`).join(", ")}`;
    case "ORDER_TRADE_UPDATE": {
      const { x, X, i, o, m, er } = body.o;
      const marks = [m && "maker", o === "LIQUIDATION" && o, er !== "0" && `er ${er}`].filter(Boolean);
      return [x, i, ...(x === X ? [] : [X]), ...marks].join(" ");
    }
    case "TRADE_LITE":
      return `lite ${body.t}`;
    case "ACCOUNT_UPDATE":
      return [body.a.m, ...body.a.P.map(({ s, pa }: Body) => `${s} ${Number(pa)}`)].join(" ");
    case "ALGO_UPDATE":
      return ["algo", body.o.aid, body.o.X, ...(body.o.rm === undefined ? [] : [body.o.rm])].join(" ");
    case "ACCOUNT_CONFIG_UPDATE":
      return `leverage ${body.ac.s} ${body.ac.l}`;
    default:
      throw new Error(`an event without words: ${body.e}`);
  }
}

const QUOTED = ["quote BTCUSDT 60000 60000", "average BTCUSDT 60000", "trade BTCUSDT 60000"];

describe("an act on spot sends", () => {
  test.each<[what: string, steps: string[], sent: string[]]>([
    ["a limit that stays open", ["buy 0.001 BTCUSDT @ 50000"], ["NEW 1 book", "balances USDT 150+50"]],
    [
      "a market order",
      ["buy 0.001 BTCUSDT"],
      ["NEW 1 book", "TRADE 1 FILLED", "balances USDT 140+0, BTC 0.000999+0"],
    ],
    [
      "a limit that is filled at once",
      ["buy 0.001 BTCUSDT @ 61000"],
      ["NEW 1 book", "TRADE 1 FILLED", "balances USDT 140+0, BTC 0.000999+0"],
    ],
    [
      "an open limit that is filled",
      ["buy 0.001 BTCUSDT @ 50000", "quote BTCUSDT 49000 50000"],
      ["TRADE 1 FILLED maker", "balances USDT 150+0, BTC 0.000999+0"],
    ],
    ["a cancel", ["buy 0.001 BTCUSDT @ 50000", "cancel 1"], ["CANCELED 1", "balances USDT 200+0"]],
    [
      "a cancel of all, one report an order and the balances once",
      ["buy 0.001 BTCUSDT @ 50000", "buy 0.001 BTCUSDT @ 49000", "cancel all BTCUSDT"],
      ["CANCELED 1", "CANCELED 2", "balances USDT 200+0"],
    ],
    ["a stop that waits", ["buy 0.001 BTCUSDT stop 61000"], ["NEW 1 waits", "balances USDT 139+61"]],
    [
      "a stop that is triggered",
      ["buy 0.001 BTCUSDT stop 60100", "trade BTCUSDT 60100"],
      ["NEW 1 book", "TRADE 1 FILLED", "balances USDT 140+0, BTC 0.000999+0"],
    ],
    [
      "a stop that is triggered and cannot be filled any more",
      ["buy 0.001 BTCUSDT stop 60100", "empty BTCUSDT ask", "trade BTCUSDT 60100"],
      ["NEW 1 book", "EXPIRED 1 INSUFFICIENT_LIQUIDITY", "balances USDT 200+0"],
    ],
    [
      "a stop-limit that is triggered and stays open",
      ["buy 0.001 BTCUSDT stop 60100 @ 59000", "trade BTCUSDT 60100"],
      ["NEW 1 book", "balances USDT 141+59"],
    ],
    [
      "a close",
      ["buy 0.001 BTCUSDT", "buy 0.001 BTCUSDT @ 50000", "close"],
      ["CANCELED 2", "NEW 3 book", "TRADE 3 FILLED", "balances USDT 199.3406+0, BTC 0.000009+0"],
    ],
    ["an order that is refused: nothing", ["buy 1 BTCUSDT @ 50000"], []],
  ])("%s", (_what, steps, sent) => {
    expect(eventsOf(SPOT, [...QUOTED, ...steps]).map(inWords)).toEqual(sent);
  });

  test("the report of the reference's example", () => {
    const [placed, filled, balances] = eventsOf(SPOT, [...QUOTED, "buy 0.001 BTCUSDT"], 1_000);
    const order = {
      ...{ e: "executionReport", E: 1_000, s: "BTCUSDT", c: "step-4", S: "BUY", o: "MARKET", f: "GTC" },
      ...{ q: "0.00100000", p: "0.00000000", P: "0.00000000", F: "0.00000000", g: -1, C: "", r: "NONE" },
      ...{ i: 1, T: 4, O: 4, Q: "0.00000000", W: 4, V: "NONE" },
    };
    expect(filled).toEqual({
      ...order,
      ...{ x: "TRADE", X: "FILLED", l: "0.00100000", z: "0.00100000", L: "60000.00000000" },
      ...{ n: "0.00000100", N: "BTC", t: 1, I: 131_073, w: false, m: false, M: true },
      ...{ Z: "60.00000000", Y: "60.00000000" },
    });
    expect(placed).toEqual({
      ...order,
      ...{ x: "NEW", X: "NEW", l: "0.00000000", z: "0.00000000", L: "0.00000000", n: "0", N: null, t: -1 },
      ...{ I: 131_072, w: true, m: false, M: false, Z: "0.00000000", Y: "0.00000000" },
    });
    expect(balances).toEqual({
      e: "outboundAccountPosition",
      E: 1_000,
      u: 4,
      B: [
        { a: "USDT", f: "140.00000000", l: "0.00000000" },
        { a: "BTC", f: "0.00099900", l: "0.00000000" },
      ],
    });
    expect(Object.keys(filled).join("")).toBe("eEscSofqpPFgCxXrilzLnNTtIwmMOZYQWV");
  });

  test("a cancel has an id of its own, the same on every server", () => {
    const steps = [...QUOTED, "buy 0.001 BTCUSDT @ 50000", "cancel 1"];
    const [one] = eventsOf(SPOT, steps);
    const [other] = eventsOf(SPOT, steps, 9_999);
    expect(one.C).toBe("step-4");
    expect(one.c).toMatch(/^[a-z0-9]{22}$/);
    expect(other).toEqual({ ...one, E: 9_999 });
  });
});

const MARKED = ["quote BTCUSDT 60000 60000", "mark BTCUSDT 60000", "leverage BTCUSDT 10"];
const LONG = "buy 0.1 BTCUSDT";

describe("an act on futures sends", () => {
  test.each<[what: string, steps: string[], sent: string[]]>([
    ["a leverage", ["leverage BTCUSDT 5"], ["leverage BTCUSDT 5"]],
    ["a limit that stays open", ["buy 0.1 BTCUSDT @ 59000"], ["NEW 1"]],
    ["its cancel", ["buy 0.1 BTCUSDT @ 59000", "cancel 1"], ["CANCELED 1"]],
    ["a market order", [LONG], ["NEW 1", "lite 1", "ORDER BTCUSDT 0.1", "TRADE 1 FILLED"]],
    [
      "an open limit that is filled",
      ["buy 0.1 BTCUSDT @ 59000", "quote BTCUSDT 58900 59000"],
      ["lite 1", "ORDER BTCUSDT 0.1", "TRADE 1 FILLED maker"],
    ],
    [
      "a close of the whole position, which is a row of zero",
      [LONG, "sell 0.1 BTCUSDT reduce"],
      ["NEW 2", "lite 2", "ORDER BTCUSDT 0", "TRADE 2 FILLED"],
    ],
    ["a leg", [LONG, "stop sell BTCUSDT 58000"], ["algo 2 NEW"]],
    ["its cancel", [LONG, "stop sell BTCUSDT 58000", "cancel leg 2"], ["algo 2 CANCELED"]],
    [
      "an entry with legs that stays open",
      ["buy 0.1 BTCUSDT @ 59000 sl 58000 tp 65000"],
      ["NEW 1", "algo 2 NEW", "algo 3 NEW"],
    ],
    [
      "its fill: its legs are NEW already",
      ["buy 0.1 BTCUSDT @ 59000 sl 58000 tp 65000", "quote BTCUSDT 58900 59000"],
      ["lite 1", "ORDER BTCUSDT 0.1", "TRADE 1 FILLED maker"],
    ],
    [
      "its cancel",
      ["buy 0.1 BTCUSDT @ 59000 sl 58000 tp 65000", "cancel 1"],
      ["CANCELED 1", "algo 2 CANCELED", "algo 3 CANCELED"],
    ],
    [
      "a leg that fires: the child's events between TRIGGERED and FINISHED, then the sibling's end",
      [
        LONG,
        "stop sell BTCUSDT 59000",
        "profit sell BTCUSDT 65000",
        "quote BTCUSDT 59000 59000",
        "mark BTCUSDT 59000",
      ],
      [
        "algo 2 TRIGGERING",
        "algo 2 TRIGGERED",
        "NEW 4",
        "lite 2",
        "ORDER BTCUSDT 0",
        "TRADE 4 FILLED",
        "algo 2 FINISHED",
        "algo 3 CANCELED",
      ],
    ],
    [
      "what ends a position and its leg",
      [LONG, "stop sell BTCUSDT 58000", "sell 0.1 BTCUSDT"],
      ["NEW 3", "lite 2", "ORDER BTCUSDT 0", "TRADE 3 FILLED", "algo 2 EXPIRED POSITION_CLOSED"],
    ],
    [
      "what leaves a reduce-only order nothing to reduce",
      [LONG, "sell 0.1 BTCUSDT @ 65000 reduce", "sell 0.1 BTCUSDT"],
      ["NEW 3", "lite 2", "ORDER BTCUSDT 0", "TRADE 3 FILLED", "EXPIRED 2 er 4"],
    ],
    [
      "what changes reserves: nothing of them",
      [LONG, "sell 0.1 BTCUSDT @ 65000", "sell 0.05 BTCUSDT"],
      ["NEW 3", "lite 2", "ORDER BTCUSDT 0.05", "TRADE 3 FILLED"],
    ],
    ["funding", [LONG, "time 08:00", "funding BTCUSDT 0.0001 @ 60000"], ["FUNDING_FEE BTCUSDT 0.1"]],
    [
      "a liquidation",
      [LONG, "stop sell BTCUSDT 53000", "sell 0.1 BTCUSDT @ 70000", "liquidate BTCUSDT @ 54000"],
      [
        "CANCELED 3 er 5",
        "algo 2 CANCELED",
        "NEW 4 LIQUIDATION",
        "ORDER BTCUSDT 0",
        "CALCULATED 4 FILLED LIQUIDATION",
      ],
    ],
    [
      "the close of the strategy",
      [LONG, "stop sell BTCUSDT 53000", "buy 0.01 BTCUSDT @ 59000", "close"],
      ["CANCELED 3", "algo 2 CANCELED", "NEW 4", "lite 2", "ORDER BTCUSDT 0", "TRADE 4 FILLED"],
    ],
    ["an order that is refused: nothing", ["buy 100 BTCUSDT"], []],
  ])("%s", (_what, steps, sent) => {
    expect(eventsOf(FUTURES, [...MARKED, ...steps]).map(inWords)).toEqual(sent);
  });

  test("the order, wallet and position of the reference's examples, with the digits of REST", () => {
    const [placed, lite, account, filled] = eventsOf(FUTURES, [...MARKED, LONG], 1_000);
    const order = {
      ...{ s: "BTCUSDT", c: "step-4", S: "BUY", o: "MARKET", f: "GTC", q: "0.100", p: "0.00", sp: "0.00" },
      ...{ i: 1, T: 4, b: "0", a: "0", m: false, R: false, wt: "CONTRACT_PRICE", ot: "MARKET", ps: "BOTH" },
      ...{ cp: false, pP: false, si: 0, ss: 0, V: "NONE", pm: "NONE", gtd: 0, er: "0" },
    };
    expect(filled).toEqual({
      ...{ e: "ORDER_TRADE_UPDATE", T: 4, E: 1_000 },
      o: {
        ...order,
        ...{ ap: "60000.00", x: "TRADE", X: "FILLED", l: "0.100", z: "0.100", L: "60000.00" },
        ...{ n: "3.00000000", N: "USDT", t: 1, rp: "0.00000000" },
      },
    });
    expect(placed.o).toEqual({
      ...order,
      ...{ ap: "0.00", x: "NEW", X: "NEW", l: "0", z: "0.000", L: "0", n: "0", N: "USDT", t: 0, rp: "0" },
    });
    expect(Object.keys(filled.o)).toEqual(
      "s c S o f q p ap sp x X i l z L n N T t b a m R wt ot ps cp rp pP si ss V pm gtd er".split(" "),
    );
    expect(lite).toEqual({
      ...{ e: "TRADE_LITE", T: 4, E: 1_000, s: "BTCUSDT", q: "0.100", p: "0.00", m: false, c: "step-4" },
      ...{ S: "BUY", L: "60000.00", l: "0.100", t: 1, i: 1 },
    });
    expect(account).toEqual({
      ...{ e: "ACCOUNT_UPDATE", T: 4, E: 1_000 },
      a: {
        B: [{ a: "USDT", wb: "997.00000000", cw: "400.00000000", bc: "0" }],
        P: [
          {
            ...{ s: "BTCUSDT", pa: "0.100", ep: "60000", cr: "0", up: "0.00000000", mt: "isolated" },
            ...{ iw: "597.00000000", ps: "BOTH", ma: "USDT", bep: "60030" },
          },
        ],
        m: "ORDER",
      },
    });
  });

  test("funding says what it took, of which symbol", () => {
    const [{ a }] = eventsOf(FUTURES, [...MARKED, LONG, "time 08:00", "funding BTCUSDT 0.0001 @ 60000"]);
    expect(a).toMatchObject({
      m: "FUNDING_FEE",
      S: "BTCUSDT",
      B: [{ wb: "996.40000000", bc: "-0.60000000" }],
    });
  });

  test("a leg has its order once it was triggered, and its price once that is filled", () => {
    const steps = [LONG, "stop sell BTCUSDT 59000", "quote BTCUSDT 59000 59000", "mark BTCUSDT 59000"];
    const algo = eventsOf(FUTURES, [...MARKED, ...steps]).filter(({ e }) => e === "ALGO_UPDATE");
    expect(algo.map(({ o: { ai, ap, aq, act } }) => [ai, ap, aq, act])).toEqual([
      ["", undefined, undefined, undefined],
      ["3", "0", "0", "MARKET"],
      ["3", "59000.00", "0.100", "MARKET"],
    ]);
    expect(algo[0].o).toMatchObject({ caid: "step-5", at: "CONDITIONAL", o: "STOP_MARKET", tp: "59000.00" });
  });

  test("a liquidation has the id by which clients recognize it, and says what the fund took", () => {
    const events = eventsOf(FUTURES, [...MARKED, LONG, "liquidate BTCUSDT @ 54240"]);
    expect(events[0].o.c).toBe("autoclose-2");
    expect(Number(events[1].a.B[0].bc)).toBeLessThan(0);
  });
});

describe("an act under strict sends", () => {
  const BOOK = [
    ...["asks BTCUSDT 60000x0.0005 60001x0.0005", "bids BTCUSDT 59999x1 59998x5"],
    ...["average BTCUSDT 60000", "grant 200 USDT"],
  ];

  test.each<[what: string, steps: string[], sent: string[]]>([
    [
      "a report for each trade, then the expiry of what the book did not have",
      ["buy 0.002 BTCUSDT"],
      [
        ...["NEW 1 book", "TRADE 1 PARTIALLY_FILLED book", "TRADE 1 PARTIALLY_FILLED book"],
        ...["EXPIRED 1 INSUFFICIENT_LIQUIDITY", "balances USDT 339.9995+0, BTC 0.000999+0"],
      ],
    ],
    [
      "an order that is filled in part and rests",
      ["buy 0.002 BTCUSDT @ 60000"],
      ["NEW 1 book", "TRADE 1 PARTIALLY_FILLED book", "balances USDT 280+90, BTC 0.0004995+0"],
    ],
    [
      "what a trade of the market fills of it",
      ["buy 0.002 BTCUSDT @ 60000", "seller 0.001 BTCUSDT @ 60000"],
      ["TRADE 1 PARTIALLY_FILLED book maker", "balances USDT 280+30, BTC 0.0014985+0"],
    ],
  ])("%s", (_what, steps, sent) => {
    expect(eventsOf(STRICT_SPOT, [...BOOK, ...steps]).map(inWords)).toEqual(sent);
  });

  test("the sums of an order at each of its partial fills", () => {
    const [, one, two, end] = eventsOf(STRICT_SPOT, [...BOOK, "buy 0.002 BTCUSDT"]);
    expect(one).toMatchObject({
      ...{ l: "0.00050000", L: "60000.00000000", z: "0.00050000", Z: "30.00000000" },
      ...{ n: "0.00000050", t: 1, m: false, V: "EXPIRE_MAKER" },
    });
    expect(two).toMatchObject({
      l: "0.00050000",
      L: "60001.00000000",
      z: "0.00100000",
      Z: "60.00050000",
      t: 2,
    });
    expect(end).toMatchObject({ x: "EXPIRED", X: "EXPIRED", l: "0.00000000", z: "0.00100000", t: -1 });
  });

  const CONTRACT = [
    ...["asks BTCUSDT 60000.1x0.004 60001x0.004", "bids BTCUSDT 60000x0.004 59990x0.002"],
    ...["mark BTCUSDT 60000", "leverage BTCUSDT 20"],
  ];

  test.each<[what: string, steps: string[], sent: string[]]>([
    [
      "each trade with wallet and position, then the expiry",
      ["buy 0.010 BTCUSDT"],
      [
        ...["NEW 1", "lite 1", "ORDER BTCUSDT 0.004", "TRADE 1 PARTIALLY_FILLED"],
        ...["lite 2", "ORDER BTCUSDT 0.008", "TRADE 1 PARTIALLY_FILLED", "EXPIRED 1 er 2"],
      ],
    ],
    [
      "a leg that finds less than the position",
      ["buy 0.008 BTCUSDT", "stop sell BTCUSDT 59000", "mark BTCUSDT 59000"],
      [
        ...["algo 2 TRIGGERING", "algo 2 TRIGGERED", "NEW 3"],
        ...["lite 3", "ORDER BTCUSDT 0.004", "TRADE 3 PARTIALLY_FILLED"],
        ...["lite 4", "ORDER BTCUSDT 0.002", "TRADE 3 PARTIALLY_FILLED", "EXPIRED 3 er 2", "algo 2 FINISHED"],
      ],
    ],
  ])("%s", (_what, steps, sent) => {
    expect(eventsOf(STRICT_FUTURES, [...CONTRACT, ...steps]).map(inWords)).toEqual(sent);
  });
});

test("a margin call is sent once when the margin runs low, and again after it had recovered", () => {
  const bench = new ListeningBench(FUTURES);
  for (const step of [...MARKED, LONG]) bench.take(step);
  let called: ReadonlySet<string> = new Set();
  const at = (price: string) => {
    bench.market.setMarkPrice("BTCUSDT", (BigInt(price) * 100_000_000n) as never);
    const call = marginCall(bench.account, called, { market: bench.marked(), now: 7 });
    called = call.called;
    return call.event === null ? null : JSON.parse(call.event.text);
  };
  expect(at("56000")).toBeNull();
  expect(at("54300")).toEqual({
    e: "MARGIN_CALL",
    E: 7,
    p: [
      {
        ...{ s: "BTCUSDT", ps: "BOTH", pa: "0.100", mt: "ISOLATED", iw: "597.00000000" },
        ...{ mp: "54300.00000000", up: "-570.00000000", mm: "21.72000000" },
      },
    ],
  });
  expect(at("54290")).toBeNull();
  expect(at("56000")).toBeNull();
  expect(at("54300")).not.toBeNull();
});
