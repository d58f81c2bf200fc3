// Receipts of fills as `fillReceipts` answers them, read back from JSON.
import { z } from "zod";
import type { StrategyType } from "../domain/account.ts";
import { FEE_TIERS, QUEUE_MODELS } from "../domain/fill-profile.ts";
import { SIDES } from "../domain/order.ts";
import { QUEUE_POINTS_MAX } from "../domain/receipt.ts";
import { type Amount, type Price, parseDecimal, type Quantity, type Rate } from "../money/decimal.ts";

export type ReceiptRow = z.infer<typeof receiptRow>;
export type ReceiptLevel = ReceiptRow["levels"][number];

const whole = z.int().nonnegative();
const id = whole;
const orNull = <T extends z.ZodType>(type: T) => z.union([type, z.null()]);

/** A decimal as bodies have it: eight fraction digits, so that no two texts are one value. */
function fixed<D extends Price | Quantity | Amount | Rate>() {
  return z
    .string()
    .regex(/^(0|[1-9]\d*)\.\d{8}$/, "must be a decimal with eight fraction digits")
    .transform((text, context) => {
      const value = parseDecimal(text);
      if (typeof value === "bigint") return value as D;
      context.addIssue("must be a decimal with eight fraction digits");
      return z.NEVER;
    });
}

const bookStamp = z.strictObject({
  lastUpdateId: id,
  eventTime: whole,
  receivedAt: whole,
  tickerUpdateId: orNull(id),
  lastTradeId: orNull(id),
});

const level = z.strictObject({
  index: whole,
  price: fixed<Price>(),
  displayed: fixed<Quantity>(),
  fromTicker: z.boolean(),
  newerTrades: fixed<Quantity>(),
  ownConsumed: fixed<Quantity>(),
  available: fixed<Quantity>(),
  taken: fixed<Quantity>(),
  step: fixed<Quantity>(),
});

const queuePoint = z.strictObject({
  time: whole,
  ahead: orNull(fixed<Quantity>()),
  tradedAtPrice: fixed<Quantity>(),
  canceledAhead: fixed<Quantity>(),
});

const receiptRow = z.strictObject({
  tradeId: id,
  orderId: id,
  symbol: z.string(),
  market: z.enum(["SPOT", "FUTURES"] satisfies StrategyType[]),
  profile: z.literal("strict"),
  profileVersion: whole,
  cause: z.enum(["WALK", "TRADE_AT_PRICE", "TRADE_THROUGH", "BOOK_CROSSED", "LIQUIDATION", "TAKEOVER"]),
  admittedAt: orNull(whole),
  latencyMs: orNull(whole),
  arrivedAt: orNull(whole),
  at: whole,
  side: z.enum(SIDES),
  price: fixed<Price>(),
  quantity: fixed<Quantity>(),
  remaining: fixed<Quantity>(),
  book: orNull(bookStamp),
  levels: z.array(level).max(1),
  queue: orNull(
    z.strictObject({
      model: z.enum(QUEUE_MODELS),
      aheadAtPlacement: orNull(fixed<Quantity>()),
      bookAtPlacement: orNull(bookStamp),
      tradedAtPrice: fixed<Quantity>(),
      canceledAhead: fixed<Quantity>(),
      aheadBefore: orNull(fixed<Quantity>()),
      ahead: fixed<Quantity>(),
      // Answers of earlier versions do not have it.
      history: orNull(z.array(queuePoint).min(1).max(QUEUE_POINTS_MAX)).default(null),
    }),
  ),
  marketTrade: orNull(
    z.strictObject({
      aggregateId: id,
      price: fixed<Price>(),
      quantity: fixed<Quantity>(),
      time: whole,
      available: fixed<Quantity>(),
      step: fixed<Quantity>(),
    }),
  ),
  fee: z.strictObject({
    rate: fixed<Rate>(),
    tier: z.enum(FEE_TIERS),
    isMaker: z.boolean(),
    amount: fixed<Amount>(),
    asset: z.string(),
  }),
  terms: z.strictObject({ queue: z.enum(QUEUE_MODELS), refreshMs: whole }),
});

/**
 * The receipts of some files, ascending by trade. Throws, naming the file, if one is no list of receipts, and
 * if they are not of one symbol and market or have a trade twice.
 */
export function readReceipts(
  files: readonly { readonly name: string; readonly text: string }[],
): readonly ReceiptRow[] {
  const rows = files.flatMap(({ name, text }) => receiptsIn(name, text));
  const [first] = rows;
  const other = rows.find(({ symbol, market }) => symbol !== first?.symbol || market !== first.market);
  if (first !== undefined && other !== undefined) {
    throw new Error(
      `receipts of one symbol and market are verified at a time, not of ${first.market} ${first.symbol} and ${other.market} ${other.symbol}`,
    );
  }
  const sorted = rows.toSorted((one, next) => one.tradeId - next.tradeId);
  const twice = sorted.find(({ tradeId }, index) => tradeId === sorted[index + 1]?.tradeId);
  if (twice !== undefined) throw new Error(`there are two receipts of trade ${twice.tradeId}`);
  return sorted;
}

function receiptsIn(name: string, text: string): readonly ReceiptRow[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${name} is not JSON: ${reason}`, { cause: error });
  }
  const parsed = z.array(receiptRow).safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.length ? ` at ${issue.path.join(".")}` : "";
  throw new Error(
    `${name} is not a list of receipts as fillReceipts answers it${place}: ${issue?.message ?? "unknown"}`,
  );
}
