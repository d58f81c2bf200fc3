// Copies and accounts at venues that a route is about must be the caller's own. Somebody else's is not found,
// the same as one that there is not.
import type { Copy, VenueAccount } from "../../domain/copying.ts";
import { isOnlyUnfit } from "../../domain/unfit-account.ts";
import { DashboardError } from "../errors.ts";
import { type DashboardCall, personOf } from "../route.ts";

type Asked = Pick<DashboardCall<unknown, unknown, "copyId">, "parts" | "params" | "signedIn">;

/** The copy that `:copyId` names. Throws NOT_FOUND unless it is the caller's. */
export async function ownCopy(call: Asked): Promise<Copy> {
  const { copyId } = call.params;
  const copy = await call.parts.gateway.store.copying.findCopy(copyId);
  if (copy === null || copy.personId !== personOf(call).personId) throw new DashboardError("NOT_FOUND");
  return copy;
}

/** The same, if it is not stopped. Throws STATE_CHANGED if it is. */
export async function ownLiveCopy(call: Asked): Promise<Copy> {
  const copy = await ownCopy(call);
  if (copy.status === "STOPPED") {
    throw new DashboardError("STATE_CHANGED", {
      message: "The copy has ended.",
      action: "Start another one.",
    });
  }
  return copy;
}

/**
 * Whether a copy follows its strategy, or may again: only then is its owner shown what the strategy does and
 * holds. One that is being closed does not: an account whose key is revoked at the exchange stays so for as
 * long as its owner likes.
 */
export function followsStrategy({ status }: Copy): boolean {
  return status === "FOLLOWING" || status === "PAUSED";
}

/** The account of that id. Throws NOT_FOUND unless it is the caller's. */
export async function ownVenueAccount(
  call: Pick<DashboardCall, "parts" | "signedIn">,
  accountId: string,
): Promise<VenueAccount> {
  const account = await call.parts.gateway.store.copying.findAccount(accountId);
  if (account === null || account.personId !== personOf(call).personId) throw new DashboardError("NOT_FOUND");
  return account;
}

/** The same, if its credentials are there. Throws STATE_CHANGED if they are destroyed. */
export async function connectedAccount(
  call: Pick<DashboardCall, "parts" | "signedIn">,
  accountId: string,
): Promise<VenueAccount> {
  const account = await ownVenueAccount(call, accountId);
  if (account.status === "DISCONNECTED") {
    throw new DashboardError("STATE_CHANGED", {
      message: "The account is disconnected.",
      action: "Connect it again, as a new one.",
    });
  }
  return account;
}

/** Throws unless orders of a type can be sent with the account. */
export function demandUsable(account: VenueAccount, wanted: VenueAccount["type"]): void {
  const { status, type, failure } = account;
  if (type !== wanted) {
    const words = `is a ${type === "SPOT" ? "spot" : "futures"} account: the strategy trades the other market`;
    throw new DashboardError("BODY_UNFIT", { fields: { accountId: words } });
  }
  if (status === "CONNECTED") return;
  throw new DashboardError("STATE_CHANGED", {
    message: isOnlyUnfit(account)
      ? `The account's key ${failure}.`
      : "The exchange does not accept the account's key.",
    action: "Check the account again, or replace its key.",
  });
}
