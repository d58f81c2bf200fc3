// What a copy has done and how it stands beside its strategy: the mirror log, the drift, and the copier's own kill switch.
import { z } from "zod";
import { type Copy, MIRROR_STATUSES, PROFIT_SHARES_ID } from "../../domain/copying.ts";
import { driftsOf } from "../copying/copy-drift.ts";
import { linesOf } from "../copying/copy-lines.ts";
import { halt, haltForm, release } from "../copying/kill-switches.ts";
import { ownCopy } from "../copying/own-copies.ts";
import { idText, PAGE_ROWS, symbolText } from "../paging.ts";
import { pendingOf, presentCopy, requestsOf } from "../present/copying-copies.ts";
import { presentDrift } from "../present/copying-drift.ts";
import { presentEntry, presentProfitShares } from "../present/copying-entries.ts";
import { type DashboardRoute, personOf, route } from "../route.ts";
import type { DriftShape, MirrorEntryShape, PageShape } from "../shapes.ts";

const HIDDEN_WHILE_CLOSING =
  "The copy is being closed and no longer follows the strategy. The strategy’s holdings are shown to its copiers only, so there is nothing to compare.";
const HIDDEN_AFTER_THE_END =
  "The copy has ended. The strategy’s holdings are shown to its copiers only, so there is nothing to compare. The mirror log keeps everything that the copy did.";

function hiddenWords({ status }: Copy): string {
  return status === "STOPPED" ? HIDDEN_AFTER_THE_END : HIDDEN_WHILE_CLOSING;
}

export const COPY_LOG_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/copies/:copyId/entries",
    access: "SIGNED_IN",
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
      const body: PageShape<MirrorEntryShape> = {
        rows: found.map(presentEntry),
        next: next === null ? null : String(next),
      };
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/copies/:copyId/profit-shares",
    access: "SIGNED_IN",
    async answer(call) {
      const { copyId } = await ownCopy(call);
      const entries = await call.parts.gateway.store.copying.listEntriesOf(copyId, PROFIT_SHARES_ID);
      return { body: presentProfitShares(entries) };
    },
  }),

  route({
    method: "GET",
    path: "/copies/:copyId/drift",
    access: "SIGNED_IN",
    async answer(call) {
      const copy = await ownCopy(call);
      const drifts = await driftsOf(call.parts, copy);
      const body: DriftShape = {
        rows: drifts?.rows.map((drift) => presentDrift(drift, drifts.linesLookedAt)) ?? [],
        hiddenBecause: drifts === null ? hiddenWords(copy) : null,
        seenAt: copy.book.snapshot?.at ?? null,
        pending: pendingOf(await requestsOf(call.parts.gateway.store, copy.copyId)),
      };
      return { body };
    },
  }),

  route({
    method: "POST",
    path: "/copies/:copyId/halt",
    access: "SIGNED_IN",
    onlyStops: true,
    body: haltForm,
    async answer(call) {
      const copy = await ownCopy(call);
      await halt(call, { kind: "COPIER", id: personOf(call).personId }, call.body.reason);
      return { body: await presentCopy(call.parts, copy) };
    },
  }),

  route({
    method: "DELETE",
    path: "/copies/:copyId/halt",
    access: "COPIER",
    needsKyc: true,
    async answer(call) {
      const copy = await ownCopy(call);
      await release(call, { kind: "COPIER", id: personOf(call).personId });
      return { body: await presentCopy(call.parts, copy) };
    },
  }),
];
