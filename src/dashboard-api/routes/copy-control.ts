// A copier's requests to a copy: pause, resume, stop, repair, and an account poll. The copy executor reads
// them from the store a fraction of a second later, and executes them in order with the strategy's actions;
// orders that were sent by then stay sent. Pause and stop only reduce risk, so they work in either profile.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { isStopLossReached } from "../../copy/sizing/book.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { Copy, CopyReason, CopyRequest, CopyStatus } from "../../domain/copying.ts";
import { copyAnswer } from "../copying/copies.ts";
import { connectedAccount, demandUsable, ownCopy, ownLiveCopy } from "../copying/own-copies.ts";
import { DashboardError } from "../errors.ts";
import { audited, copyingOf, type DashboardCall, route } from "../route.ts";
import { copySchema } from "../schemas/copies.ts";

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

export const COPY_CONTROL_ROUTES = [
  route("POST /copies/:copyId/pause", "SIGNED_IN", copySchema, {
    onlyStops: true,
    async answer(call) {
      const copy = await ownLiveCopy(call);
      if (copy.status !== "PAUSED") {
        await change(call, "COPY_PAUSED", { from: ["FOLLOWING"], status: "PAUSED", reason: "COPIER" });
      }
      return answered(call);
    },
  }),

  route("POST /copies/:copyId/resume", "COPIER", copySchema, {
    needsKyc: true,
    async answer(call) {
      const copy = await ownLiveCopy(call);
      if (copy.status !== "FOLLOWING") {
        const account = await connectedAccount(call, copy.accountId);
        call.parts.copying.demand(account.venue);
        demandUsable(account, copy.type);
        await demandLiveStrategy(call, copy);
        demandAboveStop(copy);
        await change(call, "COPY_RESUMED", { from: ["PAUSED"], status: "FOLLOWING", reason: null });
      }
      return answered(call);
    },
  }),

  route("POST /copies/:copyId/stop", "SIGNED_IN", copySchema, {
    onlyStops: true,
    body: z.strictObject({ closesAll: z.boolean() }),
    async answer(call) {
      const { closesAll } = call.body;
      const copy = await ownLiveCopy(call);
      const isUnderWay = closesAll && copy.status === "CLOSING" && copy.reason === "COPIER";
      if (!isUnderWay) {
        // In one transaction with the stop, so that no opening order of a stopped copy stays at the venue.
        const asks = requestOf(call, { copyId: copy.copyId, kind: "WITHDRAW", mayIncrease: false });
        const status = closesAll ? "CLOSING" : "STOPPED";
        const to = { from: LIVE, status, reason: "COPIER", ...(!closesAll && { asks }) } as const;
        await change(call, "COPY_STOPPED", to, { closesAll: String(closesAll) });
      }
      return answered(call);
    },
  }),

  route("POST /copies/:copyId/repair", "COPIER", copySchema, {
    needsKyc: true,
    body: z.strictObject({ mayIncrease: z.boolean() }),
    async answer(call) {
      const { mayIncrease } = call.body;
      const { copyId, status } = await demandWorkedAt(call);
      if (status === "CLOSING") throw new DashboardError("STATE_CHANGED", BEING_CLOSED);
      if (mayIncrease && status === "PAUSED") throw new DashboardError("STATE_CHANGED", PAUSED_OPENS_NOTHING);
      const details = { mayIncrease: String(mayIncrease) };
      const asked = await copyingOf(call).addRequest(
        requestOf(call, { copyId, kind: "REPAIR", mayIncrease }),
        audited(call, "COPY_REPAIR_ASKED", { kind: "COPY", id: copyId }, details),
      );
      if (asked.mayIncrease !== mayIncrease) throw new DashboardError("STATE_CHANGED", OTHER_REPAIR);
      return answered(call);
    },
  }),

  route("POST /copies/:copyId/look", "COPIER", copySchema, {
    needsKyc: true,
    async answer(call) {
      const { copyId } = await demandWorkedAt(call);
      const request = requestOf(call, { copyId, kind: "LOOK", mayIncrease: false });
      await copyingOf(call).addRequest(request, null);
      return answered(call);
    },
  }),
];

type Call = Pick<DashboardCall<unknown, unknown, "copyId">, "parts" | "params" | "signedIn" | "now">;

/** The caller's copy in its present state. */
async function answered(call: Call) {
  return { body: await copyAnswer(call.parts, await ownCopy(call)) };
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
  const { copyId } = call.params;
  const isChanged = await copyingOf(call).changeCopy(
    { copyId, ...to, at: call.now },
    audited(call, what, { kind: "COPY", id: copyId }, details),
  );
  if (!isChanged) throw new DashboardError("STATE_CHANGED");
}

/** The caller's live copy, if its account and venue can be used. */
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

/** Throws where the stop loss would close everything again at the next account poll. */
function demandAboveStop({ book, settings }: Copy): void {
  if (!isStopLossReached(book, settings)) return;
  throw new DashboardError("STATE_CHANGED", {
    message: "The copy has reached its stop loss.",
    action: "Raise or remove the stop loss, then resume; or stop the copy and start another.",
  });
}

function requestOf(
  { now }: Pick<DashboardCall, "now">,
  asked: Pick<CopyRequest, "copyId" | "kind" | "mayIncrease">,
): CopyRequest {
  return { requestId: randomBytes(8).toString("hex"), ...asked, askedAt: now, doneAt: null, failure: null };
}
