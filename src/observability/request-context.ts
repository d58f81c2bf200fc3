// The context of one request for the request log and the metrics. The pipelines fill it in as they process
// the request; it has no influence on the answer.
import type { BoundKey } from "../domain/strategy.ts";

export type MetricsAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly contentType: string;
};

/**
 * The check of the authentication that failed. HEADER: a header that names the key or signs is missing, or
 * the key was revoked.
 */
export type FailedCheck =
  | "TIMESTAMP"
  | "RECV_WINDOW"
  | "SIGNATURE_MISSING"
  | "SIGNATURE"
  | "WINDOW"
  | "PARAMETERS"
  | "HEADER";

/** How requests are signed: as parameters, or in the three headers of the bot family. */
export type SignatureScheme = "EXCHANGE" | "BOT";

export const BOT_KEY_HEADER = "x-bot-api-key";
export const BOT_TIMESTAMP_HEADER = "x-bot-timestamp";
export const BOT_SIGNATURE_HEADER = "x-bot-signature";

export class RequestContext {
  /** When the request was received: ms of a monotonic clock. */
  readonly receivedAt: number;
  scheme: SignatureScheme = "EXCHANGE";
  /** The path of the route's row; null if no route matches. */
  path: string | null = null;
  /** The key that the request names, which may not exist; null on routes without a key. */
  apiKey: string | null = null;
  /** The stored key; null before the look-up, and if there is none. */
  key: BoundKey | null = null;
  failed: FailedCheck | null = null;
  weight = 0;

  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
  }
}

/** The parts of a request that are recorded or diagnosed, as received: bytes, one a character. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** An object if the body was not read. */
  readonly body: string | object;
  readonly address: string;
};

/** The parts of an answer that are recorded. */
export type SeenAnswer = {
  readonly status: number;
  /** The body of a rejection; the bot family has no codes. */
  readonly refusal?: { readonly code: number | null; readonly message: string };
  /** Whether it shows an order of an earlier request. */
  readonly isReplay?: boolean;
};

/** Records requests and their answers. */
export type RequestObserver = {
  /** Called when a request was received. */
  received(): RequestContext;
  answered(context: RequestContext, request: SeenRequest, answer: SeenAnswer): void;
  /** Called if a request could not be answered: the store has failed, or there is a bug. */
  failed(context: RequestContext, request: SeenRequest, error: unknown): void;
  /** The answer to a request for the metrics. */
  metrics(request: SeenRequest): Promise<MetricsAnswer>;
};

/** Records nothing. */
export const UNOBSERVED: RequestObserver = {
  received: () => new RequestContext(0),
  answered() {},
  failed() {},
  metrics: async () => ({ status: 404, headers: {}, body: "", contentType: "text/plain" }),
};

/** A header's value, empty if there is none. */
export function headerOf({ headers }: Pick<SeenRequest, "headers">, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
