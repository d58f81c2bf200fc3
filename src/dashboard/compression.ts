// Answers made smaller for browsers that take them so. Where a secret stands beside what somebody else may have chosen, the length of
// a compressed answer would tell of it, guess by guess: rows that show secrets say so, and are sent as they are.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Reply } from "../http/pipeline.ts";

/** A shorter answer fits into one packet as it is, bytes. */
const BYTES_MIN = 1_024;

const gzipped = promisify(gzip);

/** What a client takes, by a header that lists names with weights. What it takes with a weight of zero it does not take. */
export function acceptedNames(accepted: string | string[] | undefined): ReadonlySet<string> {
  const names = String(accepted ?? "")
    .split(",")
    .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
    .map((each) => each.split(";")[0]?.trim().toLowerCase() ?? "");
  return new Set(names);
}

/** A reply as it is sent to a client that takes these encodings: compressed off the main thread where that is worth it. */
export async function compressed(reply: Reply, accepted: string | string[] | undefined): Promise<Reply> {
  const { body, headers } = reply;
  const isShort = Buffer.byteLength(body) < BYTES_MIN;
  const varying = { ...headers, vary: "accept-encoding" };
  if (isShort || !acceptedNames(accepted).has("gzip")) return { ...reply, headers: varying };
  return { ...reply, headers: { ...varying, "content-encoding": "gzip" }, body: await gzipped(body) };
}
