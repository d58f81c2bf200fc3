// What was asked of a copy beside its strategy's actions: once, in turn with them.
//
// What may have been sent for a request before a restart is looked for before anything else is sent or the request is finished, with
// the strategy as it was then. If the strategy has acted since, or the copy is being closed, that goes first; then a request of
// which something was found is over: its client ids serve once.
import type { CopyRequest, LeadState } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/copy-store.ts";
import { leadStateOf } from "../leads/lead-state.ts";
import { skipWords } from "../scaling/skip-words.ts";
import type { ActionLog } from "./action-log.ts";
import { type Closing, closeAll, recoverClosing } from "./closing.ts";
import { IS_AWAY, type RepairFacts, recoverRepair, repair } from "./repair.ts";
import { withdraw } from "./withdraw.ts";
import type { Work } from "./work.ts";

/** Lines of the log that a repair looks back on. */
const ENTRIES_MAX = 300;
const IS_STOPPED = "The copy is stopped.";
const IS_BLIND = "The venue may not be asked at the moment.";
const IS_INTERRUPTED = "It was interrupted; what had been sent by then is in the log.";
const NOTHING: ReadonlySet<string> = new Set();

export type RequestStore = Pick<
  CopyStore,
  "findLead" | "listActions" | "listMirrorEntries" | "listEntriesOf" | "findAccount" | "noteAccountChecked"
>;

/** Does what was asked, and finishes the request: with a failure if it could not be done. */
export async function answerRequest(
  work: Work,
  request: CopyRequest,
  parts: {
    readonly store: RequestStore;
    readonly log: ActionLog;
    readonly isBlind: boolean;
    /** Whether the venue does not accept the credentials, so that nothing can be looked for. */
    readonly isRejected: boolean;
    /** Whether the strategy's next action, or the closing, goes first. */
    readonly isEarly: boolean;
  },
): Promise<void> {
  const { turn } = work;
  const finish = (failure: string | null) => turn.finishRequest(request.requestId, work.now(), failure);
  if (request.kind === "WITHDRAW") return await withdraw(work, request);
  const found = work.mayHaveBeenSent && !parts.isRejected ? await recover(work, request, parts) : NOTHING;
  if (turn.copy.status === "STOPPED") return finish(IS_STOPPED);
  if (parts.isBlind) return finish(IS_BLIND);
  if (parts.isEarly && work.mayHaveBeenSent) return found.size > 0 ? finish(IS_INTERRUPTED) : undefined;
  switch (request.kind) {
    case "LOOK": {
      const done = await work.glances.askedFor(work, request, { mayHaveMissed: true });
      if (done === "INTERRUPTED") return;
      return finish(done === "DONE" ? null : IS_AWAY);
    }
    case "CLOSE": {
      const left = await closeAll(work, closingOf(request), found);
      return finish(left === null ? null : skipWords(left, null));
    }
    case "REPAIR": {
      const facts = await factsOf(work, parts);
      if (facts !== null) await repair(work, request, facts, found);
      else if (found.size > 0) finish(IS_INTERRUPTED);
    }
  }
}

/** Books what may have been sent for a request; answers what was found, as its kind names it. */
async function recover(
  work: Work,
  request: CopyRequest,
  { store }: { readonly store: RequestStore },
): Promise<ReadonlySet<string>> {
  if (request.kind === "CLOSE") return await recoverClosing(work, closingOf(request));
  if (request.kind !== "REPAIR") return NOTHING;
  return await recoverRepair(work, request, await leadBefore(work, store));
}

function closingOf(request: CopyRequest): Closing {
  return { kind: "FLATTEN", request, passId: request.requestId };
}

/** The strategy as it was when all of its actions were dealt with; null if it is no strategy any more. */
async function leadBefore({ turn }: Work, store: RequestStore): Promise<LeadState | null> {
  const { strategyId, doneSeq } = turn.copy;
  const [next] = await store.listActions(strategyId, { afterSeq: doneSeq, limit: 1 });
  if (next !== undefined) return next.lead;
  const lead = await store.findLead(strategyId);
  return lead === null || lead.account === null ? null : leadStateOf(lead.account, null);
}

/** Null while the strategy has done something that the copy has not dealt with. */
async function factsOf(
  { turn }: Work,
  { store, log }: { readonly store: RequestStore; readonly log: ActionLog },
): Promise<RepairFacts | null> {
  const { copyId, strategyId, doneSeq } = turn.copy;
  const lead = await store.findLead(strategyId);
  if (lead === null || lead.account === null || lead.seq > doneSeq) return null;
  const last = lead.seq === 0 ? null : await log.at(lead.seq);
  return {
    lead: leadStateOf(lead.account, last),
    leverages: lead.account.leverages,
    entries: await store.listMirrorEntries(copyId, { limit: ENTRIES_MAX }),
  };
}
