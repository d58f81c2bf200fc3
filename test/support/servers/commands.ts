// The project's programs, run to their end as an operator runs them.
import { newDirectory, runNode } from "./gateway.ts";

/** Runs a server that is expected to end by itself. */
export const serve = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode(["src/main.ts", "--port", "0", "--data", newDirectory(), ...args], env);

/** Runs a command of `lyrebird`. */
export const lyrebird = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode(["src/cli.ts", ...args], env);

/** What no message for an operator holds. */
export const STACK = /\n\s+at /;
