// The market goes away and comes back, over real connections on a clock of the test's own: how soon orders are taken again.
import { expect, test } from "vitest";
import { writeTape } from "../support/written-tape.ts";
import { SYMBOL } from "./recorded.ts";
import { cleanStages, eventual, openLife, openManualTape, TURN_MS } from "./stage.ts";

const OUTAGE_MS = 20_000;
/** The longest delay between two attempts to connect, early in an outage. */
const BACK_WITHIN_MS = 3_000;
const PATHS = { SPOT: "/api/v3/order", FUTURES: "/fapi/v1/order" } as const;

const QUANTITIES = { SPOT: "0.0005", FUTURES: "0.002" } as const;

cleanStages();

test.each(["SPOT", "FUTURES"] as const)(
  "after an outage a %s market order is taken again within three seconds of the market's return",
  async (family) => {
    const file = writeTape({ families: ["spot", "futures"], seconds: 60, hasMarkPrices: true });
    const tape = await openManualTape({ file });
    const life = await openLife(tape, { family });
    const [strategy] = await life.seed(1);
    if (strategy === undefined) throw new Error("one strategy was asked for");
    const buy = () =>
      life.send(strategy, "POST", PATHS[family], {
        symbol: SYMBOL,
        side: "BUY",
        type: "MARKET",
        quantity: QUANTITIES[family],
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
