// What the copier's thread and the thread that started it say to each other.
import type { MessagePort } from "node:worker_threads";
import type { CopyAlarm, CopyReason } from "../domain/copying.ts";

/** What the thread is started with. */
export type ThreadStart = {
  readonly database:
    | {
        readonly kind: "SQLITE";
        readonly file: string;
        /** To the one thread that writes to the file. */
        readonly writer: MessagePort;
      }
    | { readonly kind: "POSTGRES"; readonly url: string };
  readonly masterKeyFile: string;
  readonly allowedVenues: readonly string[];
  readonly logLevel: string;
};

export type ToThread =
  | { readonly kind: "WAKE"; readonly strategyId: string; readonly version: number }
  | { readonly kind: "CLOSE" };

export type FromThread =
  /** It has claimed what it can. */
  | { readonly kind: "READY" }
  | { readonly kind: "CLAIMED"; readonly strategyIds: readonly string[] }
  | { readonly kind: "COPIES_CHANGED"; readonly copyIds: readonly string[] }
  | {
      readonly kind: "PAUSED";
      readonly copyId: string;
      readonly personId: string;
      readonly reason: CopyReason | CopyAlarm;
    }
  /** A line of its log, as its logger has written it. */
  | { readonly kind: "LOG"; readonly line: string }
  /** The store has failed. */
  | { readonly kind: "FAILED"; readonly reason: string };
