// Receipts of strategies under `strict` on the recorded market: what the gateway answers over HTTP is
// verified by `lyrebird receipt verify` against the recording, and a changed digit in any figure is found.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { checkReceipts } from "../../src/cli/receipt-check.ts";
import { readReceipts } from "../../src/cli/receipt-file.ts";
import { recordedBooks } from "../../src/cli/recorded-books.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { readRecording } from "../../src/market/tape/recording.ts";
import { formatDecimal } from "../../src/money/decimal.ts";
import { seededRandom } from "../support/random.ts";
import { lyrebird } from "../support/servers/commands.ts";
import { newDirectory, runNode } from "../support/servers/gateway.ts";
import { cleanFixtures, openLife, openManualTape } from "./fixture.ts";
import { writeMarkedTape } from "./marked.ts";
import { FILE, FUTURES_FILE, isHere, readMessages, SKIPPED, SYMBOL } from "./recorded.ts";

const SEED = 20240808;
const PLACINGS = 60;
const PATHS = {
  SPOT: { order: "/api/v3/order", receipts: "/api/v3/platform/fillReceipts" },
  FUTURES: { order: "/fapi/v1/order", receipts: "/fapi/v1/platform/fillReceipts" },
} as const;

/** Least counts of what has to occur. */
const SEEN_MIN = {
  SPOT: { receipts: 150, verified: 120, queues: 5, deeper: 0, consumed: 20, ofTicker: 20 },
  FUTURES: { receipts: 150, verified: 120, queues: 5, deeper: 5, consumed: 20, ofTicker: 20 },
} as const;
/** At the beginning of the recording: its book is built again for each change. */
const MUTATED_ROWS = 12;
/** What has no evidence in the market: it is only compared with the rest. */
const BOUNDED = new Set([
  ...["tradeId", "orderId", "admittedAt", "latencyMs", "arrivedAt", "at"],
  ...["book", "queue.bookAtPlacement"].flatMap((book) => [
    ...[`${book}.receivedAt`, `${book}.tickerUpdateId`, `${book}.lastTradeId`],
  ]),
  // When the order was decided.
  "queue.history.0.time",
]);
/** Words that are as valid as those of the receipts. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  WALK: "LIQUIDATION",
  trades: "power-1",
  regular: "vip1",
  SPOT: "FUTURES",
  FUTURES: "SPOT",
  USDT: "BTC",
  BTC: "USDT",
};

/** What may be unknown of fills by a cause. */
const IN_QUEUES = /arrived in another order/;
const UNKNOWN: Readonly<Record<StrategyType, Readonly<Record<string, RegExp>>>> = {
  SPOT: {},
  FUTURES: { TRADE_AT_PRICE: IN_QUEUES, TRADE_THROUGH: IN_QUEUES },
};

type Found = {
  readonly tradeId: number;
  readonly cause: string;
  readonly outcome: string;
  readonly wrong: readonly string[];
  readonly unknown: readonly string[];
};
type Level = { readonly index: number; readonly ownConsumed: string; readonly fromTicker: boolean };
type Row = Readonly<Record<string, unknown>>;

cleanFixtures();

describe.skipIf(!isHere).each(["SPOT", "FUTURES"] as const)(
  `receipts on the recorded market of %s${SKIPPED}`,
  (type) => {
    let tapeFile: string;
    /** As the route answers them. */
    let body: readonly Row[];

    beforeAll(async () => {
      const played = await play(type);
      tapeFile = played.tapeFile;
      body = played.receipts;
    }, 240_000);

    test(`the command verifies them, and says what it cannot compare (seed ${SEED})`, () => {
      const file = join(newDirectory(), "receipts.json");
      writeFileSync(file, JSON.stringify(body));
      const { stdout } = lyrebird(["receipt", "verify", file, "--tape", tapeFile, "--json"]);
      const found: readonly Found[] = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(found.length).toBe(body.length);
      const others = found.filter(({ outcome }) => outcome !== "verified");
      for (const { cause, wrong, unknown, tradeId } of others) {
        expect({ tradeId, wrong }).toEqual({ tradeId, wrong: [] });
        // Every walk and every crossing is verified, and on spot every queue. Trades and
        // books of contracts come over connections of their own, so a server does not always receive them in
        // the order of the recording.
        const others = unknown.filter((reason) => !UNKNOWN[type][cause]?.test(reason));
        expect(others, `trade ${tradeId}, ${cause}`).toEqual([]);
      }
      // What the recording was chosen for.
      const levels = body.flatMap((row) => row.levels as readonly Level[]);
      const seen = {
        receipts: body.length,
        verified: body.length - others.length,
        queues: body.filter(({ queue }) => queue !== null).length,
        deeper: levels.filter(({ index }) => index > 0).length,
        consumed: levels.filter(({ ownConsumed }) => Number(ownConsumed) > 0).length,
        ofTicker: levels.filter(({ fromTicker }) => fromTicker).length,
      };
      for (const [what, count] of Object.entries(seen))
        expect(count, what).toBeGreaterThanOrEqual(SEEN_MIN[type][what as keyof typeof seen]);
    });

    test(`a changed digit in any figure of the market is found (seed ${SEED})`, async () => {
      const rows = body.slice(0, MUTATED_ROWS);
      const first = rows[0]?.market === "SPOT" ? "SPOT" : "FUTURES";
      const recorded = recordedBooks(readRecording(tapeFile), first);
      const findingsOf = async (given: readonly unknown[]) => {
        try {
          const read = readReceipts([{ name: "changed", text: JSON.stringify(given) }]);
          const found = await checkReceipts(read, recorded);
          return JSON.stringify(found.map(({ wrong, unknown }) => [wrong, unknown]));
        } catch {
          return "refused";
        }
      };
      const unchanged = await findingsOf(rows);
      expect(unchanged).not.toBe("refused");
      const isFound = async (given: readonly unknown[]) => (await findingsOf(given)) !== unchanged;
      const random = seededRandom(SEED);
      const missed: string[] = [];
      const counts = { figures: 0, bounded: 0, boundedFound: 0 };
      for (const [index, row] of rows.entries()) {
        for (const [path, changed] of mutationsOf(row, random)) {
          // Of contracts some histories are unknown by the recording already.
          if (first === "FUTURES" && path.startsWith("queue.history")) continue;
          const found = await isFound(rows.with(index, changed));
          // Of a crossing the order of the changed levels is not computed, and nobody else knows the order's
          // limit.
          const isOfCrossing =
            row.cause === "BOOK_CROSSED" && (path === "levels.0.index" || path === "price");
          const isBounded = BOUNDED.has(path) || isOfCrossing;
          if (isBounded) {
            counts.bounded += 1;
            counts.boundedFound += found ? 1 : 0;
          } else {
            counts.figures += 1;
            if (!found) missed.push(`${path} of trade ${row.tradeId}`);
          }
        }
      }
      expect(missed).toEqual([]);
      expect(counts.figures).toBeGreaterThan(MUTATED_ROWS * 15);
    }, 120_000);
  },
);

