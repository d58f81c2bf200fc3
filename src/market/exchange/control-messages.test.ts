import { expect, test } from "vitest";
import { answerTo, type Controlled } from "./control-messages.ts";

function connection(): Controlled & { readonly names: Set<string> } {
  const names = new Set<string>();
  return {
    names,
    isCombined: false,
    subscribe(streams) {
      if (streams.includes("full@trade")) return "too many streams";
      for (const stream of streams) names.add(stream);
      return null;
    },
    unsubscribe(streams) {
      for (const stream of streams) names.delete(stream);
    },
    subscriptions: () => [...names],
  };
}

const variants =
  "expected one of `SUBSCRIBE`, `UNSUBSCRIBE`, `LIST_SUBSCRIPTIONS`, `SET_PROPERTY`, `GET_PROPERTY`";
const subscribe = (id: string) => `{"method":"SUBSCRIBE","params":["a@trade"],"id":${id}}`;

test.each([
  ["1"],
  ["0"],
  ["-1"],
  ["9007199254740993"],
  ["9223372036854775807"],
  ["-9223372036854775808"],
  ["null"],
  ['""'],
  ['"3f2504e0-4f89-41d3-9a0c-0305e82c3301"'],
])("the id %s goes back as it came", (id) => {
  expect(answerTo(connection(), subscribe(id))).toBe(`{"result":null,"id":${id}}`);
});

test.each([
  ["1.5"],
  ["9223372036854775808"],
  ["-9223372036854775809"],
  ["1e300"],
  ["true"],
  ["{}"],
  ["[]"],
  ['"3f2504e0-4f89-41d3-9a0c-0305e82c33010"'],
])("the id %s is refused, and nothing is subscribed", (id) => {
  const client = connection();
  expect(answerTo(client, subscribe(id))).toBe(
    '{"error":{"code":2,"msg":"Invalid request: request ID must be an unsigned integer"},"id":null}',
  );
  expect(client.names.size).toBe(0);
});

test.each([
  [
    '{"method":"SUBSCRIBE","params":["a@trade"]}',
    2,
    "Invalid request: request ID must be an unsigned integer",
  ],
  ['{"id":1}', 2, "Invalid request: missing field `method` at line 1 column 8"],
  ['{"method":"SUBSCRIBE","id":1}', 2, "Invalid request: missing field `params` at line 1 column 29"],
  [
    '{"method":"DANCE","id":1}',
    2,
    `Invalid request: unknown variant \`DANCE\`, ${variants} at line 1 column 17`,
  ],
  ['{"method":7,"id":1}', 2, `Invalid request: unknown variant \`7\`, ${variants} at line 1 column 11`],
  ['{"method":"SUBSCRIBE","params":"a@trade","id":1}', 2, "Invalid request: invalid stream"],
  ['{"method":"SUBSCRIBE","params":[1],"id":1}', 2, "Invalid request: invalid stream"],
  ['{"method":"SUBSCRIBE","params":[""],"id":1}', 2, "Invalid request: invalid stream"],
  ['{"method":"SUBSCRIBE","params":["a b"],"id":1}', 2, "Invalid request: invalid stream"],
  ['{"method":"SUBSCRIBE","params":["a\\"b"],"id":1}', 2, "Invalid request: invalid stream"],
  ['{"method":"SUBSCRIBE","params":["full@trade"],"id":1}', 2, "Invalid request: too many streams"],
  ['{"method":"UNSUBSCRIBE","params":[null],"id":1}', 2, "Invalid request: invalid stream"],
  ['{"method":"SET_PROPERTY","params":["speed",true],"id":1}', 0, "Unknown property"],
  ['{"method":"GET_PROPERTY","params":["speed"],"id":1}', 0, "Unknown property"],
  ['{"method":"SET_PROPERTY","params":["combined",1],"id":1}', 1, "Invalid value type: expected Boolean"],
  ['{"method":"SET_PROPERTY","params":["combined"],"id":1}', 1, "Invalid value type: expected Boolean"],
  [
    '{"method":"SET_PROPERTY","params":[true,true],"id":1}',
    2,
    "Invalid request: property name must be a string",
  ],
  ['{"method":"GET_PROPERTY","id":1}', 2, "Invalid request: property name must be a string"],
  ['{"method":"GET_PROPERTY","params":["combined",1],"id":1}', 2, "Invalid request: too many parameters"],
  [
    '{"method":"SET_PROPERTY","params":["combined",true,1],"id":1}',
    2,
    "Invalid request: too many parameters",
  ],
  ["[]", 2, "Invalid request: the message must be an object"],
  ["null", 2, "Invalid request: the message must be an object"],
  ["", 3, "Invalid JSON: expected value at line 1 column 1"],
  ["hello", 3, "Invalid JSON: expected value at line 1 column 1"],
])("%s is an error in the wrapped form", (message, code, msg) => {
  const client = connection();
  const answer = JSON.parse(answerTo(client, message));
  expect(answer.error).toEqual({ code, msg });
  expect(Object.keys(answer)).toEqual(["error", "id"]);
  expect(client.names.size).toBe(0);
  expect(client.isCombined).toBe(false);
});

test("properties and subscriptions are answered as they are", () => {
  const client = connection();
  const say = (method: string, params?: unknown) =>
    JSON.parse(answerTo(client, JSON.stringify({ method, params, id: 1 }))).result;
  expect(say("SUBSCRIBE", ["a@trade", "b@trade", "a@trade"])).toBeNull();
  expect(say("UNSUBSCRIBE", ["b@trade", "c@trade"])).toBeNull();
  expect(say("LIST_SUBSCRIPTIONS")).toEqual(["a@trade"]);
  expect(say("GET_PROPERTY", ["combined"])).toBe(false);
  expect(say("SET_PROPERTY", ["combined", true])).toBeNull();
  expect(say("GET_PROPERTY", ["combined"])).toBe(true);
});
