// The oracle of state finds what it is there to find: a copy that is on target, protected and sized by what
// it had, and then each way in which it is not.
import { describe, expect, test } from "vitest";
import { emptyAccount, type StrategyType } from "../../../src/domain/account.ts";
import { collectiveId } from "../../../src/domain/collective-id.ts";
import {
  type Copy,
  EMPTY_BOOK,
  type LeadAction,
  type LeadPlacement,
  type MirrorEntry,
  type Scale,
} from "../../../src/domain/copying.ts";
import type { Order, Trade } from "../../../src/domain/order.ts";
import { type Amount, decimal, type Quantity } from "../../../src/money/decimal.ts";
import { settingsOf } from "../../copy/actors.ts";
import type { CopyBooks } from "./books.ts";
import { type Claim, ClaimGaps, EXCUSED_MS_MAX } from "./claims.ts";
import type { Moment } from "./history.ts";
import { pendingOf } from "./settled.ts";
import { sizeFaults } from "./sizes.ts";
import { nakedSpans, type Span, stopFaults } from "./stops.ts";
import { type Histories, targetFaults } from "./targets.ts";

const SYMBOL = "DOGEUSDT";
const STRATEGY = "00000000-0000-4000-8000-000000000001";
const PRICE = decimal("0.1");
/** Of the strategy: bought 1,000, then sold two fifths of it. */
const BOUGHT = 1;
const SOLD = 2;

/** A moment of an account: after how many seconds, and what it holds then. */
function moment(
  second: number,
  held: string,
  said: { readonly wallet?: string; readonly hasStop?: boolean; readonly executed?: Partial<Trade> } = {},
): Moment {
  const { wallet = "200", hasStop = false, executed } = said;
  const quantity = decimal(held) as bigint;
  const trade = { symbol: SYMBOL, quantity: decimal("1"), ...executed } as Trade;
  return {
    ...{ version: second + 1, at: second * 1_000, wallet: decimal(wallet) },
    held: new Map(quantity === 0n ? [] : [[SYMBOL, quantity]]),
    stops: new Set(hasStop ? [SYMBOL] : []),
    trades: executed === undefined ? [] : [trade],
  };
}

const LEAD = [
  moment(0, "0"),
  moment(1, "1000", { executed: { orderId: BOUGHT } }),
  moment(2, "600", { executed: { orderId: SOLD } }),
];
const COPY = [moment(0, "0"), moment(1, "500"), moment(2, "300")];

/** A copy with half of the strategy's money, of which both orders are executed. */
function booksOf(
  changed: Partial<Record<"actions" | "entries" | "orders", readonly unknown[]>> = {},
): CopyBooks {
  const entries = [
    entryOf(1, BOUGHT, { side: "BUY", executedQuantity: decimal("500") }),
    entryOf(2, SOLD, { side: "SELL", executedQuantity: decimal("200") }),
  ];
  const orders = [
    orderOf("1", { side: "BUY", executedQuantity: decimal("500") }),
    orderOf("2", { side: "SELL", executedQuantity: decimal("200") }),
  ];
  const copy = {
    ...{ copyId: "copy", strategyId: STRATEGY, type: "FUTURES", settings: settingsOf({}) },
    ...{ status: "FOLLOWING", fromVersion: 1, doneSeq: 2, book: EMPTY_BOOK },
  } as Copy;
  return {
    ...{ name: "a copy", copy, actions: (changed.actions ?? []) as readonly LeadAction[] },
    entries: (changed.entries ?? entries) as readonly MirrorEntry[],
    venue: {
      account: emptyAccount("venue", "FUTURES"),
      orders: (changed.orders ?? orders) as readonly Order[],
      ...{ legs: [], liquidations: [] },
    },
  };
}

function entryOf(entryId: number, orderId: number, said: Partial<MirrorEntry>): MirrorEntry {
  return {
    ...{ copyId: "copy", entryId, seq: entryId, kind: "PLACE", symbol: SYMBOL, status: "FILLED" },
    ...{ collectiveId: collectiveId(STRATEGY, orderId), clientOrderId: String(entryId), skip: null },
    ...{ scale: null, executedQuantity: 0n, sentAt: null, acknowledgedAt: null, updatedAt: 0 },
    // Of the strategy's orders here: `moment`.
    leadQuantity: decimal("1"),
    ...said,
  } as MirrorEntry;
}

