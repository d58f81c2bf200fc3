// Options that were typed without the "--" that makes npm pass them on. npm keeps those to itself: `--port 8086` arrives as
// the bare value, `--port=8086` only as a variable of the environment. Serving as if nothing had been said could serve the
// wrong data.
//
// Knowingly wrong: the same name in somebody's .npmrc makes the same variable. npm knows no option of these names, so that
// this is rare, and giving the option after the "--" settles it.

/** Where options belong. */
export const OPTIONS_COME_AFTER = 'options come after "--", as in "npm start -- --port 8086"';

/** By script, its options that take a value and say where things are. npm has none of these names. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  start: ["port", "host", "data", "market"],
  lyrebird: ["data"],
};

/** The first option that npm has kept of what was typed after its script, as it was typed; null if there is none. */
export function optionKeptByNpm(args: readonly string[], env: NodeJS.ProcessEnv): string | null {
  for (const option of OPTIONS[env.npm_lifecycle_event ?? ""] ?? []) {
    const value = env[`npm_config_${option}`];
    const isGiven = args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));
    if (value !== undefined && value !== "" && !isGiven) return `--${option}=${value}`;
  }
  return null;
}
