import { expect, test } from "vitest";
import type { CopyRequest } from "../domain/copying.ts";
import { Closing } from "./closing.ts";
import { freshState } from "./testing/copy-rows.ts";

test("a request to close everything is over when the copy's stop loss has closed it", async () => {
  const state = freshState();
  const polled = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  const closing = new Closing({
    context: { state, now: () => 1, pollSoon() {} },
    missing: { explainedUntil: 1 },
    pause: () => new Promise(() => {}),
    isPolling: () => false,
    pollAfresh: () => polled.promise,
    wake: () => woken.resolve(),
  });
  closing.begin({ requestId: "request", kind: "CLOSE" } as CopyRequest);
  state.move("CLOSING", "STOP_LOSS", 1);
  expect(closing.isAllClosed()).toBe(false);
  polled.resolve();
  await woken.promise;
  expect(closing.isAllClosed()).toBe(true);
  state.move("PAUSED", "STOP_LOSS", 1);
  expect(closing.isUnderWay).toBe(false);
});
