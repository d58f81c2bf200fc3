// Options that were typed without the "--" that makes npm pass them on. npm consumes those itself: `--port
// 8086` arrives as the bare value, `--port=8086` and a flag such as `--verify` only as environment variables.
// Starting without them could serve the wrong data, and a command would do something else.
// Known limit: the same name in a user's .npmrc makes the same variable. Of these names npm has only `yes`
// and `json`, so that this is rare, and giving the option after the "--" solves it.

/** Where options belong. */
export const OPTIONS_COME_AFTER = 'options come after "--", as in "npm start -- --port 8086"';

/** A script of this package, and its options that npm may keep. */
type NpmScript = { readonly name: string; readonly options: readonly string[] };

/** The server's, with its options that take a value. */
export const START: NpmScript = { name: "start", options: ["port", "host", "data", "market", "role"] };

/**
 * The first option that npm has kept of what was typed after its script, with its value, which is true if it
 * has none; null if there is none.
 */
export function optionKeptByNpm(
  { name, options }: NpmScript,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): string | null {
  if (env.npm_lifecycle_event !== name) return null;
  for (const option of options) {
    // Empty for a flag of npm's own that was not typed.
    const value = env[`npm_config_${option.replaceAll("-", "_")}`];
    const isGiven = args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));
    if (value !== undefined && value !== "" && !isGiven) return `--${option}=${value}`;
  }
  return null;
}
