// The output of a server when it listens: its address, market and data, the demo's sign-in and keys, and the
// next commands. Every line but a path and a name that the operator chose fits 100 columns.
import { resolve } from "node:path";
import { type Config, DATA_DIR_DEFAULT } from "./config/config.ts";
import { databaseName } from "./config/shared-database.ts";
import type { StrategyType } from "./domain/account.ts";
import type { SeededStrategy } from "./keys/seed.ts";
import { DEMO_EMAIL } from "./people/demo.ts";
import type { Service } from "./service.ts";

const DEMOS: { readonly [T in StrategyType]: Record<"title" | "client" | "order", string> } = {
  SPOT: {
    title: "Spot, 200 USDT",
    client: "binance",
    order: '"BTC/USDT", "market", "buy", 0.001',
  },
  FUTURES: {
    title: "Futures (USDT perpetuals), 1,000 USDT",
    client: "binanceusdm",
    order: '"BTC/USDT:USDT", "market", "buy", 0.002',
  },
};

/** How the operator's commands are called. */
const CALL = "npm run -s lyrebird --";

/** The lines for standard output. */
export function greeting(
  {
    url,
    firstStrategies,
    demoPassword,
    triggerCounts,
    marketContents,
  }: Pick<Service, "url" | "firstStrategies" | "demoPassword" | "triggerCounts" | "marketContents">,
  config: Config,
): string {
  const facts = [
    ["Market", marketText(config.market)],
    ["Data", config.databaseUrl === null ? resolve(config.dataDir) : databaseName(config.databaseUrl)],
    ["Dashboard", url],
    ["API docs", `${url}/docs (every route, and the streams)`],
    ...triggerFacts(triggerCounts),
  ];
  const lines = [
    `Lyrebird listens on ${url}`,
    "",
    ...facts.map(([name = "", text]) => `  ${name.padEnd(9)}  ${text}`),
    "",
  ];
  if (marketContents.length > 0) lines.push(...marketContents, "");
  if (demoPassword !== null) {
    lines.push(
      "The demo trader's sign-in to the dashboard. The password is shown only this once:",
      "",
      `  e-mail    ${DEMO_EMAIL}`,
      `  password  ${demoPassword}`,
      "",
    );
  }
  if (firstStrategies.length > 0) {
    lines.push(
      "Demo strategies, each with a script that trades on it. The secrets are shown only this once.",
      "In a folder of its own: npm install ccxt; save a script as first-trade.mjs; node first-trade.mjs",
      "",
      ...firstStrategies.flatMap((strategy) => introduction(strategy, url)),
    );
  }
  lines.push("Next, in another terminal:", "", ...nextSteps(config));
  return lines.map((line) => `${line}\n`).join("");
}

function triggerFacts(triggerCounts: Service["triggerCounts"]): [string, string][] {
  const watched = (["orders", "legs", "positions"] as const).flatMap((kind) => {
    const count = triggerCounts.reduce((sum, counts) => sum + counts[kind], 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? kind.slice(0, -1) : kind}`];
  });
  return watched.length === 0 ? [] : [["Watching", watched.join(", ")]];
}

/**
 * A demo strategy: its keys, and a script for ccxt that trades on it; only the addresses in it are
 * Lyrebird's.
 */
function introduction({ type, apiKey, apiSecret }: SeededStrategy, url: string): string[] {
  const { title, client, order } = DEMOS[type];
  return [
    title,
    "",
    `  apiKey  ${apiKey}`,
    `  secret  ${apiSecret}`,
    "",
    '  import ccxt from "ccxt";',
    `  const exchange = new ccxt.${client}({`,
    `    apiKey: "${apiKey}",`,
    `    secret: "${apiSecret}",`,
    "  });",
    "  for (const [name, address] of Object.entries(exchange.urls.api))",
    `    exchange.urls.api[name] = address.replace(/^https?:..[^/]+/, "${url}");`,
    `  console.log(await exchange.createOrder(${order}));`,
    "",
  ];
}

function nextSteps(config: Config): string[] {
  const there = dataOption(config);
  const database = config.databaseUrl === null ? "" : ", with the same DATABASE_URL";
  const operator = [
    `  An operator, who approves identity forms${database}:`,
    `    ${CALL} operator create --email you@example.com${there}`,
  ];
  // With a master key of one's own the command would refuse.
  if (config.masterKeyFile !== null) return operator;
  return [
    `  Another strategy with keys, spot or futures${database}:`,
    `    ${CALL} seed --type spot${there}`,
    ...operator,
  ];
}

/** Which of the three markets, as its operator chose it; of another host's addresses the name alone. */
function marketText(market: Config["market"]): string {
  switch (market.kind) {
    case "sim":
      return `simulated: made-up prices, seed ${market.seed} (--market live: Binance's public data)`;
    case "live":
      return market.upstream === null
        ? "live: Binance's public data"
        : `live: Binance's protocol at ${new URL(market.upstream.spotRestUrl).host}`;
    case "tape":
      return `tape: ${market.file}${market.speed === 1 ? "" : `, ${market.speed} times as fast`}`;
  }
}

/** The settings of a command, as a shell reads them, that find the same data. */
function dataOption({ dataDir }: Config): string {
  if (dataDir === DATA_DIR_DEFAULT) return "";
  const isPlain = /^[\w./:@%+-]+$/.test(dataDir);
  return ` --data ${isPlain ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`}`;
}
