// `npm start`: reads the configuration, starts the service, prints how to trade on it, and ends it on a
// signal.
import { setFlagsFromString } from "node:v8";
import { type Config, ConfigError, readServeConfig, SERVE_HELP, VERSION } from "./config/config.ts";
import { createLog } from "./config/logging.ts";
import { OPTIONS_COME_AFTER, optionKeptByNpm, START } from "./config/npm-options.ts";
import { startCopierService } from "./copier-service.ts";
import { greeting } from "./greeting.ts";
import { type Service, ServiceError, startService } from "./service.ts";

/**
 * A close that takes longer than this is abandoned, ms: what was acknowledged is durable already. A container
 * has 10 s.
 */
const CLOSE_MS_MAX = 8_000;
const EXIT_USAGE = 2;

/** A person reads along: readable lines, and the greeting is the last of the start. */
const isOnTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true;
const log = createLog({ isReadable: isOnTerminal });
// Files are written for their owner alone.
process.umask(0o077);
// While requests are few and the young heap is small, hardly any of them has ended when it is collected, and
// the engine concludes that requests live long: from then on it would put each of them among what is
// collected last.
setFlagsFromString("--no-allocation-site-pretenuring");

try {
  const args = process.argv.slice(2);
  const config = readServeConfig(args, process.env);
  if (config === "help") process.stdout.write(SERVE_HELP);
  else if (config === "version") process.stdout.write(`${VERSION}\n`);
  else {
    const kept = optionKeptByNpm(START, args, process.env);
    if (kept !== null) throw new ConfigError(`npm has kept "${kept}" to itself: ${OPTIONS_COME_AFTER}`);
    log.level = isOnTerminal && config.logLevel === "info" ? "warn" : config.logLevel;
    await (config.role === "copier" ? copy(config) : serve(config));
    log.level = config.logLevel;
  }
} catch (error) {
  process.stderr.write(`lyrebird: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof ConfigError) process.stderr.write('Try "npm start -- --help".\n');
  else if (!(error instanceof ServiceError)) log.debug({ err: error }, "the start failed");
  process.exit(error instanceof ConfigError ? EXIT_USAGE : 1);
}

/** The store failed: work in flight has an unknown outcome, and the journal on disk is the truth. */
function stopAtOnce(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  log.fatal(
    { reason },
    "the store failed; stopping, so that nothing is answered that is not durable. All that was answered is stored; what was in flight may have taken effect or not. Correct the cause that the reason names (a full disk: free some space), then start again",
  );
  process.exit(1);
}

/**
 * Starts the service and prints the greeting. The service has secrets that are shown once: nothing that lasts
 * may reference it, neither this module's own names nor the signal handlers.
 */
async function serve(config: Config): Promise<void> {
  const service = await startService(config, { log, onFatal: stopAtOnce });
  closeOnSignal(service);
  process.stdout.write(greeting(service, config));
}

/** Starts a process that only copies, and prints that. */
async function copy(config: Config): Promise<void> {
  const service = await startCopierService(config, { log, onFatal: stopAtOnce });
  closeOnSignal({ close: service.close, drain: async () => {}, renewCertificate: null });
  process.stdout.write(`Lyrebird copies as ${service.name}, on ${service.database}\n`);
}

function closeOnSignal({
  close: closeService,
  drain,
  renewCertificate,
}: Pick<Service, "close" | "drain" | "renewCertificate">): void {
  let isClosing = false;
  const close = async (signal: NodeJS.Signals) => {
    if (isClosing) return;
    isClosing = true;
    log.info({ signal }, "closing");
    await drain();
    setTimeout(() => {
      log.error("closing took too long");
      process.exit(1);
    }, CLOSE_MS_MAX).unref();
    await closeService();
    process.exit(0);
  };
  process.on("SIGTERM", close);
  process.on("SIGINT", close);
  // Without a certificate to read again the signal means what it always does: the terminal is gone.
  process.on("SIGHUP", renewCertificate ?? close);
}
