// `npm start`: reads the configuration, starts the service, says how to trade on it, and ends it when told to.
import pino from "pino";
import { ConfigError, readServeConfig, SERVE_HELP } from "./config.ts";
import { type Service, ServiceError, startService } from "./service.ts";

/** A close that takes longer than this is abandoned: what was acknowledged is durable already. */
const CLOSE_MS_MAX = 4_000;
const EXIT_USAGE = 2;

const log = pino({ redact: ["apiSecret", "secret", "*.apiSecret", "*.secret"] }, pino.destination(2));
// What is written here is for its owner alone.
process.umask(0o077);

try {
  const config = readServeConfig(process.argv.slice(2), process.env);
  if (config === "help") process.stdout.write(SERVE_HELP);
  else {
    log.level = config.logLevel;
    const service = await startService(config, { log, onFatal: stopAtOnce });
    closeOnSignal(service);
    // Without a certificate the signal means what it always does: the terminal is gone.
    if (service.renewCertificate !== null) process.on("SIGHUP", service.renewCertificate);
    greet(service);
  }
} catch (error) {
  process.stderr.write(`lyrebird: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof ConfigError) process.stderr.write('Try "npm start -- --help".\n');
  else if (!(error instanceof ServiceError)) log.debug({ err: error }, "the start failed");
  process.exit(error instanceof ConfigError ? EXIT_USAGE : 1);
}

/** The store failed: whatever is under way has an unknown outcome, and the journal on disk is the truth. */
function stopAtOnce(error: unknown): void {
  log.fatal({ err: error }, "the store failed; stopping, so that nothing is answered that is not durable");
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
}

function greet({ url, firstStrategies, restingOrders }: Service): void {
  process.stdout.write(`Lyrebird listens on ${url}\n`);
  if (restingOrders > 0) process.stdout.write(`${restingOrders} orders are resting.\n`);
  const [strategy] = firstStrategies;
  if (strategy === undefined) {
    process.stdout.write("Another strategy, with keys: npm run -s lyrebird -- seed --type spot\n");
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