function orderOf(clientOrderId: string, said: Partial<Order>): Order {
  const quantity = decimal("500");
  return {
    clientOrderId,
    symbol: SYMBOL,
    status: "FILLED",
    quantity,
    executedQuantity: 0n,
    ...said,
  } as Order;
}

describe("a position that is on target", () => {
  const kinds = (books: CopyBooks, histories: Partial<Histories> = {}) =>
    targetFaults(books, { lead: LEAD, copy: COPY, ...histories }, () => PRICE).map(({ kind }) => kind);

  test("is what the executed openings brought, less the part that the strategy has left", () => {
    expect(kinds(booksOf())).toEqual([]);
    // The exit is rounded down to the step.
    expect(kinds(booksOf(), { copy: [...COPY, moment(3, "301")] })).toEqual([]);
  });

  test("is not one that is kept when the strategy has left it", () => {
    const left = [...LEAD, moment(3, "0", { executed: { orderId: 3 } })];
    expect(kinds(booksOf(), { lead: left })).toEqual(["OFF_TARGET"]);
    expect(kinds(booksOf(), { lead: left, copy: [...COPY, moment(4, "0")] })).toEqual([]);
  });

  test("is not one of which too little was left", () => {
    expect(kinds(booksOf(), { copy: [moment(0, "0"), moment(1, "500")] })).toEqual(["OFF_TARGET"]);
  });

  test("is not one that was bought twice", () => {
    expect(kinds(booksOf(), { copy: [moment(0, "0"), moment(2, "800")] })).toEqual(["OFF_TARGET"]);
  });

  test("is not one on the other side", () => {
    expect(kinds(booksOf(), { copy: [moment(0, "0"), moment(2, "-300")] })).toEqual(["OFF_TARGET"]);
  });

  test("counts each part of an order once, and what is filled after an exit whole", () => {
    const half = { orderId: BOUGHT, quantity: decimal<Quantity>("0.5") };
    const lead = [
      moment(0, "0"),
      moment(1, "500", { executed: half }),
      moment(2, "250", { executed: { orderId: SOLD } }),
      moment(3, "750", { executed: half }),
    ];
    expect(kinds(booksOf(), { lead, copy: [moment(0, "0"), moment(4, "376")] })).toEqual([]);
    expect(kinds(booksOf(), { lead, copy: [moment(0, "0"), moment(4, "380")] })).toEqual(["OFF_TARGET"]);
  });

  test("may be larger by what an open exit is about to sell", () => {
    const exit = orderOf("3", { side: "SELL", status: "NEW", quantity: decimal("200") });
    const orders = [...booksOf().venue.orders, exit];
    expect(kinds(booksOf({ orders }), { copy: [moment(0, "0"), moment(1, "500")] })).toEqual([]);
  });

  describe("may be larger by what an open exit has to sell, and not by what it keeps", () => {
    const EXIT = 3;
    const ofExit = { orderId: EXIT, collectiveId: collectiveId(STRATEGY, EXIT), symbol: SYMBOL };
    const placed: Partial<LeadPlacement> = {
      ...ofExit,
      kind: "PLACE",
      quantity: decimal("400"),
      filled: null,
    };
    const filled = (quantity: string) => ({
      ...{ ...ofExit, kind: "FILL", filled: { quantity: decimal(quantity), price: PRICE } },
    });
    /** A copy that holds 200 more than it is entitled to, and an open exit of so much. */
    const found = (quantity: string, actions: readonly unknown[]) => {
      const books = booksOf();
      const exit = orderOf("3", { side: "SELL", type: "LIMIT", status: "NEW", quantity: decimal(quantity) });
      return kinds(
        booksOf({
          actions: [placed, ...actions],
          entries: [...books.entries, entryOf(3, EXIT, { status: "RESTING" })],
          orders: [...books.venue.orders, exit],
        }),
        { copy: [moment(0, "0"), moment(1, "500")] },
      );
    };

    test("if the strategy's own is over", () => {
      expect(found("200", [filled("400")])).toEqual([]);
      expect(found("200", [{ ...ofExit, kind: "CANCEL" }])).toEqual([]);
    });

    test("not if the strategy's own is open, or executed by half", () => {
      expect(found("200", [])).toEqual(["OFF_TARGET"]);
      expect(found("200", [filled("200")])).toEqual(["OFF_TARGET"]);
    });

    test("or if it sells all that the copy has", () => {
      expect(found("500", [])).toEqual([]);
    });
  });

  test.each([
    ["540", []],
    ["600", ["OFF_TARGET"]],
  ])("may be larger than an open exit leaves by what is too small to sell: %s", (held, found) => {
    const exit = orderOf("3", { side: "SELL", status: "NEW", quantity: decimal("200") });
    const books = booksOf({ orders: [...booksOf().venue.orders, exit] });
    const spot = { ...books, copy: { ...books.copy, type: "SPOT" as const } };
    expect(kinds(spot, { copy: [moment(0, "0"), moment(1, held)] })).toEqual(found);
  });

  test("may be smaller: a copy opens nothing by itself", () => {
    expect(kinds(booksOf(), { copy: [...COPY, moment(3, "100")] })).toEqual([]);
  });

  test("is smaller by what was not copied: that entitles to nothing", () => {
    const entries = [entryOf(1, BOUGHT, { status: "SKIPPED", clientOrderId: null })];
    expect(kinds(booksOf({ entries, orders: [] }), { copy: [moment(0, "0")] })).toEqual([]);
  });

  test("is not one of an order that no entry tells of: the fault says so", () => {
    const [bought, sold] = booksOf().venue.orders;
    const orders = [bought, { ...sold, clientOrderId: "stray" }];
    const [first] = targetFaults(
      booksOf({ orders }),
      { lead: LEAD, copy: [moment(0, "0"), moment(1, "500")] },
      () => PRICE,
    );
    const lost = "entry 2 (PLACE) has no order there, stray is an attempt of no entry";
    expect(first?.what).toContain(`it may follow from what is LOST or DOUBLED: ${lost}`);
  });

  test("is bounded by the wallets after an order through zero", () => {
    const lead = [...LEAD, moment(3, "-400", { wallet: "200", executed: { orderId: 3 } })];
    const through = { side: "SELL", executedQuantity: decimal<Quantity>("500") } as const;
    const books = booksOf({
      entries: [...booksOf().entries, entryOf(3, 3, through)],
      orders: [...booksOf().venue.orders, orderOf("3", through)],
    });
    const short = (held: string) => [moment(0, "0", { wallet: "100" }), moment(4, held, { wallet: "100" })];
    expect(kinds(books, { lead, copy: short("-200") })).toEqual([]);
    expect(kinds(books, { lead, copy: short("-400") })).toEqual(["OFF_TARGET"]);
  });
});

