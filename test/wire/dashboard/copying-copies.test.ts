// A copier's copies on a real server: begun, paused, resumed, stopped, halted, and their rows. No copier runs
// here, so that the test writes their logs and books.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { encode } from "zod";
import {
  type CopyJson,
  type MirrorEntryJson,
  settingsSchema,
} from "../../../src/dashboard-api/schemas/copies.ts";
import { type CopyBook, EXACT_SETTINGS } from "../../../src/domain/copying.ts";
import { decimal } from "../../../src/money/decimal.ts";
import { StoreUnavailable } from "../../../src/store/store.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import {
  connectAccount,
  follow,
  lineOf,
  newLead,
  newOffer,
  record,
} from "../../support/dashboard/copying-world.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

/** What a client sends that knows no other settings, and what it is answered. */
const SETTINGS = { share: "0.5", maxPerOrder: "100", stopLoss: "0.1" };
const WHOLE = { ...encode(settingsSchema, EXACT_SETTINGS), ...SETTINGS };
const LIMITED = {
  ...SETTINGS,
  takeProfit: "0.5",
  size: { by: "FIXED_AMOUNT", amount: "25" },
  budget: "500",
  leverageMax: 5,
  positionMax: "2",
  exposureMax: "5",
  ordersPerMinuteMax: 30,
  lossPerDayMax: "0.1",
  symbols: ["BTCUSDT", "ETHUSDT"],
  slippageMax: { major: "0.005", other: "0.015" },
  copyExisting: true,
  closeAfterSeconds: 60,
};

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await openDashboardFixture();
});
afterAll(() => fixture.close());

/** A new person who follows a new strategy. */
async function copying() {
  const copier = await fixture.somebody({ profile: "COPIER" });
  const strategyId = await newOffer(fixture);
  const { accountId } = await connectAccount(fixture, copier, "SPOT");
  const copyId = await follow(copier, strategyId, accountId);
  return { copier, strategyId, accountId, copyId };
}

function expectRefused(
  { status, body }: Awaited<ReturnType<Browser["call"]>>,
  code: string,
  message: RegExp,
) {
  expect({ status, code: body?.error?.code }, body?.error?.message).toEqual({
    status: code === "STATE_CHANGED" ? 409 : code === "NOT_FOUND" ? 404 : code === "NOT_FOR_YOU" ? 403 : 400,
    code,
  });
  expect(`${body.error.message} ${Object.values(body.error.fields ?? {})}`).toMatch(message);
}

async function audited(copyId: string): Promise<readonly string[]> {
  const about = { kind: "COPY", id: copyId };
  const records = await fixture.gateway.store.people.listAudit({ about, limit: 20 });
  return records.map(({ what }) => what).reverse();
}

