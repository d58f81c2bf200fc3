// Rights of a key beside reading: trading and withdrawing. If withdrawals are disabled for an account, no key
// can withdraw; if they are enabled, that says nothing about this key. Another route reports the key's own
// rights. It belongs to spot and does not exist everywhere: for a futures key the operator's spot venue is
// queried. Source: reference exchange, sections 4, 7.1 and 11.2.
import type { StrategyType } from "../../domain/account.ts";
import { type Body, flagOf, mapped, objectOf } from "./answers.ts";
import { WEIGHTS } from "./limits.ts";
import { type AccountRest, URGENT } from "./orders.ts";
import type { RestCall } from "./signed-rest.ts";
import type { AccountCheck, KeyRights, VenueAnswer, VenueBalances } from "./venue.ts";

const NOT_FOUND = 404;
/** The right that a key needs to trade a type. */
const RIGHTS = { SPOT: "enableSpotAndMarginTrading", FUTURES: "enableFutures" } as const;
const NOT_TOLD: KeyRights = { mayTrade: null, mayWithdraw: null };

/**
 * The key's rights, where the venue reports them; a rejection for another reason than the key is no answer.
 */
export async function askForRestrictions(
  rest: AccountRest,
  type: StrategyType = rest.type,
): Promise<VenueAnswer<KeyRights>> {
  const path = "/sapi/v1/account/apiRestrictions";
  const weight = WEIGHTS[rest.type].keyRights;
  const answer = await rest.ask({ method: "GET", path, weight, ...URGENT, isKeyCheck: true });
  if (hasNoSuchRoute(answer)) return { kind: "OK", value: NOT_TOLD };
  return mapped(answer, (value) => {
    const body = objectOf(value);
    const mayTrade = body[RIGHTS[type]];
    return {
      mayTrade: typeof mayTrade === "boolean" ? mayTrade : null,
      mayWithdraw: flagOf(body, "enableWithdrawals"),
    };
  });
}

/** What the account itself and its key's rights say of it, if the venue accepts the key. */
export async function checkAccount(
  rest: AccountRest,
  call: RestCall,
  balancesOf: (body: Body) => VenueBalances,
  askForMode: () => Promise<VenueAnswer<boolean | null>>,
): Promise<VenueAnswer<AccountCheck>> {
  const account = await rest.ask({ ...call, isKeyCheck: true });
  if (account.kind !== "OK") return account;
  const mode = await askForMode();
  if (mode.kind !== "OK") return mode;
  return mapped(await askForRestrictions(rest), (rights) => {
    const body = objectOf(account.value);
    const canWithdraw = body.canWithdraw === false ? false : null;
    const known = { balances: balancesOf(body), canTrade: flagOf(body, "canTrade"), canWithdraw };
    return { ...restricted(known, rights), isHedgeMode: mode.value };
  });
}

/** What is known of an account, restricted by its key's rights. */
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
 * Where the operator of a futures origin has its spot, as the reference exchange lays them out:
 * `fapi.example.com` and `api.example.com`. Null for any other.
 */
export function spotOriginOf(origin: string): string | null {
  const spot = origin.replace(/^(https?:\/\/(?:[a-z0-9-]+-)?)fapi\./, "$1api.");
  return spot === origin ? null : spot;
}

/** Whether a venue does not report rights: it refuses the request, or the route does not exist. */
export function hasNoSuchRoute(answer: VenueAnswer<unknown>): boolean {
  return answer.kind === "REFUSED" || (answer.kind === "UNKNOWN" && answer.status === NOT_FOUND);
}