describe("a copy at the end", () => {
  const left = [moment(0, "0"), moment(1, "500")];
  const pending = (books: CopyBooks, copy: readonly Moment[] = COPY) =>
    pendingOf(books, { lead: LEAD, copy }, () => PRICE);
  const inDoubt = (said: Partial<MirrorEntry>) =>
    booksOf({
      entries: [
        ...booksOf().entries,
        entryOf(3, 3, { status: "UNCONFIRMED", side: "SELL", quantity: decimal("200"), ...said }),
      ],
    });

  test("is waited for while it is off target", () => {
    expect(pending(booksOf())).toBe(null);
    expect(pending(booksOf(), left)).toBe("TARGET");
  });

  test("is waited for longer while a sale in doubt may have sold what is too much", () => {
    expect(pending(inDoubt({}), left)).toBe("OUTCOME");
    expect(pending(inDoubt({}))).toBe(null);
    expect(pending(inDoubt({ side: "BUY" }), left)).toBe("TARGET");
    expect(pending(inDoubt({ executedQuantity: decimal("200") }), left)).toBe("TARGET");
    expect(pending(inDoubt({ kind: "PLACE_LEG" }), left)).toBe("TARGET");
  });

  test("is waited for while its book is not what its account has, unless it is stopped", () => {
    const books = booksOf();
    const holdings = new Map([[SYMBOL, { quantity: decimal<Quantity>("300"), cost: decimal<Amount>("30") }]]);
    const unequal = { ...books, copy: { ...books.copy, book: { ...EMPTY_BOOK, holdings } } };
    expect(pending(unequal)).toBe("BALANCE");
    expect(pending({ ...unequal, copy: { ...unequal.copy, status: "STOPPED" } })).toBe(null);
  });
});

