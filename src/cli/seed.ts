// `lyrebird seed`: another strategy for a demo, with keys.
import { ConfigError } from "../config.ts";
import { openDataDirectory } from "../data-directory.ts";
import type { StrategyType } from "../domain/account.ts";
import { seedStrategies } from "../identity/seed.ts";
import { type Command, configOf, OPTIONS_HINT, type Options } from "./command.ts";

export const SEED: Command = {
  name: "seed",
  operand: "",
  options: ["type"],
  purpose: "create a strategy of --type spot or futures, with its virtual balance and a key",
  details: `  --type spot|futures   what it trades; must be given

Prints one line of JSON: {"strategyId","type","apiKey","apiSecret"}. The secret is shown this once.
With MASTER_KEY_FILE set it is refused: this version cannot make keys there yet.`,
  run: seed,
};

async function seed(options: Options): Promise<number> {
  const type = strategyType(options.type);
  const config = configOf(options);
  if (config.masterKeyFile !== null) {
    throw new ConfigError(
      "seed is for demo data directories: with MASTER_KEY_FILE set, keys will be made by their owners in the dashboard, which this version does not have yet",
    );
  }
  const { store, master } = await openDataDirectory(config.dataDir, null, config.databaseUrl);
  try {
    const [seeded] = await seedStrategies(store, master, [type], Date.now());
    process.stdout.write(`${JSON.stringify(seeded)}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

function strategyType(text: string | undefined): StrategyType {
  if (text === "spot") return "SPOT";
  if (text === "futures") return "FUTURES";
  throw new ConfigError(
    text === undefined
      ? `--type spot or futures must be given; ${OPTIONS_HINT}`
      : `--type is spot or futures, not ${JSON.stringify(text)}`,
  );
}
