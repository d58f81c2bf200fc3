// A copier's copies: the list, starting one, and its settings. The strategy's copy executor acts on the rows
// that are written here. The owner sees copies in either profile; starting one and changing settings need the
// copier profile.
import { randomBytes, randomUUID } from "node:crypto";
import { z } from "zod";
import { type CopyRequest, EMPTY_BOOK, EXACT_SETTINGS } from "../../domain/copying.ts";
import { copyAnswer, copyAnswers } from "../copying/copies.ts";
import { copySettingsForm, settingsFrom, settingsTold } from "../copying/copy-settings.ts";
import { connectedAccount, demandUsable, ownCopy, ownLiveCopy } from "../copying/own-copies.ts";
import { DashboardError } from "../errors.ts";
import { audited, copyingOf, personOf, route } from "../route.ts";
import { copySchema } from "../schemas/copies.ts";
import { rows } from "../schemas/fields.ts";

/** Copies of a list; of more the newest. */
const COPIES_SHOWN_MAX = 100;
const ID_LENGTH_MAX = 64;

const idText = z.string().min(1).max(ID_LENGTH_MAX);

export const COPY_ROUTES = [
  route("GET /copies", "SIGNED_IN", rows(copySchema), async (call) => {
    const { personId } = personOf(call);
    const copies = await copyingOf(call).listCopiesOf(personId);
    const rows = await copyAnswers(call.parts, personId, copies.slice(0, COPIES_SHOWN_MAX));
    return { body: { rows } };
  }),

  route("POST /copies", "COPIER", copySchema, {
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
          type: account.type,
          status: "FOLLOWING",
          reason: null,
          startedAt: call.now,
          endedAt: null,
          book: EMPTY_BOOK,
        },
        audited(
          call,
          "COPY_STARTED",
          { kind: "COPY", id: copyId },
          { strategyId, accountId, ...settingsTold(settings) },
        ),
        settings.copyExisting ? openingOf(copyId, call.now) : undefined,
      );
      if (outcome !== "CREATED") throw refusalOf(outcome);
      const copy = await copyingOf(call).findCopy(copyId);
      if (copy === null) throw new Error(`a copy that was begun stays: ${copyId}`);
      return { status: 201, body: await copyAnswer(call.parts, copy) };
    },
  }),

  route("GET /copies/:copyId", "SIGNED_IN", copySchema, async (call) => ({
    body: await copyAnswer(call.parts, await ownCopy(call)),
  })),

  route("PUT /copies/:copyId/settings", "COPIER", copySchema, {
    needsKyc: true,
    body: copySettingsForm,
    async answer(call) {
      const { copyId, settings: before } = await ownLiveCopy(call);
      const settings = settingsFrom(call.body, before);
      const audit = audited(
        call,
        "COPY_SETTINGS_CHANGED",
        { kind: "COPY", id: copyId },
        settingsTold(settings),
      );
      if (!(await copyingOf(call).changeSettings(copyId, { from: before, to: settings }, audit))) {
        throw new DashboardError("STATE_CHANGED");
      }
      return { body: await copyAnswer(call.parts, await ownCopy(call)) };
    },
  }),
];

/**
 * Has the present holdings of the strategy opened: a repair that may increase, to which the copier has
 * consented.
 */
function openingOf(copyId: string, askedAt: number): CopyRequest {
  const request = { requestId: randomUUID(), copyId, kind: "REPAIR", mayIncrease: true } as const;
  return { ...request, askedAt, doneAt: null, failure: null };
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