describe("the claim of a strategy", () => {
  /** Samples every half second of who has claimed it, and when that was renewed: seconds. */
  function sampled(gaps: ClaimGaps, from: number, until: number, of: (second: number) => [string, number]) {
    for (let second = from; second <= until; second += 0.5) {
      const [holder, renewed] = of(second);
      const claim: Claim = { strategyId: STRATEGY, holder, renewedAt: renewed * 1_000 };
      gaps.note(second * 1_000, [claim]);
    }
  }
  const inTime =
    (holder: string) =>
    (second: number): [string, number] => [holder, Math.floor(second / 2) * 2];
  const found = (gaps: ClaimGaps) =>
    gaps.of(STRATEGY).map(({ from, until }): Span => ({ from: from / 1_000, until: until / 1_000 }));

  test("has no gap while it is renewed", () => {
    const gaps = new ClaimGaps();
    sampled(gaps, 0, 60, inTime("one"));
    expect(found(gaps)).toEqual([]);
  });

  test("is lost from a kill on, until another holder has claimed it", () => {
    const gaps = new ClaimGaps();
    sampled(gaps, 0, 10, inTime("one"));
    gaps.lose("another", 9_900);
    gaps.lose("one", 10_100);
    sampled(gaps, 10.5, 17, () => ["one", 10]);
    expect(found(gaps)).toEqual([{ from: 10.1, until: 17 }]);
    sampled(gaps, 17.5, 30, inTime("two"));
    expect(found(gaps)).toEqual([{ from: 10.1, until: 17.5 }]);
  });

  test("may send nothing from four seconds after its renewal on, until the next", () => {
    const gaps = new ClaimGaps();
    sampled(gaps, 0, 10, inTime("one"));
    sampled(gaps, 10.5, 19, () => ["one", 10]);
    sampled(gaps, 19.5, 30, inTime("one"));
    expect(found(gaps)).toEqual([{ from: 14, until: 19.5 }]);
    expect(gaps.stalls).toEqual({ count: 1, msMax: 5_500 });
  });

  test("is taken to be renewed where nothing was read for so long that it may have been", () => {
    const gaps = new ClaimGaps();
    sampled(gaps, 0, 10, inTime("one"));
    sampled(gaps, 30, 40, inTime("one"));
    expect(found(gaps)).toEqual([]);
  });

  test("is excused for half a minute, and no longer", () => {
    const gaps = new ClaimGaps();
    sampled(gaps, 0, 10, inTime("one"));
    gaps.lose(null, 10_000);
    sampled(gaps, 10.5, 90, () => ["one", 10]);
    sampled(gaps, 90.5, 100, inTime("two"));
    expect(found(gaps)).toEqual([{ from: 10, until: 10 + EXCUSED_MS_MAX / 1_000 }]);
    sampled(gaps, 100.5, 190, () => ["two", 100]);
    expect(found(gaps).at(-1)).toEqual({ from: 104, until: 104 + EXCUSED_MS_MAX / 1_000 });
  });
});

