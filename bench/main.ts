// `npm run bench`: the real program against bare ceilings, measured on this machine in this minute.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DECISION_MIX } from "./decisions.ts";
import { inProcessFigures, startUpFigure, wireFigures } from "./figures.ts";
import type { InProcess } from "./in-process.ts";
import { describeMachine } from "./machine.ts";
import { loadNotes } from "./notes.ts";
import { HELP, OptionError, type Options, readOptions } from "./options.ts";
import { runToEnd, startEcho, startGateway, startSender } from "./processes.ts";
import { countCores } from "./processor-time.ts";
import { MeasurementFailed, measureRounds } from "./rounds.ts";
import { measureStartUp } from "./start-up.ts";
import { countOrders, prepareStrategies, readTrips, STRATEGIES } from "./strategies.ts";
import { type Report, renderTable } from "./table.ts";

const EXIT_USAGE = 2;
/** How long the idle gateway is watched, ms. */
const REST_MS = 2_000;

const directory = mkdtempSync(join(tmpdir(), "lyrebird-bench-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

try {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") process.stdout.write(HELP);
  else {
    const report = await measure(options);
    process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : renderTable(report));
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  if (error instanceof OptionError) process.stderr.write('Try "npm run bench -- --help".\n');
  process.exit(error instanceof OptionError ? EXIT_USAGE : 1);
}

async function measure(options: Options): Promise<Report> {
  const machine = describeMachine(directory);
  const serverCore = machine.pinning?.server ?? null;
  const senderCore = machine.pinning?.sender ?? null;

  say("decisions and ticks");
  const inProcess = await runToEnd<InProcess>("bench/in-process.ts", serverCore);
  say("start-up");
  const startUp = await measureStartUp(() => mkdtempSync(join(directory, "start-")), serverCore);

  say(`preparing ${STRATEGIES} strategies`);
  const dataDir = join(directory, "data");
  const credentials = await prepareStrategies(dataDir);
  const gateway = await startGateway(dataDir, serverCore);
  const trips = await readTrips(gateway.url);
  const echo = await startEcho(credentials, serverCore);
  const sender = await startSender({ credentials, trips }, senderCore);
  const { rounds, ordersAcknowledged } = await measureRounds({ gateway, echo, sender }, options, say);
  const coresUsed = countCores(gateway.pid);
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const atRest = coresUsed();
  sender.stop();
  echo.stop();
  await gateway.stop();

  say("counting the orders in the database");
  const ordersKept = countOrders(dataDir);
  if (ordersKept !== ordersAcknowledged) {
    throw new MeasurementFailed(`${ordersAcknowledged} orders were acknowledged but ${ordersKept} were kept`);
  }
  return {
    machine,
    options: { seconds: options.seconds, rounds: options.rounds },
    figures: [...wireFigures(rounds), ...inProcessFigures(inProcess), startUpFigure(startUp)],
    notes: [
      `every answer was 200 and complete; ${ordersAcknowledged} orders acknowledged, as many in the database`,
      ...(atRest === null
        ? []
        : [
            `the gateway without load, its simulated market included, uses ${(atRest * 100).toFixed(1)} % of a core`,
          ]),
      `decisions, ${DECISION_MIX}`,
      ...loadNotes(rounds),
    ],
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
