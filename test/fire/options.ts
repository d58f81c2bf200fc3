// The flags of `npm run fire`.
import { randomInt } from "node:crypto";
import { type ChosenStores, chosenStores } from "../crash/stores.ts";
import { readFlags, wholeNumber } from "../support/program.ts";

export type Options = ChosenStores & {
  readonly signals: number;
  readonly seed: number;
  /** Whether the server is killed, and whether connections are cut. */
  readonly kills: boolean;
  readonly cuts: boolean;
  /** Whether every order can be taken and no bot gives up, so that there are as many executions as signals. */
  readonly isPlain: boolean;
  readonly isJson: boolean;
};

const SIGNALS_DEFAULT = 10_000;
const SIGNALS_MAX = 1_000_000;
const SEED_MAX = 2 ** 31 - 1;

export const HELP = `Usage: npm run fire -- [options]

Sends signals to a gateway of its own over connections that are cut before, within and after a request, sends many of them
again under the same key, also twice at once, and kills the gateway all the while: kill -9, and where the store is a server
of its own also of that. In the end every signal is terminal, has one order if it was executed and none if it was not, and
all balances are what the trades make them.

Options:
  --signals N   signals per store, 1 to ${SIGNALS_MAX}   (${SIGNALS_DEFAULT})
  --store NAME  sqlite, postgres or both   (both; without PostgreSQL's programs, sqlite alone)
  --seed N      what is drawn, 0 to ${SEED_MAX}   (a random one, which is printed)
  --plain       only orders that can be taken, and no bot gives up: exactly as many executions as signals
  --no-kills    nothing is killed
  --no-cuts     connections are left alone
  --json        the report as JSON
  --help        this text

Progress goes to standard error, the report to standard output. Exits 0, 1 if something was found, 2 on a bad flag.
`;

/** Reads the flags, or "help" if that is what was asked for. Throws OptionError. */
export function readOptions(args: readonly string[]): Options | "help" {
  const values = readFlags(args, {
    signals: "string",
    store: "string",
    seed: "string",
    plain: "boolean",
    "no-kills": "boolean",
    "no-cuts": "boolean",
    json: "boolean",
  });
  if (values.help === true) return "help";
  const signals = values.signals ?? String(SIGNALS_DEFAULT);
  return {
    signals: wholeNumber("--signals", signals, { least: 1, most: SIGNALS_MAX }),
    seed: wholeNumber("--seed", values.seed ?? String(randomInt(SEED_MAX)), { least: 0, most: SEED_MAX }),
    ...chosenStores(values.store),
    kills: values["no-kills"] !== true,
    cuts: values["no-cuts"] !== true,
    isPlain: values.plain === true,
    isJson: values.json === true,
  };
}
