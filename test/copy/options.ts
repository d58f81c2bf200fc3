// The flags of `npm run copy-faults`.
import { randomInt } from "node:crypto";
import { type ChosenStores, chosenStores } from "../crash/stores.ts";
import { OptionError, readFlags, wholeNumber } from "../support/program.ts";
import { PLANTS, type PlantName } from "./faults/plants.ts";

export type Options = ChosenStores & {
  readonly orders: number;
  readonly seed: number;
  readonly leads: number;
  readonly copiers: number;
  /** Whether what copies is killed, and whether the way to the venue has faults. */
  /** On average; null kills nothing. */
  readonly killEveryMs: number | null;
  readonly cuts: boolean;
  /** Whether the venue behaves as a real exchange does, and for how long it hides an order at most, ms. */
  readonly exchange: boolean;
  readonly hideMsMax: number;
  /** A fault to be put into a copy of the program; null for the program as it is. */
  readonly plant: PlantName | null;
  readonly isJson: boolean;
};

const ORDERS_DEFAULT = 20_000;
const ORDERS_MAX = 10_000_000;
const LEADS_DEFAULT = 4;
const LEADS_MAX = 100;
const COPIERS_DEFAULT = 25;
const COPIERS_MAX = 1_000;
const MS_PER_SECOND = 1_000;
const HIDE_SECONDS_DEFAULT = 600;
const HIDE_SECONDS_MAX = 3_600;
/** A new start asks for each account, which takes of the weight that all accounts at an address share. */
const KILL_SECONDS_DEFAULT = 30;
const KILL_SECONDS_MAX = 3_600;
const SEED_MAX = 2 ** 31 - 1;

export const HELP = `Usage: npm run copy-faults -- [options]

Has strategies copied to accounts at a venue, another gateway, over a way that cuts, delays, answers 5xx after executing, 429
and 418, and kills what copies again and again: kill -9, on SQLite of the whole program, on PostgreSQL of one of two copier
processes. The exchange at the other end refuses exits once, executes orders that it does not show for minutes, accepts client
ids again, counts weight by address, has prices of its own and liquidates positions by itself.

In the end the venue's own books are held against the mirror logs: nothing doubled, nothing lost, nothing out of order, and
whatever was not copied says why. They are held against the strategies, too: every position is on target or accounted for, none
lacked its strategy's stop for more than 10 s, and every size was computed from what the account had.

Options:
  --orders N    mirrored orders per store, 1 to ${ORDERS_MAX}   (${ORDERS_DEFAULT})
  --leads N     strategies of each family, 1 to ${LEADS_MAX}   (${LEADS_DEFAULT})
  --copiers N   copiers of each strategy, 2 to ${COPIERS_MAX}   (${COPIERS_DEFAULT})
  --store NAME  sqlite, postgres or both   (both; without PostgreSQL's programs, sqlite alone)
  --seed N      what is drawn, 0 to ${SEED_MAX}   (a random one, which is printed)
  --kill-every N  seconds between two kills on average, 1 to ${KILL_SECONDS_MAX}   (${KILL_SECONDS_DEFAULT})
  --no-kills    nothing is killed
  --no-cuts     the way to the venue is left alone
  --no-exchange the venue is another gateway, at the prices of the strategies
  --hide-max N  seconds for which an order is hidden at most, 1 to ${HIDE_SECONDS_MAX}   (${HIDE_SECONDS_DEFAULT})
  --plant NAME  runs a copy of the program with a fault in it, which has to be found:
                ${Object.keys(PLANTS).join(", ")}
  --json        the report as JSON
  --help        this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something was found, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, {
    orders: "string",
    leads: "string",
    copiers: "string",
    store: "string",
    seed: "string",
    plant: "string",
    "kill-every": "string",
    "no-kills": "boolean",
    "no-cuts": "boolean",
    "no-exchange": "boolean",
    "hide-max": "string",
    json: "boolean",
  });
  if (values.help === true) return "help";
  const number = (
    flag: string,
    value: string | undefined,
    usual: number,
    bounds: readonly [number, number],
  ) => wholeNumber(flag, value ?? String(usual), { least: bounds[0], most: bounds[1] });
  return {
    orders: number("--orders", values.orders, ORDERS_DEFAULT, [1, ORDERS_MAX]),
    leads: number("--leads", values.leads, LEADS_DEFAULT, [1, LEADS_MAX]),
    copiers: number("--copiers", values.copiers, COPIERS_DEFAULT, [2, COPIERS_MAX]),
    seed: number("--seed", values.seed, randomInt(SEED_MAX), [0, SEED_MAX]),
    ...chosenStores(values.store),
    killEveryMs:
      values["no-kills"] === true
        ? null
        : MS_PER_SECOND *
          number("--kill-every", values["kill-every"], KILL_SECONDS_DEFAULT, [1, KILL_SECONDS_MAX]),
    cuts: values["no-cuts"] !== true,
    exchange: values["no-exchange"] !== true,
    hideMsMax:
      MS_PER_SECOND * number("--hide-max", values["hide-max"], HIDE_SECONDS_DEFAULT, [1, HIDE_SECONDS_MAX]),
    plant: plantOf(values.plant),
    isJson: values.json === true,
  };
}

function plantOf(name: string | undefined): PlantName | null {
  if (name === undefined) return null;
  if (!Object.hasOwn(PLANTS, name)) {
    throw new OptionError(`--plant is none of ${Object.keys(PLANTS).join(", ")}: ${JSON.stringify(name)}`);
  }
  return name as PlantName;
}