describe("beginning a copy", () => {
  test("answers it as it is, and is audited with its settings", async () => {
    const copier = await fixture.somebody({ profile: "COPIER" });
    const strategyId = await newOffer(fixture);
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    const copy: CopyJson = await copier.send("POST", "/copies", {
      strategyId,
      accountId,
      settings: SETTINGS,
    });
    expect(copy).toMatchObject({
      ...{ strategyId, strategyName: "On offer (SPOT)", strategyStatus: "LIVE", family: "SPOT" },
      ...{
        status: "FOLLOWING",
        reason: null,
        halted: null,
        settings: WHOLE,
        endedAt: null,
        asset: "USDT",
      },
      ...{ equity: null, startEquity: null, resultRate: null, stopsAt: null, seenAt: null },
      ...{ counts: { placed: 0, skipped: 0, failed: 0, byReason: [] }, restingOrders: 0, pending: [] },
      account: { accountId, venue: fixture.url, status: "CONNECTED" },
    });
    expect(await audited(copy.copyId)).toEqual(["COPY_STARTED"]);
    const [account] = (await copier.get("/copying/accounts")).rows;
    expect(account).toMatchObject({ accountId, copyId: copy.copyId });
    const offer = await copier.get(`/copying/offers/${strategyId}`);
    expect(offer).toMatchObject({ copyId: copy.copyId, copiers: 1 });
  });

  test("is refused where an account or the person is taken, or does not fit", async () => {
    const { copier, strategyId, accountId } = await copying();
    const spare = (await connectAccount(fixture, copier, "SPOT")).accountId;
    const futures = (await connectAccount(fixture, copier, "FUTURES")).accountId;
    const other = await newOffer(fixture);
    const begin = (body: object) => copier.call("POST", "/copies", { body: { settings: SETTINGS, ...body } });
    expectRefused(await begin({ strategyId: other, accountId }), "STATE_CHANGED", /uses this account/);
    expectRefused(
      await begin({ strategyId, accountId: spare }),
      "STATE_CHANGED",
      /copy this strategy already/,
    );
    expectRefused(await begin({ strategyId: other, accountId: futures }), "BODY_UNFIT", /futures account/);
    expectRefused(await begin({ strategyId: "none", accountId: spare }), "NOT_FOUND", /Not found/);
    await fixture.gateway.store.copying.noteAccountChecked(spare, {
      status: "FAILED",
      failure: "odd",
      at: 1,
    });
    expectRefused(await begin({ strategyId: other, accountId: spare }), "STATE_CHANGED", /does not accept/);
    expect((await copier.get("/copies")).rows).toHaveLength(1);
  });

  test("does not say that nothing was done, where the database is lost after it has begun", async () => {
    const copier = await fixture.somebody({ profile: "COPIER" });
    const strategyId = await newOffer(fixture);
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    const stored = fixture.gateway.store.copying;
    const { findCopy } = stored;
    stored.findCopy = () => Promise.reject(new StoreUnavailable("cut off"));
    onTestFinished(() => {
      stored.findCopy = findCopy;
    });
    const settings = { ...SETTINGS, copyExisting: true };
    const { status, body } = await copier.call("POST", "/copies", {
      body: { strategyId, accountId, settings },
    });
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: "OUTCOME_UNKNOWN" });
    expect(body.error.action).toBe("Check whether it was done, then try again.");
    stored.findCopy = findCopy;
    const [{ copyId }] = (await copier.get("/copies")).rows;
    // What the copier has consented to is asked with the beginning.
    const [asked] = await stored.listPendingRequests(strategyId);
    expect(asked).toMatchObject({ copyId, kind: "REPAIR", mayIncrease: true });
  });

  test("is refused for a strategy that takes no copiers", async () => {
    const trader = await fixture.somebody({});
    const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
    const path = `/strategies/${strategyId}/copying`;
    expect(await trader.send("PUT", path, { isOpen: false })).toMatchObject({ isOpen: false });
    const copier = await fixture.somebody({ profile: "COPIER" });
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    const body = { strategyId, accountId, settings: SETTINGS };
    const begin = () => copier.call("POST", "/copies", { body });
    expectRefused(await begin(), "NOT_FOUND", /Not found/);
    expect((await copier.call("GET", `/copying/offers/${strategyId}`)).status).toBe(404);
    expect((await copier.call("POST", "/copying/preview", { body })).status).toBe(404);
    expect(await trader.send("PUT", path, { isOpen: true })).toMatchObject({ isOpen: true });
    expect((await begin()).status).toBe(201);
  });

  test("takes only settings that make sense", async () => {
    const { copier, copyId } = await copying();
    for (const [more, field] of [
      [{ share: "0" }, "share"],
      [{ share: "1.00000001" }, "share"],
      [{ share: "-0.5" }, "share"],
      [{ share: "1e-3" }, "share"],
      [{ share: "0.000000001" }, "share"],
      [{ maxPerOrder: "0" }, "maxPerOrder"],
      [{ maxPerOrder: "" }, "maxPerOrder"],
      [{ stopLoss: "1.5" }, "stopLoss"],
      [{ stopLoss: 0.5 }, "stopLoss"],
      [{ takeProfit: "0" }, "takeProfit"],
      [{ size: { by: "FIXED_RATIO", ratio: "0" } }, "size.ratio"],
      [{ size: { by: "FIXED_AMOUNT" } }, "size.amount"],
      [{ size: { by: "GUESSED" } }, "size.by"],
      [{ budget: "-1" }, "budget"],
      [{ leverageMax: 126 }, "leverageMax"],
      [{ leverageMax: 2.5 }, "leverageMax"],
      [{ positionMax: "0" }, "positionMax"],
      [{ exposureMax: "126" }, "exposureMax"],
      [{ ordersPerMinuteMax: 0 }, "ordersPerMinuteMax"],
      [{ lossPerDayMax: "1.1" }, "lossPerDayMax"],
      [{ symbols: [] }, "symbols"],
      [{ symbols: ["btc/usdt"] }, "symbols.0"],
      [{ slippageMax: { major: "0.005" } }, "slippageMax.other"],
      [{ copyExisting: "yes" }, "copyExisting"],
      [{ closeAfterSeconds: 0 }, "closeAfterSeconds"],
    ] as const) {
      const body = { ...SETTINGS, ...more };
      const answer = await copier.call("PUT", `/copies/${copyId}/settings`, { body });
      const fields = { [field]: expect.any(String) };
      expect(answer, JSON.stringify(more)).toMatchObject({ status: 400, body: { error: { fields } } });
    }
    const least = { share: "0.00000001", maxPerOrder: null, stopLoss: "1" };
    expect((await copier.send("PUT", `/copies/${copyId}/settings`, least)).settings).toEqual({
      ...WHOLE,
      ...least,
    });
  });

  test("keeps the limits that a change does not name, and removes them on request", async () => {
    const { copier, copyId } = await copying();
    const put = async (settings: object) =>
      (await copier.send("PUT", `/copies/${copyId}/settings`, settings)).settings;
    expect(await put(LIMITED)).toEqual(LIMITED);
    expect(await put({ ...SETTINGS, share: "1" })).toEqual({ ...LIMITED, share: "1" });
    expect(await put({ ...SETTINGS, leverageMax: null, size: { by: "RATIO" } })).toEqual({
      ...LIMITED,
      ...{ leverageMax: null, size: { by: "RATIO" } },
    });
    expect((await copier.get(`/copies/${copyId}`)).settings.exposureMax).toBe("5");
  });
});

