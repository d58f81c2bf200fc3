// What a restore does to the copies that were live, in the words of the store's port.
import { expect } from "vitest";
import { follow } from "../../contract/copying/records.ts";
import type { Store } from "../../store.ts";

/** Expects a restored store to have the original's copies, but stopped, and people to start new ones. */
export async function checkStopped(restored: Store, original: Store, at: number): Promise<void> {
  const copies = await original.copying.listCopiesOfStrategy("lead", { isLive: true });
  expect(copies).toHaveLength(2);
  expect(await restored.copying.listCopiesOfStrategy("lead", { isLive: true })).toEqual([]);
  for (const copy of copies) {
    const { copyId, revision } = copy;
    const ended = { status: "STOPPED", reason: "RESTORED", endedAt: at, revision: revision + 1 };
    expect(await restored.copying.findCopy(copyId)).toEqual({ ...copy, ...ended });
  }
  expect(await original.copying.listPendingRequests("lead")).toHaveLength(1);
  expect(await restored.copying.listRequests("cat-lead", 9)).toMatchObject([
    { requestId: "look", doneAt: at, failure: expect.stringMatching(/restored/) },
  ]);
  await expect(follow(restored, "lead", "dan")).resolves.toEqual(["dan-lead"]);
}
