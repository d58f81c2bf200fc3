// The flags of `npm run hostile`.
import { readFlags, wholeNumber } from "../support/program.ts";
import type { Sizes } from "./attacks.ts";

export type Options = Sizes & { readonly seed: number; readonly isJson: boolean };

const FULL: Sizes = { captured: 8, sockets: 10_500, lateOrders: 12, copiedOrders: 45 };
const QUICK: Sizes = { captured: 1, sockets: 50, lateOrders: 2, copiedOrders: 4 };
const SOCKETS_MAX = 15_000;

export const HELP = `Usage: npm run hostile -- [options]

Attacks gateways of its own and counts what got through:
  captured orders, cut in two at every place and sent again under their signature: orders beyond one each
  one address that opens connections without a key: how many it holds, and whether others are still served
  orders while the market's messages are late: the oldest price that one was filled at
  a copy with the default settings, of a strategy at leverage 100: the position's worth, and the move that liquidates it

Orders that are doubled or lost under faults and kills are counted by "npm run fire" and "npm run copy-faults".

Options:
  --sockets N   connections of one address, 1 to ${SOCKETS_MAX}   (${FULL.sockets})
  --quick       a few of each, to try the program
  --json        the report as JSON
  --help        this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something got through, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, { sockets: "string", quick: "boolean", json: "boolean" });
  if (values.help === true) return "help";
  const sizes = values.quick === true ? QUICK : FULL;
  const sockets = wholeNumber("--sockets", values.sockets ?? String(sizes.sockets), {
    least: 1,
    most: SOCKETS_MAX,
  });
  return { ...sizes, sockets, seed: 1, isJson: values.json === true };
}
