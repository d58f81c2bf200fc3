import { describe, expect, test } from "vitest";
import { OptionError } from "../support/program.ts";
import { readOptions } from "./options.ts";

describe("the flags of npm run fire", () => {
  test("are signals, store, seed, which is drawn if it is not given, and what is left out", () => {
    expect(readOptions([])).toEqual({
      ...{ signals: 10_000, seed: expect.any(Number), stores: ["sqlite", "postgres"], mustHave: false },
      ...{ kills: true, cuts: true, isPlain: false, isJson: false },
    });
    const args = [
      "--signals",
      "7",
      "--seed",
      "0",
      "--store",
      "sqlite",
      "--no-kills",
      "--no-cuts",
      "--plain",
      "--json",
    ];
    expect(readOptions(args)).toEqual({
      ...{ signals: 7, seed: 0, stores: ["sqlite"], mustHave: true },
      ...{ kills: false, cuts: false, isPlain: true, isJson: true },
    });
    expect(readOptions(["--help"])).toBe("help");
  });

  test.each([
    [["--signals", "0"]],
    [["--signals", "many"]],
    [["--store", "mysql"]],
    [["--seed", "-1"]],
    [["--frob"]],
    [["more"]],
  ])("%j is refused", (flags) => {
    expect(() => readOptions(flags)).toThrow(OptionError);
  });
});
