// What may log on to a session. The text that a client signs does not name the method, so a captured request
// could be sent as a logon: it has to have a logon's parameters alone, and a signature that no other request
// has used. Clients with several connections send one logon over all of them.
// Known limit: a server does not know the signatures that other servers have verified.
// Source: reference sockets, section 8.3; decision 54.
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { ApiFrame } from "./api-frame.ts";
import { USED_SIGNATURES_MAX } from "./limits.ts";

const LOGON_PARAMETERS = ["apiKey", "timestamp", "recvWindow", "signature", "returnRateLimits"];

/** Why these parameters are not those of a logon; null if they are. */
export function unreadByLogon(params: ApiFrame["params"]): Refusal | null {
  const readCount = LOGON_PARAMETERS.filter((name) => params.has(name)).length;
  const sentCount = params.size;
  return readCount === sentCount ? null : { refusal: "PARAMETERS_UNREAD", readCount, sentCount };
}

/** Whether a signed request could be a logon: it has a logon's parameters alone. */
export function mayLogOn(params: ApiFrame["params"]): boolean {
  return params.size <= LOGON_PARAMETERS.length && unreadByLogon(params) === null;
}

/**
 * Verified signatures of the requests that have only a logon's parameters. One whose window has passed is of
 * no use, so they need no end of their own.
 */
export class UsedSignatures {
  /** The address that first logged on with each; null if it was first used for something else. */
  readonly #used = new BoundedMap<string, string | null>(USED_SIGNATURES_MAX);

  /**
   * Notes the signature of a request that was authenticated by it; whether it was first used by another: by
   * one that logs on from another address, or for something else.
   */
  use(params: ApiFrame["params"], logsOnFrom: string | null): boolean {
    if (!mayLogOn(params)) return false;
    const signature = params.get("signature")?.toLowerCase() ?? "";
    const first = this.#used.get(signature);
    if (first === undefined) this.#used.set(signature, logsOnFrom);
    return first !== undefined && first !== logsOnFrom;
  }
}
