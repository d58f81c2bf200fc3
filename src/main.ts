// `npm start`: reads the configuration, starts the service, says how to trade on it, and ends it when told to.
import { setFlagsFromString } from "node:v8";
import pino from "pino";
import {
  type Config,
  ConfigError,
  DATA_DIR_DEFAULT,
  readServeConfig,
  SERVE_HELP,
  VERSION,
} from "./config.ts";
import { OPTIONS_COME_AFTER, optionKeptByNpm } from "./npm-options.ts";
import { type Service, ServiceError, startService } from "./service.ts";

/** A close that takes longer than this is abandoned: what was acknowledged is durable already. */
const CLOSE_MS_MAX = 4_000;
const EXIT_USAGE = 2;

const logStream = pino.destination(2);
// A log that cannot be written (its terminal is gone, its disk is full) ends, and the server goes on. Left to itself the
// stream would throw, and then try for ever to write what is left, at the exit too.
logStream.on("error", () => {
  logStream.write = () => true;
  logStream.flushSync = () => {};
});
const log = pino({ redact: ["apiSecret", "secret", "*.apiSecret", "*.secret"] }, logStream);
// What is written here is for its owner alone.
process.umask(0o077);
// While requests are few and the young heap is small, hardly any of them has ended when it is collected, and the engine
// concludes that requests live long: from then on it would put each of them among what is collected last.
setFlagsFromString("--no-allocation-site-pretenuring");

try {
  const args = process.argv.slice(2);
  const config = readServeConfig(args, process.env);
  if (config === "help") process.stdout.write(SERVE_HELP);
  else if (config === "version") process.stdout.write(`${VERSION}\n`);
  else {
    const kept = optionKeptByNpm(args, process.env);
    if (kept !== null) throw new ConfigError(`npm has kept "${kept}" to itself: ${OPTIONS_COME_AFTER}`);
    log.level = config.logLevel;
    const service = await startService(config, { log, onFatal: stopAtOnce });
    closeOnSignal(service);
    greet(service, config);
  }
} catch (error) {
  process.stderr.write(`lyrebird: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof ConfigError) process.stderr.write('Try "npm start -- --help".\n');
  else if (!(error instanceof ServiceError)) log.debug({ err: error }, "the start failed");
  process.exit(error instanceof ConfigError ? EXIT_USAGE : 1);
}

/** The store failed: whatever is under way has an unknown outcome, and the journal on disk is the truth. */
function stopAtOnce(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  log.fatal(
    { reason },
    "the store failed; stopping, so that nothing is answered that is not durable. All that was answered is stored; what was under way may have taken effect or not. Mend what the reason names (a full disk: free some space), then start again",
  );
  process.exit(1);
}

function closeOnSignal(service: Service): void {
  let isClosing = false;
  const close = async (signal: NodeJS.Signals) => {
    if (isClosing) return;
    isClosing = true;
    log.info({ signal }, "closing");
    setTimeout(() => {
      log.error("closing took too long");
      process.exit(1);
    }, CLOSE_MS_MAX).unref();
    await service.close();
    process.exit(0);
  };
  process.on("SIGTERM", close);
  process.on("SIGINT", close);
  // Without a certificate to read again the signal means what it always does: the terminal is gone.
  process.on("SIGHUP", service.renewCertificate ?? close);
}

function greet({ url, firstStrategies, restingOrders }: Service, config: Config): void {
  process.stdout.write(`Lyrebird listens on ${url}\n`);
  process.stdout.write(`Market: ${nameOf(config.market)}\n`);
  if (restingOrders > 0) {
    process.stdout.write(
      restingOrders === 1 ? "1 order is resting.\n" : `${restingOrders} orders are resting.\n`,
    );
  }
  const [strategy] = firstStrategies;
  if (strategy === undefined) {
    // With a master key of one's own the command would refuse.
    if (config.masterKeyFile === null) {
      const beside = config.databaseUrl === null ? "" : " (with the same DATABASE_URL)";
      process.stdout.write(
        `Another strategy, with keys: npm run -s lyrebird -- seed --type spot${dataOption(config)}${beside}\n`,
      );
    }
    return;
  }
  process.stdout.write(`
A demo strategy was made for you: ${strategy.type.toLowerCase()}, 200 USDT. Its keys are shown this once:

  apiKey  ${strategy.apiKey}
  secret  ${strategy.apiSecret}

Trade on it with ccxt, unmodified but for its addresses:

  import ccxt from "ccxt";
  const exchange = new ccxt.binance({ apiKey: "${strategy.apiKey}", secret: "${strategy.apiSecret}" });
  for (const api in exchange.urls.api) exchange.urls.api[api] = exchange.urls.api[api].replace(/^https?:..[^/]+/, "${url}");
  console.log(await exchange.createOrder("BTC/USDT", "market", "buy", 0.001));

`);
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

/** What a command needs, as a shell reads it, to find the same data. */
function dataOption({ dataDir }: Config): string {
  if (dataDir === DATA_DIR_DEFAULT) return "";
  const isPlain = /^[\w./:@%+-]+$/.test(dataDir);
  return ` --data ${isPlain ? dataDir : `'${dataDir.replaceAll("'", "'\\''")}'`}`;
}