describe("a copy", () => {
  test("is paused, resumed and stopped, each once, and keeps its history", async () => {
    const { copier, copyId } = await copying();
    const path = `/copies/${copyId}`;
    for (const _ of [1, 2]) {
      expect(await copier.send("POST", `${path}/pause`)).toMatchObject({
        status: "PAUSED",
        reason: "COPIER",
      });
    }
    for (const _ of [1, 2]) {
      expect(await copier.send("POST", `${path}/resume`)).toMatchObject({
        status: "FOLLOWING",
        reason: null,
      });
    }
    const changed = await copier.send("PUT", `${path}/settings`, { ...SETTINGS, stopLoss: null });
    expect(changed.settings).toEqual({ ...WHOLE, stopLoss: null });
    for (const _ of [1, 2]) {
      const closing = await copier.send("POST", `${path}/stop`, { closesAll: true });
      expect(closing).toMatchObject({ status: "CLOSING", reason: "COPIER", endedAt: null });
    }
    expectRefused(await copier.call("POST", `${path}/resume`), "STATE_CHANGED", /has changed since/);
    const repair = await copier.call("POST", `${path}/repair`, { body: { mayIncrease: false } });
    expectRefused(repair, "STATE_CHANGED", /being closed/);
    const stopped = await copier.send("POST", `${path}/stop`, { closesAll: false });
    expect(stopped).toMatchObject({ status: "STOPPED", endedAt: expect.any(Number) });
    // Open orders that would open something are to be canceled; a copy that is closed first has none left.
    expect(stopped.pending).toEqual(["WITHDRAW"]);
    for (const [method, name, body] of [
      ["POST", "pause", undefined],
      ["POST", "resume", undefined],
      ["POST", "stop", { closesAll: true }],
      ["PUT", "settings", SETTINGS],
      ["POST", "repair", { mayIncrease: true }],
      ["POST", "look", undefined],
    ] as const) {
      expectRefused(await copier.call(method, `${path}/${name}`, { body }), "STATE_CHANGED", /has ended/);
    }
    expect(await copier.get(path)).toMatchObject({ status: "STOPPED" });
    expect(await audited(copyId)).toEqual([
      ...["COPY_STARTED", "COPY_PAUSED", "COPY_RESUMED", "COPY_SETTINGS_CHANGED"],
      ...["COPY_STOPPED", "COPY_STOPPED"],
    ]);
  });

  test("takes one repair and one poll at a time, and opens nothing while it is paused", async () => {
    const { copier, copyId } = await copying();
    const path = `/copies/${copyId}`;
    for (const _ of [1, 2]) await copier.send("POST", `${path}/look`);
    for (const _ of [1, 2]) await copier.send("POST", `${path}/repair`, { mayIncrease: false });
    const other = await copier.call("POST", `${path}/repair`, { body: { mayIncrease: true } });
    expectRefused(other, "STATE_CHANGED", /repair of the other kind/);
    const { pending } = await copier.get(path);
    expect([...pending].sort()).toEqual(["LOOK", "REPAIR"]);
    expect((await copier.get(`${path}/drift`)).pending).toHaveLength(2);
    await copier.send("POST", `${path}/pause`);
    const opening = await copier.call("POST", `${path}/repair`, { body: { mayIncrease: true } });
    expectRefused(opening, "STATE_CHANGED", /paused and opens nothing/);
    expect(await copier.send("POST", `${path}/repair`, { mayIncrease: false })).toMatchObject({ pending });
  });

  test("does not go on with a key that the venue refuses, nor below its stop loss", async () => {
    const { copier, copyId, accountId } = await copying();
    const path = `/copies/${copyId}`;
    await copier.send("POST", `${path}/pause`);
    const { copying: store } = fixture.gateway.store;
    await store.noteAccountChecked(accountId, { status: "FAILED", failure: "odd", at: 1 });
    expectRefused(await copier.call("POST", `${path}/resume`), "STATE_CHANGED", /does not accept/);
    await copier.send("POST", `/copying/accounts/${accountId}/check`);
    await record(fixture, copyId, { entries: [], book: bookOf({ start: "1000", now: "800" }) });
    expectRefused(await copier.call("POST", `${path}/resume`), "STATE_CHANGED", /stop loss/);
    await copier.send("PUT", `${path}/settings`, { ...SETTINGS, stopLoss: "0.3" });
    expect(await copier.send("POST", `${path}/resume`)).toMatchObject({ status: "FOLLOWING" });
  });

  test("has its value, and the level of its stop loss", async () => {
    const { copier, copyId } = await copying();
    await record(fixture, copyId, { entries: [], book: bookOf({ start: "1000", now: "1123.45" }) });
    expect(await copier.get(`/copies/${copyId}`)).toMatchObject({
      ...{ equity: "1123.45", startEquity: "1000", resultRate: "0.12345", stopsAt: "800", seenAt: 5_000 },
      ...{ realized: "12", fees: "3", stopsFrom: "1000", takesAt: null },
    });
    await copier.send("PUT", `/copies/${copyId}/settings`, { ...SETTINGS, takeProfit: "0.25" });
    expect(await copier.get(`/copies/${copyId}`)).toMatchObject({ takesAt: "1250", stopsAt: "900" });
  });

  test("that its stop loss has paused can resume, and counts from its value at that time", async () => {
    const { copier, copyId } = await copying();
    const at = fixture.wallNow();
    const from = { status: "FOLLOWING", reason: null } as const;
    const closing = { from, status: "CLOSING", reason: "STOP_LOSS", at } as const;
    const reached = bookOf({ start: "1000", now: "790" });
    await record(fixture, copyId, { entries: [], book: reached, moves: closing });
    const paused = { from: closing, status: "PAUSED", reason: "STOP_LOSS", at } as const;
    const book = { ...reached, stopBase: decimal<never>("790") };
    await record(fixture, copyId, { entries: [], book, moves: paused });
    const worth = { startEquity: "1000", resultRate: "-0.21", stopsFrom: "790", stopsAt: "632" };
    expect(await copier.get(`/copies/${copyId}`)).toMatchObject({ status: "PAUSED", ...worth });
    const resumed = await copier.send("POST", `/copies/${copyId}/resume`);
    expect(resumed).toMatchObject({ status: "FOLLOWING", reason: null, ...worth });
    await record(fixture, copyId, {
      entries: [],
      book: { ...book, ...bookOf({ start: "1000", now: "632" }) },
    });
    await copier.send("POST", `/copies/${copyId}/pause`);
    expectRefused(await copier.call("POST", `/copies/${copyId}/resume`), "STATE_CHANGED", /stop loss/);
  });
});

