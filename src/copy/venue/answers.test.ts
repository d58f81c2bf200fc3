// The classification of the exchange's answers. Bodies as they were published or recorded: reference
// exchange, sections 2, 4 and 16.
import { expect, test } from "vitest";
import { BodyFault, mapped, readAnswer, valueFor } from "./answers.ts";

const body = (code: number, msg = "said") => JSON.stringify({ code, msg });

test.each<[number, string, string]>([
  [200, '{"serverTime":1499827319559}', "OK"],
  [200, "[]", "OK"],
  [200, "", "UNKNOWN"],
  [200, '{"symbol":', "UNKNOWN"],
  [400, body(-2010, "Account has insufficient balance for requested action."), "REFUSED"],
  [400, body(-1013, "Filter failure: LOT_SIZE"), "REFUSED"],
  [400, body(-2019), "REFUSED"],
  [404, body(-5000), "REFUSED"],
  [404, "<html>", "UNKNOWN"],
  [400, "", "UNKNOWN"],
  [404, '{"code":404,"msg":"no route"}', "UNKNOWN"],
  [400, '{"code":"-2010","msg":"said"}', "UNKNOWN"],
  [400, body(-2010.5), "UNKNOWN"],
  [405, "{}", "UNKNOWN"],
  [409, body(-2022), "REFUSED"],
  [400, body(-1021), "TIMESTAMP"],
  [
    400,
    body(-1102, "Mandatory parameter 'timestamp' was not sent, was empty/null, or malformed."),
    "TIMESTAMP",
  ],
  [400, body(-1102, "Mandatory parameter 'price' was not sent, was empty/null, or malformed."), "REFUSED"],
  [401, body(-2015), "REJECTED"],
  [401, body(-2014), "REJECTED"],
  [401, "", "UNKNOWN"],
  [401, "<html>", "UNKNOWN"],
  [401, '{"code":401,"msg":"Unauthorized"}', "UNKNOWN"],
  [400, body(-1022), "REJECTED"],
  [400, body(-2017), "REJECTED"],
  [400, body(-1000), "UNKNOWN"],
  [400, body(-1007), "UNKNOWN"],
  [408, body(-1021), "UNKNOWN"],
  [500, body(-1001), "UNKNOWN"],
  [502, "<html>", "UNKNOWN"],
  [503, body(-1008), "UNKNOWN"],
  [504, body(-2010), "UNKNOWN"],
  [302, "", "UNKNOWN"],
  [429, body(-1003), "LIMITED"],
  [429, body(-1015), "LIMITED"],
  [418, body(-1003), "LIMITED"],
  [403, "<html>", "LIMITED"],
])("%i %s is %s", (status, text, kind) => {
  expect(readAnswer(status, text).kind).toBe(kind);
});

test("a refusal has the venue's code and words, cut where they are endless", () => {
  expect(readAnswer(400, body(-2013, "Order does not exist."))).toEqual({
    kind: "REFUSED",
    code: -2013,
    message: "Order does not exist.",
  });
  expect(readAnswer(404, "nothing")).toMatchObject({ kind: "UNKNOWN", status: 404 });
  expect(readAnswer(400, body(-1, "x".repeat(10_000)))).toMatchObject({ message: "x".repeat(200) });
});

test("a ban has its end", () => {
  const message =
    "Way too much request weight used; IP banned until 1499827319559. Please use WebSocket Streams for live updates to avoid bans.";
  expect(readAnswer(418, body(-1003, message))).toMatchObject({
    status: 418,
    bannedUntil: 1_499_827_319_559,
  });
  expect(readAnswer(418, "")).toMatchObject({ code: 0, bannedUntil: null });
});

test("a body that makes no sense is not known; a fault of ours is one", () => {
  const fails = (error: Error) => () => {
    throw error;
  };
  expect(mapped({ kind: "OK", value: {} }, fails(new BodyFault("no id")))).toMatchObject({ kind: "UNKNOWN" });
  expect(() => mapped({ kind: "OK", value: {} }, fails(new TypeError("ours")))).toThrow("ours");
});

test("certain refusals can be values", () => {
  const codes = new Set([-2013]);
  const refused = (code: number) => ({ kind: "REFUSED", code, message: "" }) as const;
  expect(valueFor<string | null>(codes, refused(-2013), null)).toEqual({ kind: "OK", value: null });
  expect(valueFor<string | null>(codes, refused(-2011), null)).toEqual(refused(-2011));
});

test("what the venue repeats of a secret is not kept, nor the beginning of it where words are cut", () => {
  const secret = "0123456789abcdef";
  const words = `${secret} is wrong: ${"x".repeat(180)}${secret}`;
  const reading = readAnswer(400, body(-1022, words), [secret]);
  expect(reading).toMatchObject({ kind: "REJECTED", code: -1022 });
  expect(JSON.stringify(reading)).not.toContain("0123");
});
