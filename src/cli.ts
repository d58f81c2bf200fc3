// `lyrebird`: the operator's commands. They open the data directory beside a running server, and what they answer goes to
// standard output alone.
import { parseArgs } from "node:util";
import { ConfigError, readConfig } from "./config.ts";
import { openDataDirectory } from "./data-directory.ts";
import type { StrategyType } from "./domain/account.ts";
import { seedStrategies } from "./identity/seed.ts";

const HELP = `Usage: npm run -s lyrebird -- <command> [options]

Commands:
  seed --type spot|futures   create a strategy with its virtual balance and a key; prints one line of JSON:
                             {"strategyId","type","apiKey","apiSecret"} (the secret is shown this once)

Options:
  --data DIR   the data directory   DATA_DIR   (./data)
  --help       this text
`;

// What is written here is for its owner alone.
process.umask(0o077);

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof ConfigError;
  process.stderr.write(`lyrebird: ${error instanceof Error ? error.message : String(error)}\n`);
  if (isUsage) process.stderr.write('Try "npm run -s lyrebird -- --help".\n');
  process.exitCode = isUsage ? 2 : 1;
}

async function run(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args);
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const [command, ...others] = positionals;
  if (others.length > 0) throw new ConfigError(`too many words: ${others.join(" ")}`);
  if (command === "seed") return await seed(values);
  throw new ConfigError(
    command === undefined ? "which command?" : `there is no command ${JSON.stringify(command)}`,
  );
}

async function seed(values: { type?: string; data?: string }): Promise<number> {
  const type = strategyType(values.type);
  const config = readConfig(values.data === undefined ? {} : { DATA_DIR: values.data }, process.env);
  if (config.masterKeyFile !== null) {
    throw new ConfigError(
      "seed is for demo data directories: with MASTER_KEY_FILE set, keys will be made by their owners in the dashboard, which this version does not have yet",
    );
  }
  const { store, master } = await openDataDirectory(config.dataDir, null);
  try {
    const [seeded] = await seedStrategies(store, master, [type], Date.now());
    process.stdout.write(`${JSON.stringify(seeded)}\n`);
    if (type === "FUTURES") process.stderr.write("lyrebird: this version has no futures trading yet\n");
    return 0;
  } finally {
    await store.close();
  }
}

function strategyType(text: string | undefined): StrategyType {
  if (text === "spot") return "SPOT";
  if (text === "futures") return "FUTURES";
  throw new ConfigError(
    `--type is spot or futures${text === undefined ? "" : `, not ${JSON.stringify(text)}`}`,
  );
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        type: { type: "string" },
        data: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
