// Parses a bot's submission: the JSON of an order, strictly. An unknown field is refused, since a misspelled
// `stopPrice` must not be ignored; so is a repeated one, since readers differ in which of the two they take.
// An amount is a decimal string or a JSON number, and is read from its text as it was sent: no number becomes
// a floating point one on its way to an order. What only the market can decide (the symbol, filters, funds)
// is not checked here. Source: specification 4.4; design, section 6 (signals).
import { z } from "zod";
import type { PlaceOrder } from "../domain/command.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import { type OrderSize, SIDES, SPOT_ORDER_TYPES } from "../domain/order.ts";
import { inCapitals } from "../domain/symbol.ts";
import { type Amount, type Price, parseDecimal, type Quantity } from "../money/decimal.ts";
import { faultOf, jsonOf, NOT_JSON } from "./json-body.ts";

/** The terms of an order, without the id that its signal gives it. */
export type OrderTerms = Omit<PlaceOrder, "clientOrderId">;

/** What is wrong with a body, in words for the client. */
export type SubmissionFault = { readonly fault: string };

/** How long a body may be to be kept byte for byte, characters: any order can be written in fewer. */
export const KEPT_LENGTH_MAX = 2_048;

/** Of every profile, and what only `strict` takes besides. */
const ORDER_TYPES = [...SPOT_ORDER_TYPES, "LIMIT_MAKER"] as const;
const MUST_BE_ORDER_TYPE = `must be one of ${SPOT_ORDER_TYPES.join(", ")}`;

const SYMBOL_LENGTH_MAX = 40;
const MUST_BE_SYMBOL = "must be the name of a pair";
const MUST_BE_AMOUNT = 'must be a decimal without sign and exponent, such as "0.5"';

const amount = z
  .union(
    [z.string().regex(/^[0-9]{1,20}(\.[0-9]{1,20})?$/, MUST_BE_AMOUNT), z.number().min(0, MUST_BE_AMOUNT)],
    {
      error: MUST_BE_AMOUNT,
    },
  )
  .meta({ examples: ["0.001"] });

export const submissionSchema = z
  .strictObject({
    symbol: z
      .string(MUST_BE_SYMBOL)
      .min(1, MUST_BE_SYMBOL)
      .max(SYMBOL_LENGTH_MAX, MUST_BE_SYMBOL)
      .meta({
        description: "The pair, as `GET /bot/v1/spot/pairs` names it, in capitals or not.",
        examples: ["BTCUSDT"],
      }),
    tradeType: z
      .enum(SIDES, `must be ${SIDES.join(" or ")}`)
      .meta({ description: "Which side of the market the order is on." }),
    orderType: z.enum(ORDER_TYPES, MUST_BE_ORDER_TYPE).default("MARKET").meta({
      description:
        "One of the pair's `supportedBotOrderTypes`. Strategies under the fill profile `strict` may also place LIMIT_MAKER, which never takes.",
    }),
    quantity: amount.optional().meta({
      description: "How much of the base asset. A MARKET BUY may say `quoteOrderQty` instead.",
    }),
    quoteOrderQty: amount.optional().meta({
      description: "MARKET BUY only: how much of the quote asset may be spent.",
    }),
    price: amount.optional().meta({ description: "The limit of LIMIT, LIMIT_MAKER and STOP_LOSS_LIMIT." }),
    stopPrice: amount.optional().meta({ description: "The trigger of STOP_LOSS and STOP_LOSS_LIMIT." }),
  })
  .meta({ description: "An order. Fields that are not known, or that its type does not take, are refused." });

const AMOUNTS = ["quantity", "quoteOrderQty", "price", "stopPrice"] as const;
type AmountName = (typeof AMOUNTS)[number];

/** The amounts that an order of a type needs, and that are all it takes. MARKET takes one of two. */
const NEEDED: { readonly [T in (typeof ORDER_TYPES)[number]]: readonly AmountName[] } = {
  MARKET: [],
  LIMIT: ["quantity", "price"],
  LIMIT_MAKER: ["quantity", "price"],
  STOP_LOSS: ["quantity", "stopPrice"],
  STOP_LOSS_LIMIT: ["quantity", "price", "stopPrice"],
};

