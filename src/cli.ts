// `lyrebird`: the operator's commands. They open the database beside a running server, and what they answer
// goes to standard output alone. Whatever they do to keys is audited by the store.
import { parseArgs } from "node:util";
import { AUDIT } from "./cli/audit.ts";
import { BACKUP } from "./cli/backup.ts";
import { CALL, type Command, OPTIONS, OPTIONS_HINT, type Options } from "./cli/command.ts";
import { KEYS_LIST, KEYS_REVOKE } from "./cli/keys.ts";
import { KEYS_REVOKE_ALL, MASTER_KEY_ROTATE, MASTER_KEY_SHOW } from "./cli/master-key.ts";
import { OPERATOR_CREATE, OPERATOR_REMOVE } from "./cli/operator.ts";
import { PERSON_COMMANDS } from "./cli/person.ts";
import { PRUNE } from "./cli/prune.ts";
import { RECEIPT_VERIFY } from "./cli/receipt.ts";
import { RESTORE } from "./cli/restore.ts";
import { SEED } from "./cli/seed.ts";
import { ConfigError, VERSION } from "./config/config.ts";
import { optionKeptByNpm } from "./config/npm-options.ts";

const COMMANDS = [
  SEED,
  KEYS_LIST,
  KEYS_REVOKE,
  KEYS_REVOKE_ALL,
  MASTER_KEY_SHOW,
  MASTER_KEY_ROTATE,
  OPERATOR_CREATE,
  OPERATOR_REMOVE,
  ...PERSON_COMMANDS,
  AUDIT,
  BACKUP,
  RESTORE,
  PRUNE,
  RECEIPT_VERIFY,
];

const COMMON_OPTIONS = `  --data DIR   the data directory   DATA_DIR   (./data)
               DATABASE_URL in the environment names a PostgreSQL database instead of the one in it
  --version    the version of Lyrebird
  --help       this text
`;
const HELP_COLUMNS = 110;
const EXIT_USAGE = 2;

// Files are written for their owner alone.
process.umask(0o077);

try {
  await run(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof ConfigError;
  process.stderr.write(`lyrebird: ${error instanceof Error ? error.message : String(error)}\n`);
  if (isUsage) process.stderr.write(`Try "${CALL} --help".\n`);
  process.exitCode = isUsage ? EXIT_USAGE : 1;
}

async function run(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const { help = false, version = false, ...options } = values;
  const asksForHelp = help || positionals[0] === "help";
  const words = positionals[0] === "help" ? positionals.slice(1) : positionals;
  const command = COMMANDS.find(({ name }) => `${words.join(" ")} `.startsWith(`${name} `));
  if (asksForHelp) {
    process.stdout.write(command === undefined ? helpOfAll() : helpOf(command));
    return;
  }
  if (version) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  if (command === undefined) throw new ConfigError(noCommand(words));
  // Only what the command takes: npm has other uses for the rest, such as `email` in an .npmrc.
  const script = { name: "lyrebird", options: ["data", ...command.options] };
  const kept = optionKeptByNpm(script, args, process.env);
  if (kept !== null) throw new ConfigError(`npm has kept "${kept}" to itself: ${OPTIONS_HINT}`);
  const operands = words.slice(command.name.split(" ").length);
  if (command.operand === "" && operands.length > 0) {
    throw new ConfigError(`too many words: ${operands.join(" ")}; ${OPTIONS_HINT}`);
  }
  const stranger = Object.keys(options).find(
    (name) => name !== "data" && !command.options.includes(name as keyof Options),
  );
  if (stranger !== undefined) throw new ConfigError(`${command.name} has no option --${stranger}`);
  await command.run(options, operands);
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { ...OPTIONS, version: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}

/** The message for an unknown command, with those that begin with the same word. */
function noCommand(words: readonly string[]): string {
  const [first] = words;
  if (first === undefined) return "which command?";
  const similar = COMMANDS.map(({ name }) => name).filter((name) => name.startsWith(`${first} `));
  const offer = similar.length === 0 ? "" : `: there are ${similar.join(", ")}`;
  return `there is no command ${JSON.stringify(words.join(" "))}${offer}`;
}

function helpOfAll(): string {
  const calls = COMMANDS.map(callOf);
  const width = Math.max(...calls.map(({ length }) => length));
  const lines = COMMANDS.map(({ purpose }, index) => wrapped(`  ${calls[index]?.padEnd(width)}   `, purpose));
  return `Usage: ${CALL} <command> [options]

Commands ("<command> --help" says more):
${lines.join("")}
Options:
${COMMON_OPTIONS}`;
}

function helpOf(command: Command): string {
  return `Usage: ${CALL} ${callOf(command)} [options]

${wrapped("", `${command.purpose[0]?.toUpperCase()}${command.purpose.slice(1)}.`)}
${command.details}

Options:
${COMMON_OPTIONS}`;
}

/** A text behind a label, in lines of at most HELP_COLUMNS; those that follow are indented to the first. */
function wrapped(label: string, text: string): string {
  const lines = [label];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    const isFirst = line.length === label.length;
    if (isFirst || `${line} ${word}`.length <= HELP_COLUMNS) {
      lines[lines.length - 1] = isFirst ? `${line}${word}` : `${line} ${word}`;
    } else lines.push(`${" ".repeat(label.length)}${word}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

function callOf({ name, operand }: Command): string {
  return operand === "" ? name : `${name} ${operand}`;
}
