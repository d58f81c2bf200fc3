// Three days of a demo's life within a minute: the server is started again and again, each time some hours
// later than before, and trades a little. So curves and charts have something to show; the prices are those
// that the simulated market had at that time.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { priced } from "../support/prices.ts";
import { newDirectory, startGateway } from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { demoKeysIn } from "./greeting.ts";

const HOUR_MS = 3_600_000;
const CLOCK = pathToFileURL(join(import.meta.dirname, "shifted-clock.ts")).href;

/** How long ago the demo trades, in hours: now and then at first, more often on the last day. */
const HOURS_AGO = [72, 60, 48, 36, 24, 21, 18, 15, 12, 10, 8, 6, 4, 3, 2, 1] as const;

/** What each visit to the past trades: spot BTC and ETH for USDT, and contracts. */
const SPOT = [
  { symbol: "BTCUSDT", side: "BUY", quantity: "0.0005" },
  { symbol: "ETHUSDT", side: "BUY", quantity: "0.01" },
  { symbol: "BTCUSDT", side: "SELL", quantity: "0.0004" },
  { symbol: "ETHUSDT", side: "SELL", quantity: "0.009" },
] as const;
const FUTURES = [
  { side: "BUY", quantity: "0.006" },
  { side: "SELL", quantity: "0.003" },
  { side: "BUY", quantity: "0.004" },
  { side: "SELL", quantity: "0.007" },
] as const;

export type Past = {
  readonly dataDir: string;
  /** The output of the server's first start, which is never repeated. */
  readonly greeting: string;
};

/** `say` receives the progress. */
export async function livedThrough(say: (text: string) => void): Promise<Past> {
  const dataDir = newDirectory();
  let greeting = "";
  for (const [visit, hoursAgo] of HOURS_AGO.entries()) {
    const shiftMs = hoursAgo * HOUR_MS;
    const gateway = await startGateway({
      dataDir,
      env: { SHIFT_MS: String(shiftMs), NODE_OPTIONS: `--import ${CLOCK}` },
    });
    try {
      if (visit === 0) greeting = gateway.output();
      await trade(gateway.url, greeting, { visit, shiftMs });
    } finally {
      await gateway.stop();
    }
    say(`traded ${hoursAgo} h before now`);
  }
  return { dataDir, greeting };
}

type Visit = { readonly visit: number; readonly shiftMs: number };

/** One order of each strategy. What the account does not suffice for is refused, as in life. */
async function trade(url: string, greeting: string, { visit, shiftMs }: Visit): Promise<void> {
  const [spot, futures] = demoKeysIn(greeting);
  if (spot === undefined || futures === undefined) throw new Error(`no demo keys in: ${greeting}`);
  const spotOrder = SPOT[visit % SPOT.length] ?? SPOT[0];
  const futuresOrder = FUTURES[visit % FUTURES.length] ?? FUTURES[0];
  const post = (key: Parameters<typeof signed>[1], path: string, values: Record<string, string | number>) =>
    priced(() => signed(url, key, "POST", path, { ...values, timestamp: Date.now() - shiftMs }));
  const market = { symbol: "BTCUSDT", type: "MARKET" };
  const answers = [
    await post(futures, "/fapi/v1/leverage", { symbol: "BTCUSDT", leverage: 5 }),
    await post(spot, "/api/v3/order", { ...market, ...spotOrder }),
    await post(futures, "/fapi/v1/order", { ...market, ...futuresOrder }),
  ];
  for (const { status, body } of answers) {
    if (status >= 500) throw new Error(`no trade in the past: ${JSON.stringify(body)}`);
  }
  // A request makes the gateway subscribe to the prices.
  await send(url, "GET", "/api/v3/ticker/price?symbol=BTCUSDT");
}
