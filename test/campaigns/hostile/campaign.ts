// `npm run hostile`: the attacks, one after the other, and what got through.
import { campaign, JSON_REPORT, say } from "../harness/campaign.ts";
import { aSwitch, number } from "../harness/flags.ts";
import { columns, count } from "../harness/report.ts";
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

type Report = {
  readonly multiplied: Multiplied;
  readonly crowded: Crowded;
  readonly late: readonly Late[];
  readonly exposed: Exposed;
};

const FULL = { captured: 8, sockets: 10_500, lateOrders: 12, copiedOrders: 45 };
const QUICK = { captured: 1, sockets: 50, lateOrders: 2, copiedOrders: 4 };
/** A price may be so old, ms. */
const STALE_AFTER_MS = 5_000;
/**
 * What the preset lets all positions be worth, as a multiple of the equity, with room for what it has gained
 * since.
 */
const EXPOSURE_MAX = 5.5;

export const CAMPAIGN = campaign({
  name: "hostile",
  about: `
Attacks gateways of its own and counts what got through:
  captured orders, cut in two at every place and sent again under their signature: orders beyond one each
  one address that opens connections without a key: how many it holds, and whether others are still served
  orders while the market's messages are late: the oldest price that one was filled at
  a copy with the default settings, of a strategy at leverage 100: the position's worth, and the move that
  liquidates it

Orders that are doubled or lost under faults and kills are counted by "npm run fire" and "npm run
copy-faults".`,
  flags: {
    sockets: number("connections of one address", {
      ...{ usual: () => Number.NaN, usualText: `${FULL.sockets}; ${QUICK.sockets} if --quick`, most: 15_000 },
    }),
    quick: aSwitch("a few of each, to try the program"),
    json: JSON_REPORT,
  },
  async run(flags) {
    const { captured, sockets, lateOrders, copiedOrders } = flags.quick ? QUICK : FULL;
    const opened = Number.isNaN(flags.sockets) ? sockets : flags.sockets;
    const report: Report = {
      multiplied: await multiply(captured, (done) => say(`${done} of ${2 * captured} captured orders`)),
      crowded: await crowd(opened, (done) => say(`${done} of ${opened} connections`)),
      late: await tradeLate(lateOrders, (delayMs) => say(`orders at a delay of ${delayMs} ms`)),
      exposed: await expose(copiedOrders),
    };
    return { report, text: render(report), isClean: hasHeld(report) };
  },
});

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
  const cells = rows.map(([name, value]) => [name, typeof value === "number" ? count(value) : value]);
  return `${columns(cells).join("\n")}\n`;
}
