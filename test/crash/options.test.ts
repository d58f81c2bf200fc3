import { describe, expect, test } from "vitest";
import { OptionError } from "../support/program.ts";
import { readOptions } from "./options.ts";

describe("the flags of npm run crash", () => {
  test("are cycles, store and seed, which is drawn if it is not given", () => {
    expect(readOptions([])).toEqual({
      cycles: 100,
      seed: expect.any(Number),
      stores: ["sqlite", "postgres"],
      mustHave: false,
      isJson: false,
    });
    expect(readOptions(["--cycles", "7", "--seed", "0", "--json"])).toMatchObject({
      cycles: 7,
      seed: 0,
      isJson: true,
    });
    expect(readOptions(["--help"])).toBe("help");
  });

  test("a store that is asked for by its name must be there", () => {
    expect(readOptions(["--store", "postgres"])).toMatchObject({ stores: ["postgres"], mustHave: true });
    expect(readOptions(["--store", "both"])).toMatchObject({
      stores: ["sqlite", "postgres"],
      mustHave: false,
    });
  });

  test.each([
    [["--cycles", "0"]],
    [["--cycles", "many"]],
    [["--store", "mysql"]],
    [["--seed", "-1"]],
    [["--frob"]],
    [["more"]],
  ])("%j is refused", (flags) => {
    expect(() => readOptions(flags)).toThrow(OptionError);
  });
});
