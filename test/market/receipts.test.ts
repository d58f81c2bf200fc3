// Receipts of strategies under `strict` on the recorded market: what the gateway answers over HTTP is
// verified by `lyrebird receipt verify` against the recording, and a changed digit in any figure is found.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { checkReceipts } from "../../src/cli/receipt-check.ts";
import { readReceipts } from "../../src/cli/receipt-file.ts";
import { recordedBooks } from "../../src/cli/recorded-books.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import type { StrictTerms } from "../../src/domain/fill-profile.ts";
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
const PATHS = {
  SPOT: { order: "/api/v3/order", receipts: "/api/v3/platform/fillReceipts" },
  FUTURES: { order: "/fapi/v1/order", receipts: "/fapi/v1/platform/fillReceipts" },
} as const;

/** A run through the recording, and the least counts of what has to occur in it. */
type Run = {
  readonly type: StrategyType;
  readonly terms: Pick<StrictTerms, "queue"> & { readonly latency: number };
  readonly placings: number;
  readonly seenMin: Readonly<Record<keyof ReturnType<typeof seenIn>, number>>;
};
const SPOT: Run = {
  type: "SPOT",
  terms: { latency: 0, queue: "trades" },
  placings: 60,
  seenMin: { receipts: 150, queues: 5, canceledAhead: 0, deeper: 0, consumed: 20, ofTicker: 20, late: 0 },
};
const FUTURES: Run = {
  type: "FUTURES",
  terms: { latency: 0, queue: "trades" },
  placings: 60,
  seenMin: { receipts: 150, queues: 5, canceledAhead: 0, deeper: 5, consumed: 20, ofTicker: 20, late: 0 },
};
const POWER: Run = {
  type: "SPOT",
  terms: { latency: 0, queue: "power-2" },
  placings: 40,
  seenMin: { receipts: 80, queues: 5, canceledAhead: 2, deeper: 0, consumed: 5, ofTicker: 5, late: 0 },
};
const LATE: Run = {
  type: "SPOT",
  terms: { latency: 120, queue: "power-2" },
  placings: 40,
  seenMin: { receipts: 80, queues: 5, canceledAhead: 2, deeper: 0, consumed: 5, ofTicker: 5, late: 80 },
};
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

/**
 * What may be unknown of fills by a cause. Trades and books of contracts come over connections of their own,
 * so a server does not always receive them in the order of the recording.
 */
const IN_QUEUES = { TRADE_AT_PRICE: /arrived in another order/, TRADE_THROUGH: /arrived in another order/ };
const UNKNOWN = new Map<Run, Readonly<Record<string, RegExp>>>([[FUTURES, IN_QUEUES]]);

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

describe.skipIf(!isHere).each([SPOT, FUTURES, POWER, LATE])(
  `receipts on the recorded market of $type, queue $terms.queue, latency $terms.latency ms${SKIPPED}`,
  (run) => {
    let tapeFile: string;
    /** As the route answers them. */
    let body: readonly Row[];

    beforeAll(async () => {
      const played = await play(run);
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
        // Every walk and every crossing is verified, and else every queue.
        const others = unknown.filter((reason) => !UNKNOWN.get(run)?.[cause]?.test(reason));
        expect(others, `trade ${tradeId}, ${cause}`).toEqual([]);
      }
      // What the recording was chosen for.
      const seen = seenIn(body, run.terms.latency);
      expect(others.length).toBeLessThanOrEqual(seen.receipts / 5);
      for (const [what, least] of Object.entries(run.seenMin))
        expect(seen[what as keyof typeof seen], what).toBeGreaterThanOrEqual(least);
    });

    // What is compared does not depend on the terms.
    test.skipIf(run === POWER || run === LATE)(
      `a changed digit in any figure of the market is found (seed ${SEED})`,
      async () => {
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
            // Of a crossing the order of the changed levels is not computed, and nobody else knows the
            // order's limit.
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
      },
      120_000,
    );
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

function seenIn(body: readonly Row[], latencyMs: number) {
  const levels = body.flatMap((row) => row.levels as readonly Level[]);
  const queues = body.flatMap((row) => (row.queue as { readonly canceledAhead: string } | null) ?? []);
  return {
    receipts: body.length,
    queues: queues.length,
    canceledAhead: queues.filter(({ canceledAhead }) => Number(canceledAhead) > 0).length,
    deeper: levels.filter(({ index }) => index > 0).length,
    consumed: levels.filter(({ ownConsumed }) => Number(ownConsumed) > 0).length,
    ofTicker: levels.filter(({ fromTicker }) => fromTicker).length,
    late: latencyMs === 0 ? 0 : body.filter((row) => row.latencyMs === latencyMs).length,
  };
}

async function play({ type, terms, placings }: Run) {
  const isSpot = type === "SPOT";
  const options = isSpot ? { file: FILE } : writeMarkedTape(readMessages(FUTURES_FILE));
  const tape = await openManualTape(options);
  const life = await openLife(tape, { type });
  const random = seededRandom(SEED);
  const profile = strictProfile(type, { ...STRICT_DEFAULTS, ...terms });
  if (profile === null) throw new Error("the tier is bundled");
  const [strategy] = await life.seed(1, profile);
  if (strategy === undefined) throw new Error("one was seeded");
  void life.market.prepareBook(SYMBOL);
  const place = (parameters: Readonly<Record<string, string>>) => {
    const request = [strategy, "POST", PATHS[type].order, { symbol: SYMBOL, ...parameters }] as const;
    return terms.latency === 0 ? life.send(...request) : life.sendLate(terms.latency, ...request);
  };
  for (let placing = 0; placing < placings; placing += 1) {
    const share = placing / placings;
    await life.playTo(
      Math.floor(tape.startsAt + 5_000 + (tape.endsAt - tape.startsAt - 10_000) * share + random() * 900),
    );
    void life.market.prepareBook(SYMBOL);
    const quantity = isSpot
      ? "0.0012"
      : (["0.004", "0.05", "0.12", "0.3"][Math.floor(random() * 4)] ?? "0.3");
    // The second one meets what the first has consumed.
    for (const side of random() < 0.5 ? ["BUY", "BUY", "SELL", "SELL"] : ["BUY", "SELL"]) {
      await place({
        side,
        type: "MARKET",
        quantity: isSpot && side === "SELL" ? "0.00119" : quantity,
      });
    }
    const bid = life.market.quote(SYMBOL)?.bid;
    if (bid == null) throw new Error("the symbol is quoted");
    const price = formatDecimal(bid);
    const resting = { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: isSpot ? "0.0002" : "0.002" };
    await place({ ...resting, price });
  }
  const receipts = await life.call(strategy, "GET", PATHS[type].receipts, {
    symbol: SYMBOL,
    fromId: "1",
    limit: "1000",
  });
  return { receipts, tapeFile: options.file };
}
