// A row of the bot family: what the pipeline does with a request and what the documents say of it. Each body
// and answer is described by the schema that the server itself checks with.
import type { z } from "zod";
import type { Refusal } from "../../domain/refusal.ts";
import type { SignedRequest } from "../../domain/signal.ts";
import type { Strategy } from "../../domain/strategy.ts";
import type { Caller, ParsesInput, Ports, Request, Row, StrategyNeeds } from "../pipeline.ts";

/** What a row reads of a request. The body is UTF-8 text; empty if there was none. */
export type BotAsked = Pick<Request, "path" | "headers" | "rawHeaders"> & { readonly body: string };

export type BotCaller = Caller<BotAsked> & {
  /** The strategy that the key manages; null while it manages none. */
  readonly strategy: Strategy | null;
  readonly apiKey: string;
  readonly keyId: string;
  /** The key's owner. */
  readonly userId: string;
  /** The signature, and until when any server might accept it. */
  readonly signed: SignedRequest;
};

export type BotCall = Omit<BotCaller, "asked"> & {
  /** When it was charged: wall time, Unix ms. */
  readonly admittedAt: number;
};

/** A refusal with a message of the bot family, where none of the domain's refusals fits. */
export type Failure = {
  readonly refusal: "FAILURE";
  readonly status: number;
  readonly message: string;
  /** Of an invalid signature: the hash of the message that was built from the received bytes. */
  readonly messageSha256?: string;
  /** Of a timestamp outside the window: the server's time, Unix ms. */
  readonly serverTime?: number;
};

/** The JSON of an answer, as value or as text. */
export type BotBody = {
  readonly status: number;
  readonly body: object | string;
  readonly isReplay?: boolean;
};
export type BotAnswer = BotBody | Failure | Refusal;

export type BotRoute = Row<BotAsked, BotCall, BotAnswer> &
  StrategyNeeds & {
    readonly method: "GET" | "POST";
    /** `:name` is a placeholder for one segment of the path. */
    readonly path: string;
    /** The budget that it is charged to: the read bucket, the order count, or the key's weight. */
    readonly charge: "READ" | "SUBMISSION" | "WEIGHT";
    /** The name of the operation in generated clients. */
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
    /** Its own headers, by name, with their purpose. */
    readonly headers?: Readonly<Record<string, { readonly schema: z.ZodType; readonly description: string }>>;
    /** The schema of the body; null where any JSON will do, or none. */
    readonly body: z.ZodType | null;
    /** The answers, by status. */
    readonly answers: Readonly<Record<number, { readonly schema: z.ZodType; readonly description: string }>>;
  };

type No = Failure | Refusal;

/** A row: `parse` gives `answer` its input, and `answer` gives `present` its result. */
export function botRoute<Input = undefined, Result = BotBody>(
  row: Omit<BotRoute, "parse" | "answer" | "present"> & {
    readonly parse?: (asked: BotAsked) => Input | No;
    readonly answer: (input: Input, ports: Ports, call: BotCall) => Promise<Result | No> | Result | No;
    readonly present?: (result: Result, call: BotCall) => BotBody;
  } & ParsesInput<Input>,
): BotRoute {
  return row;
}

/** The strategy that a key manages, on a route that requires one. */
export function strategyOf({ strategy }: BotCall): Strategy {
  if (strategy === null) throw new Error("a key that manages nothing is not admitted");
  return strategy;
}

export function failure(status: number, message: string): Failure {
  return { refusal: "FAILURE", status, message };
}

/** An answer in the envelope of the family. */
export function success(message: string, data: object): BotBody {
  return { status: 200, body: { status: true, message, data } };
}
