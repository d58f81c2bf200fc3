// A copier's copies: listed, begun, looked at, and given other settings. What is written here is carried out by whoever works at the
// strategy's copies. Whoever has copies sees them in either profile; new ones and other settings are for copiers.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { NewAuditRecord } from "../../domain/audit.ts";
import { type Copy, EMPTY_BOOK } from "../../domain/copying.ts";
import { copySettingsForm, presentSettings } from "../copy-settings.ts";
import { DashboardError } from "../errors.ts";
import { connectedAccount, copyAudit, demandUsable, ownCopy, ownLiveCopy } from "../own-copies.ts";
import { presentCopies, presentCopy } from "../present/copying-copies.ts";
import { type DashboardAnswer, type DashboardCall, type DashboardRoute, personOf, route } from "../route.ts";

/** Copies of a list; of more the newest. */
const COPIES_SHOWN_MAX = 100;
const ID_LENGTH_MAX = 64;

const idText = z.string().min(1).max(ID_LENGTH_MAX);

export const COPY_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/copies",
    access: "SIGNED_IN",
    async answer(call) {
      const { personId } = personOf(call);
      const copies = await copyingOf(call).listCopiesOf(personId);
      const rows = await presentCopies(call.parts, personId, copies.slice(0, COPIES_SHOWN_MAX));
      return { body: { rows } };
    },
  }),

  route({
    method: "POST",
    path: "/copies",
    access: "COPIER",
    needsKyc: true,
    body: z.strictObject({ strategyId: idText, accountId: idText, settings: copySettingsForm }),
    async answer(call) {
      const { strategyId, accountId, settings } = call.body;
      const account = await connectedAccount(call, accountId);
      call.parts.copying.demand(account.venue);
      const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
      if (strategy === null || !(await copyingOf(call).isOpenToCopiers(strategyId))) {
        throw new DashboardError("NOT_FOUND");
      }
      demandUsable(account, strategy.type);
      const copyId = randomBytes(8).toString("hex");
      const outcome = await copyingOf(call).createCopy(
        {
          ...{ copyId, personId: personOf(call).personId, strategyId, accountId, settings },
          family: account.family,
          status: "FOLLOWING",
          reason: null,
          startedAt: call.now,
          endedAt: null,
          book: EMPTY_BOOK,
        },
        copyAudit(call, "COPY_STARTED", copyId, { strategyId, accountId, ...settingsTold(settings) }),
      );
      if (outcome !== "CREATED") throw refusalOf(outcome);
      const copy = await copyingOf(call).findCopy(copyId);
      if (copy === null) throw new Error(`a copy that was begun stays: ${copyId}`);
      return { status: 201, body: await presentCopy(call.parts, copy) };
    },
  }),

  route({
    method: "GET",
    path: "/copies/:copyId",
    access: "SIGNED_IN",
    answer: async (call) => presented(call),
  }),

  route({
    method: "PUT",
    path: "/copies/:copyId/settings",
    access: "COPIER",
    needsKyc: true,
    body: copySettingsForm,
    async answer(call) {
      const { copyId } = await ownLiveCopy(call);
      const audit = copyAudit(call, "COPY_SETTINGS_CHANGED", copyId, settingsTold(call.body));
      if (!(await copyingOf(call).changeSettings(copyId, call.body, audit))) {
        throw new DashboardError("STATE_CHANGED");
      }
      return presented(call);
    },
  }),
];

function copyingOf({ parts }: Pick<DashboardCall, "parts">) {
  return parts.gateway.store.copying;
}

/** The caller's copy as it stands now. */
async function presented(
  call: Pick<DashboardCall, "parts" | "params" | "signedIn">,
): Promise<DashboardAnswer> {
  return { body: await presentCopy(call.parts, await ownCopy(call)) };
}

function refusalOf(outcome: "NOT_OPEN" | "TAKEN"): DashboardError {
  if (outcome === "NOT_OPEN") {
    return new DashboardError("STATE_CHANGED", {
      message: "The strategy accepts no new copiers.",
      action: "Choose another one.",
    });
  }
  return new DashboardError("STATE_CHANGED", {
    message: "You copy this strategy already, or one of your copies uses this account.",
    action: "Stop that copy first, or choose another account: each serves one copy.",
  });
}

/** Settings as the audit tells them: what is not set is left out. */
function settingsTold(settings: Copy["settings"]): NewAuditRecord["details"] {
  const { share, maxPerOrder, stopLoss } = presentSettings(settings);
  return {
    share,
    ...(maxPerOrder === null ? {} : { maxPerOrder }),
    ...(stopLoss === null ? {} : { stopLoss }),
  };
}