describe("a mirror log", () => {
  test("has for each line what was sent, what it cost, and how far from the strategy's price", async () => {
    const { copier, copyId } = await copying();
    const resting = {
      ...lineOf(copyId, 3),
      status: "RESTING",
      orderType: "LIMIT",
      symbol: "ETHUSDT",
    } as const;
    const skip = {
      reason: "BELOW_MIN_NOTIONAL",
      filter: "NOTIONAL",
      wanted: decimal("5"),
      had: decimal("3.5"),
      unit: "QUOTE",
      venue: null,
    } as never;
    await record(fixture, copyId, {
      entries: [
        lineOf(copyId, 1),
        {
          ...lineOf(copyId, 2),
          status: "SKIPPED",
          skip,
          executedQuantity: decimal("0"),
          executedQuote: decimal("0"),
        },
        { ...resting, executedQuantity: decimal("0"), executedQuote: decimal("0"), price: decimal("1500") },
      ],
    });
    const { rows, next } = await copier.get(`/copies/${copyId}/entries`);
    expect(rows.map(({ entryId }: MirrorEntryJson) => entryId)).toEqual([3, 2, 1]);
    expect(next).toBeNull();
    const [open, skipped, filled] = rows as MirrorEntryJson[];
    expect(filled).toMatchObject({
      ...{ executedQuantity: "0.005", executedPrice: "50050", leadPrice: "50000", slippageBps: "10" },
      ...{
        scale: { by: "EQUITY", ours: "500", theirs: "1000", part: null },
        scaledQuantity: "0.0050004",
        quantity: "0.005",
      },
      ...{ fee: "0.25", delayMs: 50, skip: null },
    });
    expect(skipped?.skip).toMatchObject({
      ...{ reason: "BELOW_MIN_NOTIONAL", wanted: "5", had: "3.5", shortfall: "1.5", asset: "USDT" },
      words: expect.stringMatching(/3\.5.*5/),
    });
    expect(open).toMatchObject({ price: "1500", executedPrice: null, slippageBps: null });
    const listed = async (query: string) =>
      (await copier.get(`/copies/${copyId}/entries?${query}`)).rows.map(
        (row: MirrorEntryJson) => row.entryId,
      );
    expect(await listed("status=SKIPPED")).toEqual([2]);
    expect(await listed("symbol=ETHUSDT")).toEqual([3]);
    expect(await listed("before=2")).toEqual([1]);
    const copy: CopyJson = await copier.get(`/copies/${copyId}`);
    expect(copy.restingOrders).toBe(1);
    expect(copy.counts).toEqual({
      ...{ placed: 2, skipped: 1, failed: 0 },
      byReason: [{ reason: "BELOW_MIN_NOTIONAL", count: 1 }],
    });
  });

  test("is listed a page at a time", async () => {
    const { copier, copyId } = await copying();
    const entries = Array.from({ length: 150 }, (_, index) => lineOf(copyId, index + 1));
    await record(fixture, copyId, { entries });
    const first = await copier.get(`/copies/${copyId}/entries`);
    expect([first.rows.length, first.next]).toEqual([100, "51"]);
    const second = await copier.get(`/copies/${copyId}/entries?before=${first.next}`);
    expect([second.rows.length, second.rows[0].entryId, second.next]).toEqual([50, 50, null]);
  });
});

