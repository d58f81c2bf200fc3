// The flags of `npm run soak`.
import { randomInt } from "node:crypto";
import { readFlags, wholeNumber } from "../support/program.ts";
import { SUBSCRIPTIONS_PER_CONNECTION } from "./plan.ts";

export type Options = {
  readonly minutes: number;
  readonly clients: number;
  /** Of each client. */
  readonly subscriptions: number;
  /** How many clients are cut off at once; 0 for no storm. */
  readonly storm: number;
  readonly seed: number;
  readonly isJson: boolean;
};

const MINUTES_DEFAULT = 10;
const MINUTES_MAX = 24 * 60;
const CLIENTS_DEFAULT = 500;
/** As many connections as this machine has ports and descriptors for. */
const CLIENTS_MAX = 5_000;
const STORM_DEFAULT = 1_000;
const SEED_MAX = 2 ** 31 - 1;

export const HELP = `Usage: npm run soak -- [options]

Streams from a gateway of its own to many clients while its market's connections are cut, over and over, and holds every
message to the rules: no id that goes back, no book out of order, no tick after a candle's final, every final once, nothing silent
above five seconds but in an outage, memory flat. Then cuts all clients off at once and waits until they are back.
Everything stays on this machine's loopback addresses.

Options:
  --minutes N        how long, 1 to ${MINUTES_MAX}   (${MINUTES_DEFAULT})
  --clients N        connections, 1 to ${CLIENTS_MAX}   (${CLIENTS_DEFAULT})
  --subscriptions N  of each of them, 1 to ${SUBSCRIPTIONS_PER_CONNECTION}   (${SUBSCRIPTIONS_PER_CONNECTION})
  --storm N          clients that are cut off at once, 0 to ${CLIENTS_MAX}   (${STORM_DEFAULT})
  --seed N           what is drawn, 0 to ${SEED_MAX}   (a random one, which is printed)
  --json             the report as JSON
  --help             this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something was found, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, {
    minutes: "string",
    clients: "string",
    subscriptions: "string",
    storm: "string",
    seed: "string",
    json: "boolean",
  });
  if (values.help === true) return "help";
  const number = (
    name: "minutes" | "clients" | "subscriptions" | "storm" | "seed",
    usual: number,
    bounds: { readonly least: number; readonly most: number },
  ) => wholeNumber(`--${name}`, values[name] ?? String(usual), bounds);
  return {
    minutes: number("minutes", MINUTES_DEFAULT, { least: 1, most: MINUTES_MAX }),
    clients: number("clients", CLIENTS_DEFAULT, { least: 1, most: CLIENTS_MAX }),
    subscriptions: number("subscriptions", SUBSCRIPTIONS_PER_CONNECTION, {
      least: 1,
      most: SUBSCRIPTIONS_PER_CONNECTION,
    }),
    storm: number("storm", STORM_DEFAULT, { least: 0, most: CLIENTS_MAX }),
    seed: number("seed", randomInt(SEED_MAX), { least: 0, most: SEED_MAX }),
    isJson: values.json === true,
  };
}
