// What the OpenAPI document says of a schema beyond what the server checks with it: where a later
// check is narrower, or one example would stand for fields that differ.
import type { z } from "zod";
import { signalSchema } from "../http/bot/schemas.ts";
import { submissionSchema } from "../signals/submission.ts";
import { HOME, type JsonSchema } from "./schema-book.ts";

/** What the document shares besides what has a name of its own. */
export const BOT_SCHEMAS = { Submission: submissionSchema };

const { quantity, quoteOrderQty, price, stopPrice } = submissionSchema.shape;

/** A decimal of the wire, either way: no digit after the eighth decimal but zeros, which say nothing. */
const AMOUNT: JsonSchema = {
  anyOf: [
    { type: "string", pattern: "^[0-9]{1,20}(\\.[0-9]{1,8}0{0,12})?$" },
    {
      type: "number",
      minimum: 0,
      description: "At most 8 decimals, without an exponent: send text if in doubt.",
    },
  ],
};

/** By schema: keywords in place of its own. One with `$ref` is nothing but the reference. */
export const WIRE_WORDS: ReadonlyMap<z.core.$ZodType, JsonSchema> = new Map<z.core.$ZodType, JsonSchema>([
  [quantity, { ...AMOUNT, examples: ["0.001"] }],
  [quoteOrderQty, { ...AMOUNT, examples: ["20"] }],
  [price, { ...AMOUNT, examples: ["64000.00"] }],
  [stopPrice, { ...AMOUNT, examples: ["63500.00"] }],
  // What is kept was read by this schema.
  [signalSchema.shape.order, { $ref: `${HOME}Submission`, description: "The body as it was submitted." }],
]);
