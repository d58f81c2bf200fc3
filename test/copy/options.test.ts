// The flags of `npm run copy-faults`.
import { describe, expect, test } from "vitest";
import { OptionError } from "../support/program.ts";
import { HELP, readOptions } from "./options.ts";

describe("the flags of copy-faults", () => {
  test("without any it mirrors 20,000 orders on both stores, kills and cuts", () => {
    expect(readOptions(["--seed", "7"])).toEqual({
      ...{
        orders: 20_000,
        leads: 4,
        copiers: 25,
        seed: 7,
        killEveryMs: 30_000,
        cuts: true,
        exchange: true,
        hideMsMax: 600_000,
        plant: null,
        isJson: false,
      },
      ...{ stores: ["sqlite", "postgres"], mustHave: false },
    });
  });

  test("each flag is read", () => {
    const args = ["--orders", "50", "--leads", "1", "--copiers", "3", "--store", "sqlite", "--seed", "1"];
    expect(
      readOptions([
        ...args,
        "--no-kills",
        "--no-cuts",
        "--no-exchange",
        "--hide-max",
        "5",
        "--json",
        "--plant",
        "random-ids",
      ]),
    ).toEqual({
      ...{ exchange: false, hideMsMax: 5_000 },
      ...{ orders: 50, leads: 1, copiers: 3, seed: 1, killEveryMs: null, cuts: false, plant: "random-ids" },
      ...{ stores: ["sqlite"], mustHave: true, isJson: true },
    });
    expect(readOptions(["--kill-every", "8"])).toMatchObject({ killEveryMs: 8_000 });
    expect(readOptions(["--help"])).toBe("help");
    expect(HELP).toContain("random-ids");
  });

  test.each([
    ["--orders", "0"],
    ["--copiers", "1"],
    ["--hide-max", "0"],
    ["--kill-every", "0"],
    ["--store", "other"],
    ["--plant", "nothing"],
    ["--orders", "many"],
  ])("%s %s is refused", (flag, value) => {
    expect(() => readOptions([flag, value])).toThrow(OptionError);
  });
});
