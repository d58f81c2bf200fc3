// `lyrebird seed`: another strategy for a demo, with keys.
import { ConfigError } from "../config/config.ts";
import { openDataDirectory } from "../config/data-directory.ts";
import { feeTiersOf, profileOf } from "../config/strict-terms.ts";
import type { StrategyType } from "../domain/account.ts";
import { seedStrategies } from "../keys/seed.ts";
import { DEMO_EMAIL } from "../people/demo.ts";
import { type Command, closedAtEnd, configOf, OPTIONS_HINT, type Options } from "./command.ts";

export const SEED: Command = {
  name: "seed",
  operand: "",
  options: ["type", "profile", "latency", "queue", "fees", "discount"],
  purpose: "create a strategy of --type spot or futures, with its virtual balance and a key",
  details: `  --type spot|futures   what it trades; must be given
  --profile NAME        how its orders are filled: standard, whole at the best price
                        (the default), or strict, by what the exchange displayed and
                        traded
  --latency MS          of strict: how long an order takes to the exchange, 0 to 5000
                        (50); or drawn from a distribution with such a median, 90 % and
                        99 %: 50/120/400
  --queue NAME          of strict: what of canceled quantity was in front of an open
                        order: trades (none, the default), or power-1 to power-9
  --fees TIER           of strict: regular (the default), or vip1 to vip9; FEE_TIERS is
                        a file of their rates
  --discount NAME       of strict: none (the default), or bnb, the rates of those who
                        pay fees in BNB

Prints one line of JSON: {"strategyId","type","apiKey","apiSecret"}. The secret is shown
this once. It belongs to the demo's trader, who finds it in the dashboard.
With MASTER_KEY_FILE set it is refused: there owners make their strategies and keys in
the dashboard.`,
  run: seed,
};

async function seed(options: Options): Promise<void> {
  const type = strategyType(options.type);
  const config = configOf(options);
  const profile = profileOf(type, options, feeTiersOf(config.feeTiers));
  if (config.masterKeyFile !== null) {
    throw new ConfigError(
      "seed is for demo data directories: with MASTER_KEY_FILE set, strategies and keys are made by their owners in the dashboard",
    );
  }
  const { store, master } = await openDataDirectory(config.dataDir, null, config.databaseUrl);
  await using _closed = closedAtEnd(store);
  // Without the demo's trader it has no owner, until the next start makes that person, and shows the
  // password.
  const demo = await store.people.findPersonByEmail(DEMO_EMAIL);
  const terms = { ownerId: demo?.personId ?? null, profile };
  const [seeded] = await seedStrategies(store, master, [type], Date.now(), terms);
  process.stdout.write(`${JSON.stringify(seeded)}\n`);
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
