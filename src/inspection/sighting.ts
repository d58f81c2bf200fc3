// What is noted of a request on its way through a pipeline, and what of a request and its answer is looked at. The pipelines
// fill a sighting in as they learn things; nothing of it has any influence on the answer.
import type { BoundKey } from "../store/store.ts";
import type { MetricsAnswer } from "./metrics.ts";

/** The check of an authentication that failed. HEADER: what should name the key, or sign, is not there, or the key has ended. */
export type FailedCheck =
  | "TIMESTAMP"
  | "RECV_WINDOW"
  | "SIGNATURE_MISSING"
  | "SIGNATURE"
  | "WINDOW"
  | "PARAMETERS"
  | "HEADER";

/** How requests are signed: as parameters, or in the three headers of the bot family. */
export type SignatureFamily = "EXCHANGE" | "BOT";

export const EXCHANGE_KEY_HEADER = "x-mbx-apikey";
export const BOT_KEY_HEADER = "x-bot-api-key";
export const BOT_TIMESTAMP_HEADER = "x-bot-timestamp";
export const BOT_SIGNATURE_HEADER = "x-bot-signature";

export class Sighting {
  /** When the request had been received: ms of a monotonic clock. */
  readonly receivedAt: number;
  family: SignatureFamily = "EXCHANGE";
  /** The row's own text of its path; null where there is no route. */
  path: string | null = null;
  /** Whose requests it belongs to, if there is such a key; null on routes that are nobody's. */
  apiKey: string | null = null;
  /** The key as it was looked up; null until then, and for one that there is not. */
  key: BoundKey | null = null;
  failed: FailedCheck | null = null;
  weight = 0;

  constructor(receivedAt: number) {
    this.receivedAt = receivedAt;
  }
}

/** The parts of a request that are looked at, as they were received: bytes, one a character. */
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** An object if the body was not taken in. */
  readonly body: string | object;
  readonly address: string;
};

/** The parts of an answer that are looked at. */
export type SeenAnswer = {
  readonly status: number;
  /** What a refusal says; the bot family has no codes. */
  readonly refusal?: { readonly code: number | null; readonly message: string };
  /** Whether it shows what an earlier request placed. */
  readonly isReplay?: boolean;
};

/** Who is told what became of requests. */
export type RequestObserver = {
  /** To be called when a request has been received. */
  sight(): Sighting;
  answered(sighting: Sighting, request: SeenRequest, answer: SeenAnswer): void;
  /** It could not be answered: the store has failed, or there is a bug. */
  failed(sighting: Sighting, request: SeenRequest, error: unknown): void;
  /** What is answered to who asks for the metrics. */
  metrics(request: SeenRequest): Promise<MetricsAnswer>;
};

/** Nobody: what it is asked about is not recorded. */
export const UNOBSERVED: RequestObserver = {
  sight: () => new Sighting(0),
  answered() {},
  failed() {},
  metrics: async () => ({ status: 404, headers: {}, body: "", contentType: "text/plain" }),
};

/** A header's value, empty if there is none. */
export function headerOf({ headers }: Pick<SeenRequest, "headers">, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