/** Parses the JSON of an order, or returns its first fault, by the name of its field. */
export function readSubmission(text: string): OrderTerms | SubmissionFault {
  if (text === "") return { fault: "The body is empty: it must be the JSON of an order" };
  const json = jsonOf(text);
  if (json === NOT_JSON) return { fault: "The body is not JSON" };
  const parsed = submissionSchema.safeParse(json);
  if (!parsed.success) return { fault: faultOf(parsed.error, json) };
  const members = membersOf(text);
  const twice = members.find(([name], index) => members.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) return { fault: `${twice[0]} is there twice` };

  const { symbol, tradeType: side, orderType } = parsed.data;
  const amounts = readAmounts(members);
  if ("fault" in amounts) return amounts;
  const market = orderType === "MARKET" ? marketAmount(amounts, side) : null;
  if (market !== null && typeof market !== "string") return market;
  const needed = market === null ? NEEDED[orderType] : [market];
  const missing = needed.find((name) => amounts[name] === undefined);
  if (missing !== undefined) return { fault: `${missing} is needed for ${orderType}` };
  const extra = AMOUNTS.find((name) => amounts[name] !== undefined && !needed.includes(name));
  if (extra !== undefined) return { fault: `${extra} is not taken for ${orderType}` };
  return {
    type: "PlaceOrder",
    symbol: inCapitals(symbol),
    side,
    orderType,
    size: sizeOf(amounts),
    price: (amounts.price ?? null) as Price | null,
    stopPrice: (amounts.stopPrice ?? null) as Price | null,
  };
}

/** What is wrong with an order under a profile that does not take its type; null if it takes it. */
export function faultUnder({ strict }: FillProfile, { orderType }: OrderTerms): SubmissionFault | null {
  return strict === null && orderType === "LIMIT_MAKER" ? { fault: `orderType ${MUST_BE_ORDER_TYPE}` } : null;
}

/**
 * The JSON of an order that could be read, as it is kept: as it was sent, or, of a long one, without its
 * white space, which leaves hardly anything. Otherwise spaces alone would make lists of signals long.
 */
export function keptText(text: string): string {
  return text.length <= KEPT_LENGTH_MAX ? text : text.replace(STRING_OR_SPACE, "$1");
}

export function isFault(read: OrderTerms | SubmissionFault): read is SubmissionFault {
  return "fault" in read;
}

/** Whether two submissions ask for the same, however they are written: `0.10` is `"0.1"`. */
export function isSameOrder(one: OrderTerms, other: OrderTerms): boolean {
  return termsText(one) === termsText(other);
}

type Amounts = { readonly [Name in AmountName]?: bigint };

function readAmounts(members: readonly Member[]): Amounts | SubmissionFault {
  const amounts: { [Name in AmountName]?: bigint } = {};
  for (const name of AMOUNTS) {
    const source = members.find(([member]) => member === name)?.[1];
    if (source === undefined) continue;
    const value = parseDecimal(source.startsWith('"') ? JSON.parse(source) : source);
    if (value === "TOO_PRECISE") return { fault: `${name} has more than 8 decimals` };
    if (value === "NOT_A_DECIMAL") return { fault: `${name} ${MUST_BE_AMOUNT}` };
    amounts[name] = value;
  }
  return amounts;
}

/** Which of its two amounts a MARKET order has. */
function marketAmount(
  { quantity, quoteOrderQty }: Amounts,
  side: OrderTerms["side"],
): AmountName | SubmissionFault {
  if (quantity !== undefined && quoteOrderQty !== undefined) {
    return { fault: "quantity and quoteOrderQty exclude each other" };
  }
  if (quoteOrderQty !== undefined && side === "SELL") return { fault: "quoteOrderQty is not taken for SELL" };
  if (quantity === undefined && quoteOrderQty === undefined) {
    const either = side === "BUY" ? "quantity or quoteOrderQty" : "quantity";
    return { fault: `${either} is needed for a MARKET ${side}` };
  }
  return quoteOrderQty === undefined ? "quantity" : "quoteOrderQty";
}

function sizeOf({ quantity, quoteOrderQty }: Amounts): OrderSize {
  if (quoteOrderQty !== undefined) return { quoteQuantity: quoteOrderQty as Amount };
  return { quantity: quantity as Quantity };
}

type Member = readonly [name: string, source: string];

/** A string, which is taken whole, or the white space between what JSON is made of. */
const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")|\s+/g;

/**
 * A name and a value that is no object and no list; strings are taken whole, so nothing inside one is
 * mistaken.
 */
const MEMBER = /("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}]+)/g;

/**
 * The members of a JSON object that holds neither objects nor lists, as they are written; a name may be there
 * twice.
 */
function membersOf(text: string): readonly Member[] {
  return [...text.matchAll(MEMBER)].map(([, name = "", source = ""]) => [JSON.parse(name), source]);
}

function termsText({ symbol, side, orderType, size, price, stopPrice }: OrderTerms): string {
  const written = "quantity" in size ? [String(size.quantity), null] : [null, String(size.quoteQuantity)];
  return JSON.stringify([symbol, side, orderType, written, String(price), String(stopPrice)]);
}
