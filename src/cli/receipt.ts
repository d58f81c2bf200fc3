// `lyrebird receipt verify`: fills under the profile `strict` are computed again from their receipts,
// offline.
import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ConfigError } from "../config/config.ts";
import { feeTiersOf } from "../config/strict-terms.ts";
import { readRecording } from "../market/tape/recording.ts";
import { type Command, configOf, OPTIONS_HINT, type Options, printRows } from "./command.ts";
import { runLong } from "./long-run.ts";
import { checkReceipts, type Finding } from "./receipt-check.ts";
import { type ReceiptRow, readReceipts } from "./receipt-file.ts";
import { recordedBooks } from "./recorded-books.ts";

/** Receipts between two looks for an interruption. */
const ROWS_A_TURN = 200;
/** Findings of one receipt that are printed. */
const REASONS_MAX = 3;

export const RECEIPT_VERIFY: Command = {
  name: "receipt verify",
  operand: "<file>...",
  options: ["tape", "json"],
  purpose: "compute fills under strict again from their receipts, without a server",
  details: `  <file>        JSON as fillReceipts answers it, of one symbol; several files are taken
                together; - is standard input
  --tape FILE   a recording of the market at that time, as of tools/record-tape.mjs, or
                the one that the server replayed: the books are built from it, and each
                figure must be the same
  --json        one line of JSON a receipt:
                {"tradeId","orderId","cause","outcome","wrong","unknown"}

Give the receipts of all orders of the symbol, from the first one: what was taken before
makes less available. FEE_TIERS is the file of fee tiers that the strategies were made
with, if they are not the bundled ones.

A receipt is
  verified      each figure follows from the recording and the receipts before it
  consistent    each figure follows from the receipt's others and the receipts before it
                (without --tape)
  unknown       something could not be compared, and why
  wrong         a figure does not follow: which, and what it should be

Ids of the strategy (tradeId, orderId), times of its requests and of what the server
received (admittedAt, latencyMs, arrivedAt, at, receivedAt) and which ticker and trade
were the last that it had received (tickerUpdateId, lastTradeId) are in no recording:
they are compared with each other, and by what follows from them. A queue that the
recording gives otherwise is unknown, not wrong: messages may have arrived in another
order there, or the server was restarted. A takeover is never verified: the bankruptcy
price follows from the position's wallet, which no receipt has. What is compared is that
it is the rest of a liquidation, without a fee, at no better price than what that took of
the book.

Exits with 0 if all receipts are verified (without --tape: consistent), with 1 if one is not
or there is none.`,
  run: verify,
};

type Outcome = "verified" | "consistent" | "unknown" | "wrong";

async function verify({ tape, json = false }: Options, names: readonly string[]): Promise<void> {
  if (names.length === 0) throw new ConfigError(`receipt verify takes the name of a file; ${OPTIONS_HINT}`);
  if (names.filter((name) => name === "-").length > 1) {
    throw new ConfigError("standard input can be read once");
  }
  const files = [];
  for (const name of names)
    files.push({ name: name === "-" ? "standard input" : name, text: await read(name) });
  const rows = readReceipts(files);
  const [first] = rows;
  if (first === undefined) {
    throw new Error(
      "there are no receipts: give what fillReceipts answers for a symbol that a strategy under strict has traded",
    );
  }
  const recorded = tape === undefined ? null : recordedOf(tape, first);
  const tiers = feeTiersOf(configOf({}).feeTiers);
  const findings = await runLong("verification", async ({ signal, onProgress }) => {
    const onChecked = async (count: number) => {
      onProgress(count);
      if (count % ROWS_A_TURN === 0) await nextTurn();
      signal.throwIfAborted();
    };
    return await checkReceipts(rows, recorded, { tiers, onChecked });
  });
  report(findings, { hasTape: tape !== undefined, asJson: json });
}

function recordedOf(file: string, first: ReceiptRow) {
  const recording = readRecording(file);
  if (recording.symbol !== first.symbol) {
    throw new Error(`${file} is a recording of ${recording.symbol}, and the receipts are of ${first.symbol}`);
  }
  return recordedBooks(recording, first.market);
}

async function read(name: string): Promise<string> {
  try {
    return name === "-" ? await textOf(process.stdin) : await readFile(name, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot read ${name}: ${reason}`, { cause: error });
  }
}

function report(
  findings: readonly Finding[],
  { hasTape, asJson }: { readonly hasTape: boolean; readonly asJson: boolean },
): void {
  const rows = findings.map((finding) => ({ ...finding, outcome: outcomeOf(finding, hasTape) }));
  const good = hasTape ? "verified" : "consistent";
  const others = rows.filter(({ outcome }) => outcome !== good);
  if (asJson) {
    printRows(rows, { asJson, columns: {} });
  } else {
    for (const { tradeId, outcome, wrong, unknown } of others) {
      const reasons = [...wrong, ...unknown];
      const more = reasons.length > REASONS_MAX ? [`${reasons.length - REASONS_MAX} more`] : [];
      process.stdout.write(
        `trade ${tradeId}: ${outcome}: ${[...reasons.slice(0, REASONS_MAX), ...more].join("; ")}\n`,
      );
    }
    const count = (of: Outcome) => rows.filter(({ outcome }) => outcome === of).length;
    process.stdout.write(
      `${rows.length} receipts: ${count(good)} ${good}, ${count("wrong")} wrong, ${count("unknown")} unknown\n`,
    );
  }
  if (others.length > 0) throw new Error(`${others.length} of ${rows.length} receipts are not ${good}`);
}

function outcomeOf({ wrong, unknown }: Finding, hasTape: boolean): Outcome {
  if (wrong.length > 0) return "wrong";
  if (unknown.length > 0) return "unknown";
  return hasTape ? "verified" : "consistent";
}
