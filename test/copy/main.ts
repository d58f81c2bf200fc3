// `npm run copy-faults`: strategies that are copied over a way with faults, by a copier that is killed, and what became of each order.
import { onEachStore } from "../crash/stores.ts";
import { type Circumstances, type Outcome, runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import { plant } from "./faults/plants.ts";
import { renderJson, renderReport } from "./faults/report.ts";
import { copyUnderFire, type Progress } from "./faults/run.ts";
import { HELP, type Options, readOptions } from "./options.ts";

await runLong("copy-faults", { help: HELP, readOptions, run });

async function run(options: Options, { interrupted }: Circumstances): Promise<Outcome> {
  const { orders, seed, leads, copiers, killEveryMs, cuts, isJson, hideMsMax } = options;
  const root = options.plant === null ? undefined : plant(options.plant);
  const reports = await onEachStore(options, interrupted, (store) =>
    copyUnderFire({
      ...{ store, seed, orders, leads, copiers, cuts, killEveryMs, root, signal: interrupted },
      exchange: options.exchange ? { hideMsMax } : null,
      onProgress: (progress) => say(`${store}: ${wordsOf(progress, orders)}`),
    }),
  );
  return {
    report: isJson ? renderJson(reports) : renderReport(reports),
    isClean: reports.every(({ faults, verdict }) => faults.length === 0 && verdict.sent > 0),
  };
}

function wordsOf({ orders, kills, left }: Progress, wanted: number): string {
  if (left === null) return `${orders} of ${wanted} orders, ${kills} kills`;
  return `all is traded, ${left} copies are not done`;
}
