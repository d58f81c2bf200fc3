// What a server says when it listens: where, on which market, and how to trade on it.
import { type Config, DATA_DIR_DEFAULT } from "./config.ts";
import type { StrategyType } from "./domain/account.ts";
import type { SeededStrategy } from "./identity/seed.ts";
import { DEMO_EMAIL } from "./people/demo.ts";
import type { Service } from "./service.ts";

const DEMOS: { readonly [T in StrategyType]: Record<"title" | "client" | "order", string> } = {
  SPOT: {
    title: "Spot, 200 USDT, with ccxt:",
    client: "binance",
    order: '"BTC/USDT", "market", "buy", 0.001',
  },
  FUTURES: {
    title: "Futures (perpetual contracts), 1,000 USDT, with ccxt:",
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
    waiting,
  }: Pick<Service, "url" | "firstStrategies" | "demoPassword" | "waiting">,
  config: Config,
): string {
  const lines = [`Lyrebird listens on ${url}`, `Market: ${nameOf(config.market)}`];
  const watched = (["orders", "legs", "positions"] as const).flatMap((kind) => {
    const count = waiting.reduce((sum, counts) => sum + counts[kind], 0);
    return count === 0 ? [] : [`${count} ${count === 1 ? kind.slice(0, -1) : kind}`];
  });
  if (watched.length > 0) lines.push(`Watching ${watched.join(", ")}.`);
  lines.push(`Signals, streams and their documents: ${url}/docs`, `Dashboard: ${url}`);
  if (demoPassword !== null) {
    lines.push(
      "Sign in there as the demo's trader, whose password is shown this once:",
      "",
      `  e-mail    ${DEMO_EMAIL}`,
      `  password  ${demoPassword}`,
      "",
    );
  }
  lines.push(
    `An operator, who decides about identity forms: ${CALL} operator create --email you@example.com${dataOption(config)}${besideDatabase(config)}`,
  );
  if (firstStrategies.length > 0) {
    lines.push("", "Demo strategies were made for you. Their keys are shown this once.");
    lines.push(...firstStrategies.map((strategy) => introduction(strategy, url)));
  } else if (config.masterKeyFile === null) {
    // With a master key of one's own the command would refuse.
    lines.push(
      `Another strategy, with keys: ${CALL} seed --type spot${dataOption(config)}${besideDatabase(config)}`,
      "(or --type futures)",
    );
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** A demo strategy: its keys, and the lines of ccxt that trade on it, unmodified but for its addresses. */
function introduction({ type, apiKey, apiSecret }: SeededStrategy, url: string): string {
  const { title, client, order } = DEMOS[type];
  return `
${title}

  apiKey  ${apiKey}
  secret  ${apiSecret}

  import ccxt from "ccxt";
  const exchange = new ccxt.${client}({ apiKey: "${apiKey}", secret: "${apiSecret}" });
  for (const api in exchange.urls.api) exchange.urls.api[api] = exchange.urls.api[api].replace(/^https?:..[^/]+/, "${url}");
  console.log(await exchange.createOrder(${order}));`;
}

/** The market as its operator chose it; of another exchange's addresses the host alone. */
function nameOf(market: Config["market"]): string {
  switch (market.kind) {
    case "sim":
      return `simulated exchange (seed ${market.seed})`;
    case "live":
      return market.upstream === null
        ? "the reference exchange's public data"
        : `the reference exchange's protocol at ${new URL(market.upstream.spotRestUrl).host}`;
    case "tape":
      return `recording ${market.file}${market.speed === 1 ? "" : `, ${market.speed} times as fast`}`;
  }
}

/** What a shell has to know besides, to find the same database. */
function besideDatabase({ databaseUrl }: Config): string {
  return databaseUrl === null ? "" : " (with the same DATABASE_URL)";
}

/** What a command needs, as a shell reads it, to find the same data. */
function dataOption({ dataDir }: Config): string {
  if (dataDir === DATA_DIR_DEFAULT) return "";
  const isPlain = /^[\w./:@%+-]+$/.test(dataDir);
  return ` --data ${isPlain ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`}`;
}
