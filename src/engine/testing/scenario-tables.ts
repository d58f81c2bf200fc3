// The text tables in `scenarios/`: each scenario becomes a test that executes its steps one by one on a
// workbench of its own and compares every outcome and all holdings after it, to the last digit.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ScenarioSetup, Workbench } from "./workbench.ts";

const FOLDER = join(import.meta.dirname, "../../../scenarios");

/** Registers the tests of one folder of tables. */
export function describeScenarios(folderName: string, setup: ScenarioSetup): void {
  const folder = join(FOLDER, folderName);
  const files = readdirSync(folder);
  test(`there are scenarios in ${folderName}`, () => {
    expect(files.length).toBeGreaterThan(0);
  });
  for (const file of files) {
    describe(`${folderName}/${file}`, () => {
      for (const { name, lines } of scenarios(readFileSync(join(folder, file), "utf8"))) {
        test(name, () => {
          const bench = new Workbench(setup);
          const seen = lines.map(({ step }) => ({ step, ...bench.take(step) }));
          expect(seen).toEqual(lines);
        });
      }
    });
  }
}

type Line = { readonly step: string; readonly outcome: string; readonly held: string };

/** The holdings equal those of the line above. */
const AS_ABOVE = "=";

/** The scenarios of a file; a row that begins with `#` is a remark. */
export function scenarios(text: string): { name: string; lines: Line[] }[] {
  return text
    .split(/^== /m)
    .slice(1)
    .map((part) => {
      const [name = "", ...rows] = part
        .split("\n")
        .filter((row) => row.trim() !== "" && !row.startsWith("#"));
      let above = "";
      const lines = rows.map((row) => {
        const line = lineOf(row);
        above = line.held === AS_ABOVE ? above : line.held;
        return { ...line, held: above };
      });
      return { name, lines };
    });
}

function lineOf(row: string): Line {
  const match = /^(.*?)\s*->\s*(.*?)\s*\|\s*(.*?)\s*$/.exec(row);
  if (match === null) throw new Error(`a row is "step -> outcome | what is held": ${row}`);
  const [, step = "", outcome = "", held = ""] = match;
  return { step, outcome, held };
}
