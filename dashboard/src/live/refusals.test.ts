import { expect, test } from "vitest";
import { createRefusals } from "./refusals.ts";

test("what is refused is said, the same again after a minute, and what the pages say themselves not at all", () => {
  const said: string[] = [];
  let now = 0;
  const refused = createRefusals({ say: (text) => said.push(text), now: () => now });
  const tooMany = { code: "TOO_MANY_REQUESTS", message: "Too many windows are open." };
  refused(tooMany);
  refused({ code: "NOT_SIGNED_IN", message: "Sign in first." });
  refused({ code: "NOT_FOUND", message: "Not found, or not yours." });
  now = 59_999;
  refused(tooMany);
  expect(said).toEqual(["Live updates were refused. Too many windows are open."]);
  refused({ ...tooMany, message: "Too much is followed at once." });
  expect(said.at(-1)).toBe("Live updates were refused. Too much is followed at once.");
  now = 60_000;
  refused(tooMany);
  expect(said).toHaveLength(3);
});