describe("the stop of a position", () => {
  const lead = [moment(0, "1000", { hasStop: true })];
  const spans = (histories: Histories) => nakedSpans(histories, SYMBOL, 60_000);
  const kinds = (histories: Histories, down: readonly { from: number; until: number }[] = []) =>
    stopFaults({ name: "a copy", type: "FUTURES" }, histories, { until: 60_000, down }).map(
      ({ kind }) => kind,
    );

  test("may be missing for ten seconds, and not for longer", () => {
    const placedAfter = (second: number) => [moment(1, "500"), moment(1 + second, "500", { hasStop: true })];
    expect(kinds({ lead, copy: placedAfter(10) })).toEqual([]);
    expect(kinds({ lead, copy: placedAfter(11) })).toEqual(["NAKED"]);
    expect(spans({ lead, copy: placedAfter(11) })).toEqual([
      { from: 1_000, until: 12_000, isOtherSide: false },
    ]);
  });

  test("is none of a position on the other side, whose time is reported separately", () => {
    const liquidated = [moment(1, "-500"), moment(32, "0")];
    expect(kinds({ lead, copy: liquidated })).toEqual([]);
    expect(spans({ lead, copy: liquidated })).toEqual([{ from: 1_000, until: 32_000, isOtherSide: true }]);
  });

  test("must not be taken away when the strategy has left with its own", () => {
    const left = [...lead, moment(2, "0")];
    const copy = [moment(1, "500", { hasStop: true }), moment(3, "500")];
    expect(kinds({ lead: left, copy })).toEqual(["NAKED"]);
    expect(kinds({ lead: left, copy: [...copy, moment(5, "0")] })).toEqual([]);
  });

  test("is not asked for where the strategy has none, or has taken it back", () => {
    const copy = [moment(1, "500")];
    expect(kinds({ lead: [moment(0, "1000")], copy })).toEqual([]);
    expect(kinds({ lead: [...lead, moment(2, "1000")], copy })).toEqual([]);
    // What it opens after it has left is another position.
    expect(kinds({ lead: [...lead, moment(2, "0"), moment(4, "1000")], copy })).toEqual([]);
  });

  test("is not asked for while nothing that copies is running", () => {
    const copy = [moment(1, "500"), moment(13, "500", { hasStop: true })];
    expect(kinds({ lead, copy })).toEqual(["NAKED"]);
    expect(kinds({ lead, copy }, [{ from: 4_000, until: 7_000 }])).toEqual([]);
  });
});

describe("a size", () => {
  /** Sold 1,000 for 100 in the 50th second. */
  const history = [moment(0, "1000", { wallet: "100" }), moment(50, "0", { wallet: "199.9" })];
  const faults = (scale: Scale, second: number, type: StrategyType = "SPOT", had = history) => {
    const at = { sentAt: second * 1_000, acknowledgedAt: second * 1_000 };
    const books = booksOf({ entries: [entryOf(1, 3, { scale, ...at })] });
    const copy: Copy = { ...books.copy, type };
    return sizeFaults({ ...books, copy }, had, () => [PRICE, PRICE], 1);
  };
  const kinds = (...of: Parameters<typeof faults>) => faults(...of).map(({ kind }) => kind);
  const equity = (ours: string): Scale => ({ by: "EQUITY", ours: decimal(ours), theirs: decimal("200") });

  test("is of what the account had before the sale, or after it, as far as the copy may have known", () => {
    expect(kinds(equity("200"), 49)).toEqual([]);
    expect(kinds(equity("199.9"), 51)).toEqual([]);
    expect(kinds(equity("200"), 51)).toEqual([]);
  });

  test("is not of the proceeds and of what was sold for them", () => {
    expect(kinds(equity("299.9"), 51)).toEqual(["MISSIZED"]);
  });

  test("is not of neither of both", () => {
    expect(kinds(equity("100"), 51)).toEqual(["MISSIZED"]);
  });

  test("is not of what the account had long ago, and the fault says when", () => {
    const grown = [...history, moment(60, "0", { wallet: "300" })];
    const [old, never] = [equity("199.9"), equity("100")].map((each) => faults(each, 300, "SPOT", grown));
    expect(old).toMatchObject([{ kind: "MISSIZED", place: { type: "SPOT", by: "EQUITY" } }]);
    expect(old?.[0]?.what).toContain("it last had so much 240 s before");
    expect(never?.[0]?.what).toContain("it never had so much before");
  });

  test("of an exit may be of a holding whose fee is not known yet", () => {
    const bought = [moment(0, "999", { wallet: "100" })];
    const holding = (ours: string): Scale => ({ ...equity(ours), by: "HOLDING" });
    expect(kinds(holding("1000"), 300, "SPOT", bought)).toEqual([]);
    expect(kinds(holding("1001"), 300, "SPOT", bought)).toEqual(["MISSIZED"]);
  });

  test("of an exit is not of more than was held", () => {
    const position = (ours: string): Scale => ({ ...equity(ours), by: "POSITION" });
    expect(kinds(position("1000"), 20, "FUTURES")).toEqual([]);
    // Other exits may be promised a part.
    expect(kinds(position("400"), 20, "FUTURES")).toEqual([]);
    expect(kinds(position("1100"), 20, "FUTURES")).toEqual(["MISSIZED"]);
    expect(kinds(position("1000"), 100, "FUTURES")).toEqual(["MISSIZED"]);
  });
});
