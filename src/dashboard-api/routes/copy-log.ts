// A copy's mirror log, its profit shares, its drift from the strategy, and the copier's own kill switch.
import { z } from "zod";
import { type Copy, MIRROR_STATUSES, PROFIT_SHARES_ID } from "../../domain/copying.ts";
import { copyAnswer, pendingOf, requestsOf } from "../copying/copies.ts";
import { driftsOf } from "../copying/copy-drift.ts";
import { linesOf } from "../copying/copy-lines.ts";
import { entryAnswer, profitSharesAnswer } from "../copying/entries.ts";
import { halt, haltForm, release } from "../copying/kill-switches.ts";
import { ownCopy } from "../copying/own-copies.ts";
import { idText, PAGE_ROWS, symbolText } from "../paging.ts";
import { personOf, route } from "../route.ts";
import { copySchema, driftSchema, entrySchema, profitSharesSchema } from "../schemas/copies.ts";
import { page } from "../schemas/fields.ts";

const HIDDEN_WHILE_CLOSING =
  "The copy is being closed and no longer follows the strategy. The strategy’s holdings are shown to its copiers only, so there is nothing to compare.";
const HIDDEN_AFTER_THE_END =
  "The copy has ended. The strategy’s holdings are shown to its copiers only, so there is nothing to compare. The mirror log keeps everything that the copy did.";

function hiddenWords({ status }: Copy): string {
  return status === "STOPPED" ? HIDDEN_AFTER_THE_END : HIDDEN_WHILE_CLOSING;
}

export const COPY_LOG_ROUTES = [
  route("GET /copies/:copyId/entries", "SIGNED_IN", page(entrySchema), {
    query: z.strictObject({
      before: idText.optional(),
      status: z.enum(MIRROR_STATUSES).optional(),
      symbol: symbolText.optional(),
    }),
    async answer(call) {
      const { copyId } = await ownCopy(call);
      const { before, status, symbol } = call.query;
      const { found, next } = await linesOf(call.parts.gateway.store.copying, copyId, {
        before,
        statuses: status === undefined ? undefined : [status],
        symbol,
        limit: PAGE_ROWS,
      });
      return { body: { rows: found.map(entryAnswer), next: next === null ? null : String(next) } };
    },
  }),

  route("GET /copies/:copyId/profit-shares", "SIGNED_IN", profitSharesSchema, async (call) => {
    const { copyId } = await ownCopy(call);
    const entries = await call.parts.gateway.store.copying.listEntriesOf(copyId, PROFIT_SHARES_ID);
    return { body: profitSharesAnswer(entries) };
  }),

  route("GET /copies/:copyId/drift", "SIGNED_IN", driftSchema, async (call) => {
    const copy = await ownCopy(call);
    const drifts = await driftsOf(call.parts, copy);
    return {
      body: {
        rows: drifts ?? [],
        hiddenBecause: drifts === null ? hiddenWords(copy) : null,
        seenAt: copy.book.snapshot?.at ?? null,
        pending: pendingOf(await requestsOf(call.parts.gateway.store, copy.copyId)),
      },
    };
  }),

  route("POST /copies/:copyId/halt", "SIGNED_IN", copySchema, {
    onlyStops: true,
    body: haltForm,
    async answer(call) {
      const copy = await ownCopy(call);
      await halt(call, { kind: "COPIER", id: personOf(call).personId }, call.body.reason);
      return { body: await copyAnswer(call.parts, copy) };
    },
  }),

  route("DELETE /copies/:copyId/halt", "COPIER", copySchema, {
    needsKyc: true,
    async answer(call) {
      const copy = await ownCopy(call);
      await release(call, { kind: "COPIER", id: personOf(call).personId });
      return { body: await copyAnswer(call.parts, copy) };
    },
  }),
];
