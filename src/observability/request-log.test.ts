import { describe, expect, test } from "vitest";
import {
  KEYS_MAX,
  type NewRequest,
  REQUESTS_PER_KEY_MAX,
  RequestLog,
  shownPath,
  shownText,
  TEXT_LENGTH_MAX,
} from "./request-log.ts";

const SINCE = 1_000;

function request(at: number, more: Partial<NewRequest> = {}): NewRequest {
  return {
    at,
    method: "GET",
    path: "/api/v3/account",
    status: 200,
    code: null,
    isReplay: false,
    message: null,
    weight: 20,
    latencyMs: 1.5,
    address: "192.0.2.7",
    userAgent: "a bot",
    diagnosis: null,
    ...more,
  };
}

describe("the log of requests", () => {
  test("remembers the last ones of a key, newest first, and no more", () => {
    const log = new RequestLog(SINCE);
    for (let at = 1; at <= REQUESTS_PER_KEY_MAX + 30; at += 1) log.record("key", request(at));
    log.record("other", request(7));
    const times = log.requestsOf("key").map(({ at }) => at);
    expect(times).toHaveLength(REQUESTS_PER_KEY_MAX);
    expect(times[0]).toBe(REQUESTS_PER_KEY_MAX + 30);
    expect(times.at(-1)).toBe(31);
    expect(log.requestsOf("other")).toHaveLength(1);
    expect(log.requestsOf("nobody")).toEqual([]);
  });

  test("shows all of a request that was written over another", () => {
    const log = new RequestLog(SINCE);
    const refused = {
      status: 400,
      code: -1021,
      isReplay: false,
      message: "Timestamp",
      diagnosis: { check: "WINDOW", messageSha256: null, clockOffsetMs: 9, hints: [] },
    } as const;
    for (let at = 1; at <= REQUESTS_PER_KEY_MAX; at += 1) log.record("key", request(at, refused));
    const last = request(500, {
      method: "POST",
      path: "/x",
      weight: 1,
      address: "192.0.2.8",
      userAgent: "b",
    });
    const requestId = log.record("key", last);
    expect(log.requestsOf("key")[0]).toEqual({ requestId, ...last });
    expect(log.requestsOf("key")[1]).toMatchObject(refused);
  });

  test("gives every request an id of its own", () => {
    const log = new RequestLog(SINCE);
    const ids = Array.from({ length: 300 }, (_, at) => log.record(at % 2 === 0 ? "one" : "two", request(at)));
    expect(new Set(ids).size).toBe(300);
  });

  test("forgets the least recently used keys when there are too many", () => {
    const log = new RequestLog(SINCE);
    for (let key = 0; key < KEYS_MAX; key += 1) log.record(`key-${key}`, request(key));
    log.record("key-0", request(5_000));
    log.record("one more", request(5_001));
    log.record("and another", request(5_002));
    expect(["key-0", "key-1", "key-2", "key-3", "one more"].map((key) => log.knows(key))).toEqual([
      true,
      false,
      false,
      true,
      true,
    ]);
  });

  test("takes the explanation of a request that is still remembered", () => {
    const log = new RequestLog(SINCE);
    const diagnosis = { check: "SIGNATURE", messageSha256: "aa", clockOffsetMs: 0, hints: ["so"] } as const;
    const first = log.record("key", request(1));
    for (let at = 2; at <= REQUESTS_PER_KEY_MAX; at += 1) log.record("key", request(at));
    log.explain("key", first, diagnosis);
    expect(log.requestsOf("key").at(-1)).toMatchObject({ requestId: first, diagnosis });
    log.record("key", request(500));
    log.explain("key", first, diagnosis);
    log.explain("nobody", first, diagnosis);
    expect(log.requestsOf("key").some((each) => each.diagnosis !== null)).toBe(false);
  });

  test("tells listeners of news of keys with a strategy, until they are released", () => {
    const log = new RequestLog(SINCE);
    const told: string[] = [];
    const release = log.onNews((strategyId) => told.push(strategyId));
    log.record("key", request(1));
    log.record("key", request(2), "one");
    // Who is banned is not looked up: the strategy is the one that was known.
    const requestId = log.record("key", request(3));
    log.explain("key", requestId, { check: "WINDOW", messageSha256: null, clockOffsetMs: 0, hints: [] });
    log.record("key", request(4), null);
    release();
    log.record("key", request(5), "one");
    expect(told).toEqual(["one", "one", "one"]);
  });
});

describe("texts from outside", () => {
  test.each([
    ["a bot/1.0 (linux)", "a bot/1.0 (linux)"],
    [`Bearer ${"a1".repeat(32)}!`, "Bearer …!"],
    ["x ".repeat(300), "x ".repeat(300).slice(0, TEXT_LENGTH_MAX)],
    ["@binance/derivatives-trading-usds-futures/38.1.1", "@binance/derivatives-trading-usds-futures/38.1.1"],
  ])("%s is shown as %s", (text, shown) => {
    expect(shownText(text)).toBe(shown);
    const log = new RequestLog(SINCE);
    log.record("key", request(1, { userAgent: text, message: text }));
    expect(log.requestsOf("key")[0]).toMatchObject({ userAgent: shown, message: shown });
  });

  test("that several keys send are shown to each, without what might be a secret", () => {
    const log = new RequestLog(SINCE);
    const secret = "a1".repeat(32);
    const texts = ["a bot/1.0 (linux)", `Bearer ${secret}`, "a bot/1.0 (linux)", "ä ".repeat(200)];
    for (const key of ["one", "two", "three"]) {
      for (const text of texts)
        log.record(key, request(1, { userAgent: text, message: text, address: text }));
      const shown = texts.map(shownText);
      const [newestFirst, kept] = [log.requestsOf(key), shown.toReversed()];
      for (const field of ["userAgent", "message", "address"] as const) {
        expect(newestFirst.map((each) => each[field])).toEqual(kept);
      }
      expect(JSON.stringify(newestFirst)).not.toContain(secret);
    }
  });

  test.each([
    ["/api/v3/nothing", "/api/v3/nothing"],
    ["/api/v3/order&timestamp=1&signature=2", "/api/v3/order"],
    ["/api/v3/order%3Fsymbol=1", "/api/v3/order"],
    [`/api/v3/${"0f".repeat(32)}`, "/api/v3/…"],
  ])("of the path %s is shown %s", (path, shown) => {
    expect(shownPath(path)).toBe(shown);
  });
});
