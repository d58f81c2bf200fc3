// The flags of `npm run screenshots`.
import { OptionError, readFlags } from "../support/program.ts";

export type Options = {
  /** Where the pictures of the documents go. */
  readonly directory: string;
  /** Every screen in every theme and size, instead of those of the documents. */
  readonly isAll: boolean;
  /** Only screens whose name has this in it. */
  readonly only: string | null;
};

export const HELP = `Usage: npm run screenshots [-- OPTIONS]

Starts a server with the simulated market, lets a demo trade through three days, and takes pictures of its dashboard in
Chromium. Without options it writes the pictures of the documents to docs/images.

  --all DIRECTORY   every screen, dark and light, at 1280 and at 390 pixels of width, to DIRECTORY
  --only TEXT       only the screens with this in their name
  --help            this text

CHROMIUM names the browser, if it is not installed where it usually is.
`;

/** Throws OptionError. */
export function readOptions(args: readonly string[], imageDirectory: string): Options | "help" {
  const { help, all, only } = readFlags(args, { all: "string", only: "string" });
  if (help === true) return "help";
  if (all === "") throw new OptionError("--all wants a directory");
  return { directory: all ?? imageDirectory, isAll: all !== undefined, only: only ?? null };
}
