// A route of the bot family as a row: what the pipeline does with it and what the documentation says of it, in one place.
// Every body and answer is described by the schema that the server itself checks with.
import type { z } from "zod";
import type { Refusal } from "../../domain/refusal.ts";
import type { SignedRequest } from "../../domain/signal.ts";
import type { Strategy } from "../../store/store.ts";
import type { Gateway, Request } from "../pipeline.ts";

/** Whose signature a request carried. */
export type BotCaller = {
  readonly apiKey: string;
  readonly keyId: string;
  /** The person who owns the key. */
  readonly userId: string;
  /** The strategy that the key manages; null while it is bound to none. */
  readonly strategy: Strategy | null;
  /** The signature, and until when any server might take it. */
  readonly signed: SignedRequest;
};

export type BotCall = {
  readonly gateway: Gateway;
  readonly caller: BotCaller;
  /** What matched the `:name` parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The body as it was received, UTF-8 text; empty if there was none. */
  readonly body: string;
  readonly headers: Request["headers"];
  readonly rawHeaders: Request["rawHeaders"];
  /** When it was charged: wall time, Unix ms. */
  readonly admittedAt: number;
};

/** The JSON of an answer, as value or as text; a message of the catalogue with its status; or a refusal of the domain. */
export type BotAnswer =
  | { readonly status: number; readonly body: object | string; readonly isReplay?: boolean }
  | { readonly status: number; readonly message: string }
  | Refusal;

export type BotRoute = {
  readonly method: "GET" | "POST";
  /** `:name` stands for one part of a path. */
  readonly path: string;
  /** What it is charged to: reads to the read bucket, submissions to the order count, the rest to the key's weight. */
  readonly charge: "READ" | "SUBMISSION" | "WEIGHT";
  /** Whether the key must manage a spot strategy; `any` takes every live key. */
  readonly key: "any" | "spot";
  /** Refused on a strategy that is not LIVE. */
  readonly writes: boolean;
  /** What generated clients call it. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** Headers of its own, by name, with what they are for. */
  readonly headers?: Readonly<Record<string, { readonly schema: z.ZodType; readonly description: string }>>;
  /** What the JSON of the body must be; null where any JSON will do, or none. */
  readonly body: z.ZodType | null;
  /** What it answers, by status. */
  readonly answers: Readonly<Record<number, { readonly schema: z.ZodType; readonly description: string }>>;
  readonly answer: (call: BotCall) => Promise<BotAnswer> | BotAnswer;
};
