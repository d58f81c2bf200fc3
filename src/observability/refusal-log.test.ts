// Refusals in the log: which, what is said of them, and how many.
import { expect, test } from "vitest";
import { REFUSALS_LOGGED_MAX, RefusalLog } from "./refusal-log.ts";
import { RequestContext } from "./request-context.ts";

function openLog() {
  const lines: object[] = [];
  let next = () => {};
  const refusals = new RefusalLog({
    every: (_ms, callback) => {
      next = callback;
      return () => {};
    },
    log: { warn: (fields: object, msg: string) => void lines.push({ ...fields, msg }) } as never,
  });
  const answer = (status: number, method = "GET", path: string | null = "/api/v3/account") => {
    const context = new RequestContext(0);
    context.path = path;
    const request = { method, path: "/secret", query: "secret", target: "", headers: {}, body: "secret" };
    refusals.answered(context, { ...request, address: "192.0.2.7" }, { status });
  };
  return { lines, answer, passInterval: () => next(), refusals };
}

test("what was not let in is logged, and every sign-in that was refused; nothing else", () => {
  const { lines, answer } = openLog();
  for (const status of [200, 400, 404, 418, 429, 500, 503]) answer(status);
  answer(200, "POST", "/dashboard/api/session");
  expect(lines).toEqual([]);
  answer(401);
  answer(403, "POST", null);
  answer(429, "POST", "/dashboard/api/session");
  expect(lines).toEqual([
    {
      status: 401,
      method: "GET",
      path: "/api/v3/account",
      address: "192.0.2.7",
      msg: "a request was not let in",
    },
    { status: 403, method: "POST", path: "(none)", address: "192.0.2.7", msg: "a request was not let in" },
    {
      ...{ status: 429, method: "POST", path: "/dashboard/api/session", address: "192.0.2.7" },
      msg: "a sign-in was refused",
    },
  ]);
});

test("a handshake of a stream that was refused is logged, with nothing that its client sent", () => {
  const { lines, refusals } = openLog();
  const refused = { namespace: "/candles", address: "192.0.2.7", code: "AUTH_INVALID_SIGNATURE" };
  refusals.handshake(refused);
  expect(lines).toEqual([{ ...refused, msg: "a stream handshake was refused" }]);
});

test("so many are logged within an interval; the number of the others is said, also at the end", () => {
  const { lines, answer, passInterval, refusals } = openLog();
  for (let count = 0; count < REFUSALS_LOGGED_MAX + 7; count += 1) answer(401);
  expect(lines).toHaveLength(REFUSALS_LOGGED_MAX);
  passInterval();
  expect(lines.at(-1)).toEqual({ suppressed: 7, msg: "further refusals were not logged one by one" });
  passInterval();
  expect(lines).toHaveLength(REFUSALS_LOGGED_MAX + 1);
  for (let count = 0; count < REFUSALS_LOGGED_MAX + 1; count += 1) answer(401);
  expect(lines).toHaveLength(2 * REFUSALS_LOGGED_MAX + 1);
  refusals.close();
  expect(lines.at(-1)).toMatchObject({ suppressed: 1 });
});
