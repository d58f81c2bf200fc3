// Runs the tables in `scenarios/copy/`: every line is a step, its outcome, and what the copy has after it, to
// the last digit.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { scenarios } from "../../engine/testing/scenario-tables.ts";
import { CopyBench } from "./testing/copy-bench.ts";
import { take } from "./testing/copy-steps.ts";

const FOLDER = join(import.meta.dirname, "../../../scenarios/copy");
const RULES: { readonly [T in StrategyType]: readonly SymbolRules[] } = {
  SPOT: [symbolRules("BTC"), symbolRules("ETH")],
  FUTURES: [contractRules("BTC"), contractRules("ETH")],
};

const files = readdirSync(FOLDER);

test("there are scenarios of copying, of spot and of futures", () => {
  const types = new Set(files.map(typeOf));
  expect(types).toEqual(new Set(["SPOT", "FUTURES"]));
});

for (const file of files) {
  describe(`copy/${file}`, () => {
    for (const { name, lines } of scenarios(readFileSync(join(FOLDER, file), "utf8"))) {
      test(name, () => {
        const type = typeOf(file);
        const bench = new CopyBench(type, RULES[type]);
        const seen = lines.map(({ step }) => ({ step, ...take(bench, step) }));
        expect(seen).toEqual(lines);
      });
    }
  });
}

/** The first word of a file's name is its strategy type. */
function typeOf(file: string): StrategyType {
  return file.startsWith("futures-") ? "FUTURES" : "SPOT";
}
