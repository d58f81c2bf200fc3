// What a key may do beside reading: trade, and withdraw. An account says whether withdrawals are open for it at all: where they are
// not, no key withdraws anything; where they are, that says nothing of this key. What the key itself may do another route tells,
// which belongs to spot and is not everywhere: a futures account's key is asked about where its operator has it.
// Source: reference exchange, sections 4, 7.1 and 11.2.
import type { StrategyType } from "../../domain/account.ts";
import { type AccountRest, URGENT, WEIGHTS } from "./account-rest.ts";
import { type Body, flagOf, mapped, objectOf } from "./answers.ts";
import type { AccountCheck, KeyRights, VenueAnswer } from "./venue.ts";

const NOT_FOUND = 404;
/** What a key needs to trade a family. */
const RIGHTS = { SPOT: "enableSpotAndMarginTrading", FUTURES: "enableFutures" } as const;
const NOT_TOLD: KeyRights = { mayTrade: null, mayWithdraw: null };

/** What the key may do, where the venue tells; whatever it refuses for another reason than the key is no answer. */
export async function askForRestrictions(
  rest: AccountRest,
  family: StrategyType = rest.family,
): Promise<VenueAnswer<KeyRights>> {
  const path = "/sapi/v1/account/apiRestrictions";
  const answer = await rest.ask({
    method: "GET",
    path,
    weight: WEIGHTS[rest.family].keyRights,
    ...URGENT,
    isKeyCheck: true,
  });
  if (hasNoSuchRoute(answer)) return { kind: "OK", value: NOT_TOLD };
  return mapped(answer, (value) => {
    const body = objectOf(value);
    const mayTrade = body[RIGHTS[family]];
    return {
      mayTrade: typeof mayTrade === "boolean" ? mayTrade : null,
      mayWithdraw: flagOf(body, "enableWithdrawals"),
    };
  });
}

/** What an account's body says of withdrawals; null if it leaves that open. */
export function accountMayWithdraw(body: Body): false | null {
  return body.canWithdraw === false ? false : null;
}

/** What is known of an account, with what is told of its key besides. */
export function restricted<Known extends Pick<AccountCheck, "canTrade" | "canWithdraw">>(
  known: Known,
  { mayTrade, mayWithdraw }: KeyRights,
): Known {
  return {
    ...known,
    canTrade: known.canTrade && mayTrade !== false,
    canWithdraw: mayWithdraw ?? known.canWithdraw,
  };
}

/**
 * Where the operator of a futures origin has its spot, as the reference exchange lays them out: `fapi.example.com` and
 * `api.example.com`. Null for any other.
 */
export function spotOriginOf(origin: string): string | null {
  const spot = origin.replace(/^(https?:\/\/(?:[a-z0-9-]+-)?)fapi\./, "$1api.");
  return spot === origin ? null : spot;
}

/** Whether a venue does not tell: it refuses to, or nothing answers there. */
export function hasNoSuchRoute(answer: VenueAnswer<unknown>): boolean {
  return answer.kind === "REFUSED" || (answer.kind === "UNKNOWN" && answer.status === NOT_FOUND);
}
