import { describe, expect, test } from "vitest";
import { OptionError } from "../support/program.ts";
import { readOptions } from "./options.ts";

describe("the flags of npm run soak", () => {
  test("are minutes, clients, subscriptions, storm and seed, which is drawn if it is not given", () => {
    expect(readOptions([])).toEqual({
      minutes: 10,
      clients: 500,
      subscriptions: 20,
      storm: 1_000,
      seed: expect.any(Number),
      isJson: false,
    });
    const flags = ["--minutes", "2", "--clients", "7", "--subscriptions", "3", "--storm", "0", "--seed", "5"];
    expect(readOptions([...flags, "--json"])).toEqual({
      ...{ minutes: 2, clients: 7, subscriptions: 3, storm: 0, seed: 5 },
      isJson: true,
    });
    expect(readOptions(["--help"])).toBe("help");
  });

  test.each([
    [["--minutes", "0"]],
    [["--clients", "many"]],
    [["--subscriptions", "21"]],
    [["--storm", "-1"]],
    [["--frob"]],
    [["more"]],
  ])("%j is refused", (flags) => {
    expect(() => readOptions(flags)).toThrow(OptionError);
  });
});
