import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

test("under one name one begins when the other has ended, in their order; other names do not wait", async () => {
  const turns = new Turns();
  const told: string[] = [];
  const take = (name: string, who: string) =>
    turns.take(name, async () => {
      told.push(`${who} begins`);
      await Promise.resolve();
      told.push(`${who} ends`);
      return who;
    });
  const taken = [take("a", "first"), take("a", "second"), take("b", "other"), take("a", "third")];
  expect(await Promise.all(taken)).toEqual(["first", "second", "other", "third"]);
  expect(told.filter((each) => !each.startsWith("other"))).toEqual([
    ...["first begins", "first ends", "second begins", "second ends", "third begins", "third ends"],
  ]);
  expect(told.indexOf("other begins")).toBeLessThan(told.indexOf("first ends"));
});

test("who fails keeps nobody waiting", async () => {
  const turns = new Turns();
  const failed = turns.take("a", () => Promise.reject(new Error("no")));
  const next = turns.take("a", async () => "next");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("next");
});