describe("a halt", () => {
  test("of one's own is seen on all one's copies, and is cleared by oneself", async () => {
    const { copier, copyId } = await copying();
    const path = `/copies/${copyId}/halt`;
    const halted = await copier.send("POST", path, { reason: "On holiday" });
    expect(halted.halted).toEqual({ kind: "COPIER", reason: "On holiday", isOwn: true });
    expect(await copier.send("DELETE", path)).toMatchObject({ halted: null });
    expect(await copier.send("DELETE", path)).toMatchObject({ halted: null });
  });

  test("of an operator's replaces one's own, and the halted person cannot clear it", async () => {
    const { copier, copyId } = await copying();
    const operator = await fixture.somebody({ role: "OPERATOR" });
    const path = `/copies/${copyId}/halt`;
    await copier.send("POST", path, { reason: "On holiday" });
    const subject = { kind: "COPIER", id: copier.email };
    const set = { ...subject, reason: "Odd orders" };
    await operator.send("POST", "/operator/copying/switches", set);
    expectRefused(
      await operator.call("POST", "/operator/copying/switches", { body: set }),
      "STATE_CHANGED",
      /halted already/,
    );
    expect((await copier.get(`/copies/${copyId}`)).halted).toEqual({
      ...{ kind: "COPIER", reason: "Odd orders", isOwn: false },
    });
    expectRefused(await copier.call("DELETE", path), "NOT_FOR_YOU", /Somebody else/);
    const { switches } = await operator.get("/operator/copying");
    expect(switches).toContainEqual({
      ...{ kind: "COPIER", id: copier.personId, name: copier.email, reason: "Odd orders" },
      ...{ setBy: operator.email, setAt: expect.any(Number) },
    });
    const clear = { kind: "COPIER", id: copier.personId };
    await operator.send("POST", "/operator/copying/switches/clear", clear);
    // One's own is set again: the operator may not know of it.
    expect((await copier.get(`/copies/${copyId}`)).halted).toEqual({
      ...{ kind: "COPIER", reason: "On holiday", isOwn: true },
    });
    await copier.send("DELETE", path);
    expect((await copier.get(`/copies/${copyId}`)).halted).toBeNull();
    expectRefused(
      await operator.call("POST", "/operator/copying/switches/clear", { body: clear }),
      "NOT_FOUND",
      /Not found/,
    );
  });

  test("of a strategy and of a venue is seen by copiers and by the trader, and is about what there is", async () => {
    const trader = await fixture.somebody({});
    const operator = await fixture.somebody({ role: "OPERATOR" });
    const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
    const copier = await fixture.somebody({ profile: "COPIER" });
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    const copyId = await follow(copier, strategyId, accountId);
    const path = `/strategies/${strategyId}/copying/halt`;
    const halted = await trader.send("POST", path, { reason: "Testing" });
    expect(halted.halted).toEqual({ kind: "STRATEGY", reason: "Testing", isOwn: true });
    expect((await copier.get(`/copies/${copyId}`)).halted).toMatchObject({ kind: "STRATEGY", isOwn: false });
    expect(await trader.send("DELETE", path)).toMatchObject({ halted: null });

    const venue = { kind: "VENUE", id: fixture.url };
    const set = await operator.send("POST", "/operator/copying/switches", { ...venue, reason: "It is down" });
    expect(set.venues).toContainEqual(expect.objectContaining({ origin: fixture.url, isHalted: true }));
    expect((await copier.get(`/copies/${copyId}`)).halted).toMatchObject({
      kind: "VENUE",
      reason: "It is down",
    });
    await operator.send("POST", "/operator/copying/switches/clear", venue);
    for (const subject of [
      { kind: "VENUE", id: "https://elsewhere.example" },
      { kind: "STRATEGY", id: "none" },
      { kind: "COPIER", id: "nobody@example.org" },
    ]) {
      const body = { ...subject, reason: "?" };
      expectRefused(
        await operator.call("POST", "/operator/copying/switches", { body }),
        "BODY_UNFIT",
        /is no/,
      );
    }
  });

  test("is seen where the operator allows the venue no more", async () => {
    const { copier, copyId } = await copying();
    const allowed = fixture.venues.splice(0, fixture.venues.length, "https://another.example");
    const copy = await copier.get(`/copies/${copyId}`);
    const resumed = await copier.call("POST", `/copies/${copyId}/look`);
    fixture.venues.splice(0, 1, ...allowed);
    expect(copy.halted).toMatchObject({ kind: "VENUE", isOwn: false });
    expect(resumed).toMatchObject({ status: 409, body: { error: { code: "COPYING_NOT_OFFERED" } } });
  });
});

/** A book of a copy that began with so much and is worth so much now. */
function bookOf({ start, now }: { readonly start: string; readonly now: string }): Partial<CopyBook> {
  return {
    startEquity: decimal(start),
    realized: decimal("12"),
    fees: decimal("3"),
    snapshot: {
      at: 5_000,
      wallet: decimal(now),
      available: decimal(now),
      equity: decimal(now),
      held: new Map(),
    },
  };
}
