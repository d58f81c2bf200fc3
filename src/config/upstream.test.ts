import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bundledBrackets } from "../market/brackets/bundled.ts";
import { ConfigError, readConfig } from "./config.ts";
import { openUpstream } from "./upstream.ts";

let directory: string;
const log = { warn: () => {} };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lyrebird-upstream-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** The live market, of which nothing is opened here, with a file of brackets. */
function openWith(text: string | null) {
  const file = join(directory, "brackets.json");
  if (text !== null) writeFileSync(file, text);
  return openUpstream(readConfig({}, { MARKET: "live", LEVERAGE_BRACKETS: file }), log);
}

test("without a file the bundled brackets serve, with one its own do", async () => {
  const bundled = await openUpstream(readConfig({}, { MARKET: "live" }), log);
  expect(bundled.feedOptions.brackets).toBe(bundledBrackets);
  // An exchange elsewhere may lag; only one of our own, in this process, may not.
  expect(bundled.feedOptions.measuresAge).toBe(true);
  const row = {
    bracket: 1,
    initialLeverage: 20,
    notionalFloor: 0,
    notionalCap: 5,
    maintMarginRatio: 0.1,
    cum: 0,
  };
  const { feedOptions } = await openWith(JSON.stringify([{ symbol: "XUSDT", brackets: [row] }]));
  expect([...feedOptions.brackets.keys()]).toEqual(["XUSDT"]);
});

test.each([
  ["that there is not", null, /^LEVERAGE_BRACKETS cannot be read: .*brackets\.json/],
  ["that is no table", "{}", /^LEVERAGE_BRACKETS cannot be used: entry 1 names no symbol/],
])("a file of brackets %s is a wrong setting", async (_what, text, message) => {
  const opened = openWith(text);
  await expect(opened).rejects.toThrow(ConfigError);
  await expect(opened).rejects.toThrow(message);
});
