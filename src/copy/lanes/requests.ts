// What was asked of a copy beside its strategy's actions: once, in turn with them.
import type { CopyRequest } from "../../domain/copying.ts";
import type { CopyStore } from "../../store/copy-store.ts";
import { leadStateOf } from "../leads/lead-state.ts";
import { skipWords } from "../scaling/skip-words.ts";
import type { ActionLog } from "./action-log.ts";
import { closeAll } from "./closing.ts";
import { look } from "./look.ts";
import { type RepairFacts, repair } from "./repair.ts";
import type { Work } from "./work.ts";

/** Lines of the log that a repair looks back on. */
const ENTRIES_MAX = 300;
const IS_STOPPED = "The copy is stopped.";
const IS_BLIND = "The venue may not be asked at the moment.";

export type RequestStore = Pick<
  CopyStore,
  "findLead" | "listMirrorEntries" | "listEntriesOf" | "findAccount" | "noteAccountChecked"
>;

/** Does what was asked, and finishes the request: with a failure if it could not be done. */
export async function answerRequest(
  work: Work,
  request: CopyRequest,
  parts: { readonly store: RequestStore; readonly log: ActionLog; readonly isBlind: boolean },
): Promise<void> {
  const { turn } = work;
  const finish = (failure: string | null) => turn.finishRequest(request.requestId, work.now(), failure);
  if (turn.copy.status === "STOPPED") return finish(IS_STOPPED);
  if (parts.isBlind) return finish(IS_BLIND);
  switch (request.kind) {
    case "LOOK":
      await look(work, { mayHaveMissed: true });
      return finish(null);
    case "CLOSE": {
      const left = await closeAll(work, { kind: "FLATTEN", request, passId: request.requestId });
      return finish(left === null ? null : skipWords(left, null));
    }
    case "REPAIR": {
      const facts = await factsOf(work, parts);
      if (facts !== null) await repair(work, request, facts);
    }
  }
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
