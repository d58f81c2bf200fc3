// An account is found unfit for copying while its copy runs: the copy continues with what its key is still
// accepted for.
import { expect, test } from "vitest";
import { UNFIT } from "../../domain/unfit-account.ts";
import { openCopiesStage, places } from "../testing/copies-stage.ts";

test.each([
  ["whose key may withdraw still sells", UNFIT.withdraws, "PLACE SELL MARKET 0.0004 FILLED executed 0.0004"],
  [
    "whose key is not accepted is left alone",
    "-2015 Invalid API-key.",
    "PLACE SELL MARKET SKIPPED CREDENTIALS",
  ],
])("after a restart, one %s", async (_, failure, expected) => {
  await using stage = await openCopiesStage();
  const strategy = await stage.strategy("SPOT");
  await stage.start();
  const copier = await stage.copier(strategy, "SPOT");
  await stage.does(strategy, places("BUY", "0.0005"));
  await stage.stop();
  const { accountId } = await stage.copy(copier);
  await stage.store.copying.noteAccountChecked(accountId, {
    status: "FAILED",
    failure,
    at: stage.time.now(),
  });
  await stage.start();
  await stage.does(strategy, places("SELL", "0.0004"));
  expect((await stage.log(copier)).at(-1)).toBe(expected);
});
