// Receipts of strategies under `strict` on the recorded market: what the gateway answers over HTTP is verified by
// `lyrebird receipt verify` against the recording, and a changed digit in any figure is found.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { checkReceipts } from "../../src/cli/receipt-check.ts";
import { readReceipts } from "../../src/cli/receipt-file.ts";
import { recordedBooks } from "../../src/cli/recorded-books.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { readRecording } from "../../src/market/tape/recording.ts";
import { lyrebird } from "../support/commands.ts";
import { newDirectory } from "../support/gateway.ts";
import { seededRandom } from "../support/random.ts";
import { writeMarkedTape } from "./marked.ts";
import { FILE, FUTURES_FILE, isHere, readMessages, SKIPPED, SYMBOL } from "./recorded.ts";
import { cleanStages, openLife, openManualTape } from "./stage.ts";

const SEED = 20240808;
const PLACINGS = 60;
const PATHS = {
  SPOT: { order: "/api/v3/order", receipts: "/api/v3/platform/fillReceipts" },
  FUTURES: { order: "/fapi/v1/order", receipts: "/fapi/v1/platform/fillReceipts" },
} as const;

cleanStages();

describe.skipIf(!isHere).each(["SPOT", "FUTURES"] as const)(`receipts on the recorded market of %s${SKIPPED}`, (type) => {
  let tapeFile: string;
  /** As the route answers them. */
  let body: readonly Record<string, unknown>[];

  beforeAll(async () => {
    const played = await play(type);
    tapeFile = played.tapeFile;
    body = played.receipts;
  }, 120_000);

  test(`all of them are verified by the command (seed ${SEED})`, () => {
    const file = join(newDirectory(), "receipts.json");
    writeFileSync(file, JSON.stringify(body));
    const levels = body.filter(({ cause }) => cause === "WALK").map((row) => (row.levels as [{ index: number; ownConsumed: string; newerTrades: string; fromTicker: boolean }])[0]);
    console.log(type, {
      receipts: body.length,
      deeper: levels.filter(({ index }) => index > 0).length,
      consumed: levels.filter(({ ownConsumed }) => Number(ownConsumed) > 0).length,
      fromTicker: levels.filter(({ fromTicker }) => fromTicker).length,
      newerTrades: levels.filter(({ newerTrades }) => Number(newerTrades) > 0).length,
    });
    const { status, stdout, stderr } = lyrebird(["receipt", "verify", file, "--tape", tapeFile]);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${body.length} receipts: ${body.length} verified, 0 wrong, 0 unknown\n`,
      stderr: "",
    });
  });
});

async function play(type: StrategyType) {
  const isSpot = type === "SPOT";
  const options = isSpot ? { file: FILE } : writeMarkedTape(readMessages(FUTURES_FILE));
  const tape = await openManualTape(options);
  const life = await openLife(tape, { family: type });
  const random = seededRandom(SEED);
  const profile = strictProfile(type, STRICT_DEFAULTS);
  if (profile === null) throw new Error("the tier is bundled");
  const [strategy] = await life.seed(1, profile);
  if (strategy === undefined) throw new Error("one was seeded");
  void life.market.prepareBook(SYMBOL);
  for (let placing = 0; placing < PLACINGS; placing += 1) {
    const share = placing / PLACINGS;
    await life.playTo(Math.floor(tape.startsAt + 5_000 + (tape.endsAt - tape.startsAt - 10_000) * share + random() * 900));
    void life.market.prepareBook(SYMBOL);
    const quantity = isSpot ? "0.0012" : ["0.004", "0.05", "0.12", "0.3"][Math.floor(random() * 4)] ?? "0.3";
    // The second one meets what the first has consumed.
    for (const side of random() < 0.5 ? ["BUY", "BUY", "SELL", "SELL"] : ["BUY", "SELL"]) {
      const { status, body: answer } = await life.send(strategy, "POST", PATHS[type].order, { symbol: SYMBOL, side, type: "MARKET", quantity: isSpot && side === "SELL" ? "0.00119" : quantity });
      if (status !== 200) console.log(answer);
    }
  }
  const receipts = await life.call(strategy, "GET", PATHS[type].receipts, { symbol: SYMBOL, fromId: "1", limit: "1000" });
  return { receipts, tapeFile: options.file };
}
