// A copier's copies: listed, begun, looked at, and given other settings. What is written here is carried out by whoever works at the
// strategy's copies. Whoever has copies sees them in either profile; new ones and other settings are for copiers.
import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import { EMPTY_BOOK, EXACT_SETTINGS } from "../../domain/copying.ts";
import { copySettingsForm, settingsFrom, settingsTold } from "../copying/copy-settings.ts";
import { connectedAccount, copyAudit, demandUsable, ownCopy, ownLiveCopy } from "../copying/own-copies.ts";
import { DashboardError } from "../errors.ts";
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
    growsDisk: true,
    needsKyc: true,
    body: z.strictObject({ strategyId: idText, accountId: idText, settings: copySettingsForm }),
    async answer(call) {
      const { strategyId, accountId } = call.body;
      const settings = settingsFrom(call.body.settings, EXACT_SETTINGS);
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
      // What the strategy holds already is opened as a repair that may increase, to which the copier has consented.
      if (settings.copyExisting) {
        const request = { requestId: randomUUID(), copyId, kind: "REPAIR", mayIncrease: true } as const;
        await copyingOf(call).addRequest(
          { ...request, askedAt: call.now, doneAt: null, failure: null },
          null,
        );
      }
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
      const { copyId, settings: before } = await ownLiveCopy(call);
      const settings = settingsFrom(call.body, before);
      const audit = copyAudit(call, "COPY_SETTINGS_CHANGED", copyId, settingsTold(settings));
      if (!(await copyingOf(call).changeSettings(copyId, settings, audit))) {
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
