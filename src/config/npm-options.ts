// Options that were typed without the "--" that makes npm pass them on. npm consumes those itself: `--port
// 8086` arrives as the bare value, `--port=8086` only as an environment variable. Starting without them could
// serve the wrong data.
// Known limit: the same name in a user's .npmrc makes the same variable. npm has no option of these names, so
// that this is rare, and giving the option after the "--" solves it.

/** Where options belong. */
export const OPTIONS_COME_AFTER = 'options come after "--", as in "npm start -- --port 8086"';

/** By script, its options that take a value and say where things are. npm has none of these names. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  start: ["port", "host", "data", "market", "role"],
  lyrebird: ["data"],
};

/**
 * The first option that npm has kept of what was typed after its script, as it was typed; null if there is
 * none.
 */
export function optionKeptByNpm(args: readonly string[], env: NodeJS.ProcessEnv): string | null {
  for (const option of OPTIONS[env.npm_lifecycle_event ?? ""] ?? []) {
    const value = env[`npm_config_${option}`];
    const isGiven = args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));
    if (value !== undefined && value !== "" && !isGiven) return `--${option}=${value}`;
  }
  return null;
}
