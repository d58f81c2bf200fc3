// What is said of a form that does not fit: by field, in words for the person who filled it in.
import { expect, test } from "vitest";
import { z } from "zod";
import { DashboardError } from "./errors.ts";
import { readBody, readQuery } from "./reading.ts";

const FORM = z.strictObject({
  name: z.string().trim().min(1).max(5),
  email: z.email(),
  pin: z.string().min(4),
  kind: z.enum(["A", "B"]),
  own: z
    .string()
    .refine((text) => text === "x", "is not x")
    .optional(),
  count: z.number().min(3).max(9).optional(),
});
const FIT = { name: "Ada", email: "ada@example.org", pin: "1234", kind: "A" };

test.each([
  [{ name: " " }, { name: "is empty" }],
  [{ name: "Ada Example" }, { name: "must have at most 5 characters" }],
  [{ name: 1 }, { name: "must be a text" }],
  [{ name: undefined }, { name: "is missing" }],
  [{ email: "ada" }, { email: "is not an e-mail address" }],
  [{ pin: "12" }, { pin: "must have at least 4 characters" }],
  [{ kind: "C" }, { kind: "must be A or B" }],
  [{ own: "y" }, { own: "is not x" }],
  [{ count: 2 }, { count: "must be at least 3" }],
  [{ count: 10 }, { count: "must be at most 9" }],
  [{ count: "3" }, { count: "must be a number" }],
  [{ nmae: "Ada" }, { nmae: "is not a field here" }],
  [
    { name: "", pin: "" },
    { name: "is empty", pin: "must have at least 4 characters" },
  ],
  [{ name: "a\0" }, { name: "has a character that cannot be kept" }],
])("%j is answered with %j", (change, fields) => {
  expect(fieldsOf(() => read({ ...FIT, ...change }))).toEqual(fields);
});

test("what fits is read as its schema has it", () => {
  expect(read({ ...FIT, name: " Ada " })).toEqual(FIT);
  expect(readBody(null, "", undefined)).toBeNull();
  expect(readBody(null, "{}", "application/json; charset=utf-8")).toBeNull();
  expect(readQuery(z.strictObject({ a: z.string() }), "a=%C3%A4%20b")).toEqual({ a: "ä b" });
});

test("a body of letters beyond ASCII is UTF-8, and bytes that are none are refused", () => {
  const bytes = (text: string) => Buffer.from(text).toString("latin1");
  const schema = z.strictObject({ a: z.string() });
  expect(readBody(schema, bytes('{"a":"Ää€"}'), "application/json")).toEqual({ a: "Ää€" });
  expect(() => readBody(schema, '{"a":"\xff"}', "application/json")).toThrow(DashboardError);
});

test("of thousands of strangers a few are named", () => {
  const strangers = Object.fromEntries([...Array(1_000).keys()].map((index) => [`stranger${index}`, 1]));
  expect(Object.keys(fieldsOf(() => read({ ...FIT, ...strangers })))).toHaveLength(20);
});

test("a name that is there twice in an address is refused", () => {
  expect(fieldsOf(() => readQuery(z.strictObject({ a: z.string() }), "a=1&a=2"))).toEqual({
    a: "occurs twice",
  });
  const many = Array.from({ length: 5_000 }, (_, index) => `n${index}=`).join("&");
  expect(fieldsOf(() => readQuery(z.strictObject({}), `${many}&n4999=`))).toEqual({ n4999: "occurs twice" });
});

function read(body: object): unknown {
  return readBody(FORM, JSON.stringify(body), "application/json");
}

function fieldsOf(act: () => unknown): Readonly<Record<string, string>> {
  try {
    act();
  } catch (error) {
    if (error instanceof DashboardError) return error.json.error.fields ?? {};
    throw error;
  }
  throw new Error("it was taken");
}