test.each([["[]"], ["[]", "[]"]])(
  "without any receipt nothing is verified: the command fails",
  (...texts) => {
    const directory = newDirectory();
    const files = texts.map((text, index) => {
      const file = join(directory, `${index}.json`);
      writeFileSync(file, text);
      return file;
    });
    const { status, stdout, stderr } = runNode(["src/cli.ts", "receipt", "verify", ...files]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain("there are no receipts: give what fillReceipts answers");
  },
);

/** The row with one value changed, for each of its values: a digit of a number, or another word. */
function* mutationsOf(row: Row, random: () => number): Generator<readonly [path: string, changed: Row]> {
  for (const path of pathsIn(row)) {
    const changed = structuredClone(row);
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    // biome-ignore lint/suspicious/noExplicitAny: the wire's own bodies.
    const holder = keys.reduce((value: any, key) => value[key], changed);
    const value = holder[last];
    if (value === null) continue;
    holder[last] = mutated(value, random);
    yield [path, changed];
  }
}

function pathsIn(value: unknown, path = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) => pathsIn(each, path === "" ? key : `${path}.${key}`));
}

function mutated(value: unknown, random: () => number): unknown {
  if (typeof value === "boolean") return !value;
  if (value === "BUY" || value === "SELL") return value === "BUY" ? "SELL" : "BUY";
  if (typeof value === "string" && !/^\d/.test(value)) return OTHER_WORDS[value] ?? `${value}x`;
  const text = String(value);
  const places = [...text].flatMap((character, place) => (/\d/.test(character) ? [place] : []));
  const place = places[Math.floor(random() * places.length)] ?? 0;
  const digit = (Number(text[place]) + 1 + Math.floor(random() * 9)) % 10;
  const changed = text.slice(0, place) + digit + text.slice(place + 1);
  return typeof value === "number" ? Number(changed) : changed;
}

async function play(type: StrategyType) {
  const isSpot = type === "SPOT";
  const options = isSpot ? { file: FILE } : writeMarkedTape(readMessages(FUTURES_FILE));
  const tape = await openManualTape(options);
  const life = await openLife(tape, { family: type });
  const random = seededRandom(SEED);
  const profile = strictProfile(type, { ...STRICT_DEFAULTS, latency: 0 });
  if (profile === null) throw new Error("the tier is bundled");
  const [strategy] = await life.seed(1, profile);
  if (strategy === undefined) throw new Error("one was seeded");
  void life.market.prepareBook(SYMBOL);
  for (let placing = 0; placing < PLACINGS; placing += 1) {
    const share = placing / PLACINGS;
    await life.playTo(
      Math.floor(tape.startsAt + 5_000 + (tape.endsAt - tape.startsAt - 10_000) * share + random() * 900),
    );
    void life.market.prepareBook(SYMBOL);
    const quantity = isSpot
      ? "0.0012"
      : (["0.004", "0.05", "0.12", "0.3"][Math.floor(random() * 4)] ?? "0.3");
    // The second one meets what the first has consumed.
    for (const side of random() < 0.5 ? ["BUY", "BUY", "SELL", "SELL"] : ["BUY", "SELL"]) {
      await life.send(strategy, "POST", PATHS[type].order, {
        symbol: SYMBOL,
        side,
        type: "MARKET",
        quantity: isSpot && side === "SELL" ? "0.00119" : quantity,
      });
    }
    const bid = life.market.quote(SYMBOL)?.bid;
    if (bid == null) throw new Error("the symbol is quoted");
    const price = formatDecimal(bid);
    const resting = { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: isSpot ? "0.0002" : "0.002" };
    await life.send(strategy, "POST", PATHS[type].order, { symbol: SYMBOL, ...resting, price });
  }
  const receipts = await life.call(strategy, "GET", PATHS[type].receipts, {
    symbol: SYMBOL,
    fromId: "1",
    limit: "1000",
  });
  return { receipts, tapeFile: options.file };
}
