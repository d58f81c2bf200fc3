// What a copier has a copy do: pause, resume, stop, repair, look. Whoever works at the copy sees it with the next look at the store, a
// fraction of a second later; what was sent by then stays sent. What is asked for is done in turn with the strategy's actions.
// What only takes risk away, pause and stop, works in either profile.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { isStopLossReached } from "../../copy/reconcile/profit.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { Copy, CopyReason, CopyRequest, CopyStatus } from "../../domain/copying.ts";
import { connectedAccount, copyAudit, demandUsable, ownCopy, ownLiveCopy } from "../copying/own-copies.ts";
import { DashboardError } from "../errors.ts";
import { presentCopy } from "../present/copying-copies.ts";
import { type DashboardAnswer, type DashboardCall, type DashboardRoute, route } from "../route.ts";

const LIVE: readonly CopyStatus[] = ["FOLLOWING", "PAUSED", "CLOSING"];

const BEING_CLOSED = {
  message: "The copy is being closed.",
  action: "Wait until it is done: it sells everything that the copy holds.",
};
const PAUSED_OPENS_NOTHING = {
  message: "The copy is paused and opens nothing.",
  action: "Resume it first, or repair without opening anything.",
};

const OTHER_REPAIR = {
  message: "A repair of the other kind is in progress.",
  action: "Wait until it is done, then repair once more if that is still needed.",
};

export const COPY_CONTROL_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "POST",
    path: "/copies/:copyId/pause",
    access: "SIGNED_IN",
    onlyStops: true,
    async answer(call) {
      const copy = await ownLiveCopy(call);
      if (copy.status !== "PAUSED") {
        await change(call, "COPY_PAUSED", { from: ["FOLLOWING"], status: "PAUSED", reason: "COPIER" });
      }
      return presented(call);
    },
  }),

  route({
    method: "POST",
    path: "/copies/:copyId/resume",
    access: "COPIER",
    needsKyc: true,
    async answer(call) {
      const copy = await ownLiveCopy(call);
      if (copy.status !== "FOLLOWING") {
        const account = await connectedAccount(call, copy.accountId);
        call.parts.copying.demand(account.venue);
        demandUsable(account, copy.family);
        await demandLiveStrategy(call, copy);
        demandAboveStop(copy);
        await change(call, "COPY_RESUMED", { from: ["PAUSED"], status: "FOLLOWING", reason: null });
      }
      return presented(call);
    },
  }),

  route({
    method: "POST",
    path: "/copies/:copyId/stop",
    access: "SIGNED_IN",
    onlyStops: true,
    body: z.strictObject({ closesAll: z.boolean() }),
    async answer(call) {
      const { closesAll } = call.body;
      const copy = await ownLiveCopy(call);
      const isUnderWay = closesAll && copy.status === "CLOSING" && copy.reason === "COPIER";
      if (!isUnderWay) {
        await change(
          call,
          "COPY_STOPPED",
          closesAll
            ? { from: LIVE, status: "CLOSING", reason: "COPIER" }
            : // In one with the stop, so that no order of a stopped copy is ever forgotten at the venue.
              { from: LIVE, status: "STOPPED", reason: "COPIER", asks: withdrawalOf(call, copy) },
          { closesAll: String(closesAll) },
        );
      }
      return presented(call);
    },
  }),

  route({
    method: "POST",
    path: "/copies/:copyId/repair",
    access: "COPIER",
    needsKyc: true,
    body: z.strictObject({ mayIncrease: z.boolean() }),
    async answer(call) {
      const { mayIncrease } = call.body;
      const { copyId, status } = await demandWorkedAt(call);
      if (status === "CLOSING") throw new DashboardError("STATE_CHANGED", BEING_CLOSED);
      if (mayIncrease && status === "PAUSED") throw new DashboardError("STATE_CHANGED", PAUSED_OPENS_NOTHING);
      const asked = await copyingOf(call).addRequest(
        requestOf(call, { copyId, kind: "REPAIR", mayIncrease }),
        copyAudit(call, "COPY_REPAIR_ASKED", copyId, { mayIncrease: String(mayIncrease) }),
      );
      if (asked.mayIncrease !== mayIncrease) throw new DashboardError("STATE_CHANGED", OTHER_REPAIR);
      return presented(call);
    },
  }),

  route({
    method: "POST",
    path: "/copies/:copyId/look",
    access: "COPIER",
    needsKyc: true,
    async answer(call) {
      const { copyId } = await demandWorkedAt(call);
      const request = requestOf(call, { copyId, kind: "LOOK", mayIncrease: false });
      await copyingOf(call).addRequest(request, null);
      return presented(call);
    },
  }),
];

type Call = Pick<DashboardCall, "parts" | "params" | "signedIn" | "now">;

function copyingOf({ parts }: Pick<DashboardCall, "parts">) {
  return parts.gateway.store.copying;
}

/** The caller's copy as it stands now. */
async function presented(call: Call): Promise<DashboardAnswer> {
  return { body: await presentCopy(call.parts, await ownCopy(call)) };
}

/** Throws STATE_CHANGED unless the copy's status is one of `from`. */
async function change(
  call: Call,
  what: NewAuditRecord["what"],
  to: {
    readonly from: readonly CopyStatus[];
    readonly status: CopyStatus;
    readonly reason: CopyReason | null;
    readonly asks?: CopyRequest;
  },
  details: NewAuditRecord["details"] = {},
): Promise<void> {
  const { copyId = "" } = call.params;
  const isChanged = await copyingOf(call).changeCopy(
    { copyId, ...to, at: call.now },
    copyAudit(call, what, copyId, details),
  );
  if (!isChanged) throw new DashboardError("STATE_CHANGED");
}

/** The caller's live copy, if anybody works at it. */
async function demandWorkedAt(call: Call): Promise<Copy> {
  const copy = await ownLiveCopy(call);
  const account = await connectedAccount(call, copy.accountId);
  call.parts.copying.demand(account.venue);
  return copy;
}

async function demandLiveStrategy(call: Call, { strategyId }: Copy): Promise<void> {
  const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
  if (strategy?.status === "LIVE") return;
  throw new DashboardError("STATE_CHANGED", {
    message: "The strategy is closed.",
    action: "Stop the copy; there is nothing left to follow.",
  });
}

/** Throws where the stop loss would close everything again with the next look. */
function demandAboveStop({ book, settings }: Copy): void {
  if (!isStopLossReached(book, settings)) return;
  throw new DashboardError("STATE_CHANGED", {
    message: "The copy has reached its stop loss.",
    action: "Raise or remove the stop loss, then resume; or stop the copy and start another.",
  });
}

/** What rests of a copy that is stopped and would open something is taken back. */
function withdrawalOf(call: Pick<DashboardCall, "now">, { copyId }: Copy): CopyRequest {
  return requestOf(call, { copyId, kind: "WITHDRAW", mayIncrease: false });
}

function requestOf(
  { now }: Pick<DashboardCall, "now">,
  asked: Pick<CopyRequest, "copyId" | "kind" | "mayIncrease">,
): CopyRequest {
  return { requestId: randomBytes(8).toString("hex"), ...asked, askedAt: now, doneAt: null, failure: null };
}
