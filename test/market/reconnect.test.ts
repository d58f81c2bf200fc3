// The market goes down and comes back, over real connections under manual time: how soon orders are taken
// again, and how soon those that the market triggered in the gap are filled.
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { writeTape } from "../support/written-tape.ts";
import { cleanFixtures, eventual, openLife, openManualTape, TURN_MS } from "./fixture.ts";
import { SYMBOL } from "./recorded.ts";

const OUTAGE_MS = 20_000;
/** The longest delay between two attempts to connect, early in an outage. */
const BACK_WITHIN_MS = 3_000;
/**
 * More than the two minutes that are replayed trade by trade: both edges and the minutes between are
 * requested.
 */
const SILENCE_MS = 200_000;
/**
 * The tape sends every second, REST is requested a second after that, and a second is for its answers;
 * messages in flight while the clock advances in short steps take some of them more. A pause between two
 * pages of a contract's trades would take two seconds more.
 */
const FILLED_WITHIN_MS = 4_500;
/**
 * So short that what is on its way arrives in hardly any time of the test's own. The test's time is no faster
 * than the machine's: requests over real connections would be given up otherwise where it is busy.
 */
const SHORT_TURN_MS = 10;
const PATHS = { SPOT: "/api/v3/order", FUTURES: "/fapi/v1/order" } as const;

const QUANTITIES = { SPOT: "0.0005", FUTURES: "0.002" } as const;

cleanFixtures();

test.each(["SPOT", "FUTURES"] as const)(
  "after an outage a %s market order is taken again within three seconds of the market's return",
  async (type) => {
    const file = writeTape({ types: ["SPOT", "FUTURES"], seconds: 60, hasMarkPrices: true });
    const tape = await openManualTape({ file });
    const life = await openLife(tape, { type });
    const [strategy] = await life.seed(1);
    if (strategy === undefined) throw new Error("one strategy was asked for");
    const buy = () =>
      life.send(strategy, "POST", PATHS[type], {
        symbol: SYMBOL,
        side: "BUY",
        type: "MARKET",
        quantity: QUANTITIES[type],
      });
    await life.playTo(tape.startsAt + 5_000);
    expect(await buy()).toMatchObject({ status: 200 });

    tape.silence();
    tape.refuseConnections(true);
    tape.dropConnections();
    await life.missTo(tape.clock.now() + OUTAGE_MS);
    expect(await buy()).toMatchObject({ status: 503, body: { code: -1008 } });

    tape.resume();
    tape.refuseConnections(false);
    const backAt = life.time.now();
    await eventual(
      async () => {
        await life.turn(TURN_MS);
        return (await buy()).status;
      },
      (status) => status === 200,
    );
    expect(life.time.now() - backAt).toBeLessThanOrEqual(BACK_WITHIN_MS);
  },
);

test.each(["SPOT", "FUTURES"] as const)(
  "a %s limit that the market hit while it was silent is filled soon after its return",
  async (type) => {
    // Triggered only in the gap, at its very beginning: by a single trade at its edge.
    const bidAt = (second: number) => (second > 20 && second < 28 ? 49_000 : 50_000);
    const file = writeTape({ types: ["SPOT", "FUTURES"], seconds: 300, hasMarkPrices: true, bidAt });
    const tape = await openManualTape({ file });
    const life = await openLife(tape, { type });
    const [strategy] = await life.seed(1);
    if (strategy === undefined) throw new Error("one strategy was asked for");
    await life.playTo(tape.startsAt + 10_000);
    const order = { symbol: SYMBOL, side: "BUY", type: "LIMIT", timeInForce: "GTC", price: "49500" };
    const { orderId } = await life.call(strategy, "POST", PATHS[type], {
      ...order,
      quantity: QUANTITIES[type],
    });
    await life.playTo(tape.startsAt + 15_000);
    tape.silence(SYMBOL);
    await life.missTo(tape.clock.now() + SILENCE_MS);
    tape.resume();
    const backAt = life.time.now();
    const query = { symbol: SYMBOL, orderId: `${orderId}` };
    expect(await life.call(strategy, "GET", PATHS[type], query)).toMatchObject({ status: "NEW" });
    await eventual(
      async () => {
        await Promise.all([life.playTo(tape.clock.now() + SHORT_TURN_MS), pause(SHORT_TURN_MS)]);
        return (await life.call(strategy, "GET", PATHS[type], query)).status;
      },
      (status) => status === "FILLED",
    );
    expect(life.time.now() - backAt).toBeLessThanOrEqual(FILLED_WITHIN_MS);
  },
);
