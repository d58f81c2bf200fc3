// An account is found unfit for copying while its copy runs: the copy continues with what its key is still
// accepted for.
import { expect, test } from "vitest";
import { UNFIT } from "../../domain/unfit-account.ts";
import { openCopiesFixture, places } from "../testing/copies-fixture.ts";

test.each([
  ["whose key may withdraw still sells", UNFIT.withdraws, "PLACE SELL MARKET 0.0004 FILLED executed 0.0004"],
  [
    "whose key is not accepted is left alone",
    "-2015 Invalid API-key.",
    "PLACE SELL MARKET SKIPPED CREDENTIALS",
  ],
])("after a restart, one %s", async (_, failure, expected) => {
  await using fixture = await openCopiesFixture();
  const strategy = await fixture.strategy("SPOT");
  await fixture.start();
  const copier = await fixture.copier(strategy, "SPOT");
  await fixture.does(strategy, places("BUY", "0.0005"));
  await fixture.stop();
  const { accountId } = await fixture.copy(copier);
  await fixture.store.copying.noteAccountChecked(accountId, {
    status: "FAILED",
    failure,
    at: fixture.time.now(),
  });
  await fixture.start();
  await fixture.does(strategy, places("SELL", "0.0004"));
  expect((await fixture.log(copier)).at(-1)).toBe(expected);
});
