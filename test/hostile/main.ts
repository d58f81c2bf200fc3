// `npm run hostile`: the attacks, one after the other, and what got through.
import { columns } from "../crash/report.ts";
import { type Outcome, runLong } from "../support/long-run.ts";
import { say } from "../support/program.ts";
import {
  type Crowded,
  crowd,
  type Exposed,
  expose,
  type Late,
  type Multiplied,
  multiply,
  tradeLate,
} from "./attacks.ts";
import { HELP, type Options, readOptions } from "./options.ts";

type Report = {
  readonly multiplied: Multiplied;
  readonly crowded: Crowded;
  readonly late: readonly Late[];
  readonly exposed: Exposed;
};

/** A price may be so old, ms. */
const STALE_AFTER_MS = 5_000;
/** What the preset lets all positions be worth, as a multiple of the equity, with room for what it has gained since. */
const EXPOSURE_MAX = 5.5;

await runLong("hostile", { help: HELP, readOptions, run });

async function run(options: Options): Promise<Outcome> {
  const { captured, sockets, lateOrders, copiedOrders, isJson } = options;
  const multiplied = await multiply(captured, (done) => say(`${done} of ${2 * captured} captured orders`));
  const crowded = await crowd(sockets, (opened) => say(`${opened} of ${sockets} connections`));
  const late = await tradeLate(lateOrders, (delayMs) => say(`orders at a delay of ${delayMs} ms`));
  const exposed = await expose(copiedOrders);
  const report = { multiplied, crowded, late, exposed };
  return {
    report: isJson ? `${JSON.stringify(report, null, 2)}\n` : render(report),
    isClean: hasHeld(report),
  };
}

function hasHeld({ multiplied, crowded, late, exposed }: Report): boolean {
  return (
    multiplied.moved > 0 &&
    multiplied.more === 0 &&
    multiplied.altered === 0 &&
    crowded.held > 0 &&
    crowded.shutOut === 0 &&
    late.every(({ delayMs, orders, filled, refused }) =>
      delayMs <= STALE_AFTER_MS ? filled === orders : refused === orders,
    ) &&
    exposed.multiple > 0 &&
    exposed.multiple <= EXPOSURE_MAX
  );
}

function render({ multiplied, crowded, late, exposed }: Report): string {
  const oldestMs = Math.max(0, ...late.filter(({ filled }) => filled > 0).map(({ delayMs }) => delayMs));
  const percent = exposed.liquidatedBy === null ? "never" : `${(100 * exposed.liquidatedBy).toFixed(1)} %`;
  const rows: readonly (readonly [string, string | number])[] = [
    ["captured orders", multiplied.captured],
    ["requests made of them", multiplied.moved],
    ["  orders beyond one each", multiplied.more],
    ["  orders of another size or price", multiplied.altered],
    ["connections that one address opened", crowded.opened],
    ["  held once the surplus was cut", crowded.held],
    ["  which took, after the last, ms", Math.round(crowded.cutMs)],
    ["streams that another address asked for", crowded.streams],
    ["  not served", crowded.shutOut],
    ["  longest wait, ms", Math.round(crowded.longestMs)],
    ...late.flatMap(({ delayMs, orders, filled, refused }): [string, number][] => [
      [`orders at a delay of ${delayMs / 1_000} s`, orders],
      ["  filled", filled],
      ["  refused", refused],
    ]),
    ["oldest price that was filled at, s", oldestMs / 1_000],
    [`copied orders, the strategy at leverage ${exposed.strategyLeverage}`, exposed.orders],
    ["  leverage of the copy", exposed.leverage],
    ["  its position, times its wallet", exposed.multiple.toFixed(2)],
    ["  is liquidated by a move of", percent],
  ];
  return `${columns(rows.map(([name, value]) => [name, typeof value === "number" ? value.toLocaleString("en-US") : value])).join("\n")}\n`;
}
