// Orders over a way on which requests go wrong. Whatever happens on it, what is asserted is what the venue has on its books: one
// order of a client id, and its outcome known.
import { describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { NOT_FOUND_AFTER_MS, RETRY_MS_MAX } from "./delivery.ts";
import { DEADLINE_MS } from "./http-sender.ts";
import { RECV_WINDOW_MS } from "./signed-rest.ts";
import { STUCK_AFTER_MS, STUCK_AGAIN_MS } from "./stuck.ts";
import { deliveryStage, FIND, MARKET, PLACE, UNCLEAR } from "./testing/delivery-stage.ts";

const stage = deliveryStage();
const { send, expectOnce } = stage;

describe("an order whose outcome is not known is asked for before anything is sent again", () => {
  test.each(UNCLEAR)("%s: it is found", async (_, fault) => {
    stage.proxy.plan(PLACE, fault);
    expect(await send(MARKET)).toMatchObject({
      kind: "PLACED",
      state: { status: "FILLED", executedQuote: decimal("60") },
      sends: 1,
      queries: 1,
    });
    expect(stage.proxy.seen).toEqual([PLACE, FIND]);
    await expectOnce();
  });

  test("cut before the venue saw it: sent again once it could not be carried out any more", async () => {
    stage.proxy.plan(PLACE, { kind: "CUT_BEFORE" });
    const began = stage.time.now();
    const delivered = await send(MARKET);
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 2, sentAt: began });
    expect((delivered.acknowledgedAt ?? 0) - began).toBeGreaterThanOrEqual(NOT_FOUND_AFTER_MS);
    expect(stage.proxy.seen).toEqual([PLACE, FIND, FIND, PLACE]);
    await expectOnce();
  });

  test("that it stays unknown for long is told, and once a minute from then on", async () => {
    stage.proxy.plan(PLACE, { kind: "CUT_AFTER" });
    for (let asked = 0; asked < 60; asked += 1) stage.proxy.plan(FIND, { kind: "CUT_BEFORE" });
    const began = stage.time.now();
    const told: [number, string][] = [];
    const onStuck = (reason: string) => void told.push([stage.time.now() - began, reason]);
    expect(await send(MARKET, { onStuck })).toMatchObject({ kind: "PLACED", sends: 1, queries: 61 });
    const [first = 0, second = 0] = told.map(([at]) => at);
    expect(told).toHaveLength(2);
    expect(told.every(([, reason]) => reason.length > 0)).toBe(true);
    expect([first >= STUCK_AFTER_MS, first < STUCK_AFTER_MS + RETRY_MS_MAX + 1]).toEqual([true, true]);
    expect([second - first >= STUCK_AGAIN_MS, second - first < STUCK_AGAIN_MS + RETRY_MS_MAX + 1]).toEqual([
      true,
      true,
    ]);
  });

  test("questions that are cut, refused or limited are asked again, for as long as it takes", async () => {
    stage.proxy.plan(PLACE, { kind: "CUT_AFTER" });
    stage.proxy.plan(FIND, { kind: "CUT_BEFORE" });
    stage.proxy.plan(FIND, { kind: "ANSWER", status: 502, body: "<html>" });
    stage.proxy.plan(FIND, { kind: "ANSWER", status: 400, body: '{"code":-1000,"msg":"?"}' });
    stage.proxy.plan(FIND, {
      kind: "ANSWER",
      status: 429,
      body: '{"code":-1003,"msg":""}',
      headers: { "retry-after": "3" },
    });
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", sends: 1 });
    expect(stage.proxy.seen).toEqual([PLACE, FIND, FIND, FIND, FIND, FIND]);
    await expectOnce();
  });

  test("held on its way beyond its window: the venue refuses it when it comes, and there is one", async () => {
    stage.proxy.plan(PLACE, { kind: "HOLD" });
    const delivery = send(MARKET);
    await stage.proxy.held();
    stage.time.advance(DEADLINE_MS);
    expect(await delivery).toMatchObject({ kind: "PLACED", sends: 2 });
    const [late] = await stage.proxy.release();
    expect(late).toMatchObject({ status: 400, body: expect.stringContaining("-1021") });
    await expectOnce();
  });

  test("it comes to the venue while it is asked for: it is found, and not sent again", async () => {
    stage.proxy.plan(PLACE, { kind: "LATE" });
    const pauses: number[] = [];
    const delivered = await send(MARKET, {
      async pause(ms) {
        pauses.push(ms);
        stage.time.advance(ms);
        if (pauses.length === 3) await stage.proxy.release();
      },
    });
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 1, queries: 2 });
    await expectOnce();
  });

  test("what waited in the client before it was signed may come as much later", async () => {
    stage.proxy.plan(PLACE, { kind: "LATE" });
    const ownWaitMs = 4_000;
    const began = stage.time.now();
    const comesAt = began + ownWaitMs + RECV_WINDOW_MS - 1_000;
    let isReleased = false;
    const delivered = await send(MARKET, {
      client: {
        ...stage.client,
        async place(what) {
          stage.time.advance(ownWaitMs);
          return await stage.client.place(what);
        },
      },
      async pause(ms) {
        stage.time.advance(ms);
        if (isReleased || stage.time.now() < comesAt) return;
        isReleased = true;
        await stage.proxy.release();
      },
    });
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 1, sentAt: began });
    await expectOnce();
  });

  test("it comes to the venue when it has been sent again: it is too old by then", async () => {
    stage.proxy.plan(PLACE, { kind: "LATE" });
    const delivered = await send(MARKET);
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 2 });
    expect(await stage.proxy.release()).toMatchObject([
      { status: 400, body: expect.stringContaining("-1021") },
    ]);
    await expectOnce();
  });
});

describe("after a start or a takeover", () => {
  test("what was sent before is found and not sent", async () => {
    await stage.client.place(MARKET);
    expect(await send(MARKET, { mayHaveBeenSentAt: stage.time.now() })).toMatchObject({
      kind: "PLACED",
      sends: 0,
      queries: 1,
      sentAt: null,
    });
    await expectOnce();
  });

  test("what is not found is waited for as long as it may come, then sent", async () => {
    const takenAt = stage.time.now();
    const delivered = await send(MARKET, { mayHaveBeenSentAt: takenAt });
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 1, sentAt: takenAt + NOT_FOUND_AFTER_MS });
    await expectOnce();
  });

  test("long after it a question is enough", async () => {
    const mayHaveBeenSentAt = stage.time.now() - NOT_FOUND_AFTER_MS;
    expect(await send(MARKET, { mayHaveBeenSentAt })).toMatchObject({
      kind: "PLACED",
      queries: 1,
      sentAt: stage.time.now(),
    });
    await expectOnce();
  });
});
