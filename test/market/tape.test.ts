// A bot trades over a recorded interval of the real market, through the whole of Lyrebird: HTTP, desk, store,
// market client and the tape's own server over real sockets. The oracle reads the recording by itself: every
// fill has to agree with the best bid or ask that was recorded at its moment, to the last digit.
import { beforeAll, describe, expect, test } from "vitest";
import { formatDecimal } from "../../src/money/decimal.ts";
import { cleanFixtures, eventual, openLife, openManualTape } from "./fixture.ts";
import { isMet, oppositeOf, type Terms } from "./oracle.ts";
import { averagePrice, stateOf } from "./orders.ts";
import { countUntil, isHere, type Message, readMessages, SKIPPED, SYMBOL } from "./recorded.ts";

const STOPS = 150;
type Resting = { readonly orderId: number; readonly terms: Terms; readonly heard: number };

cleanFixtures();

describe.skipIf(!isHere)(`a bot on the recorded market${SKIPPED}`, () => {
  let messages: readonly Message[];

  beforeAll(() => {
    messages = readMessages();
  });

  test(`all fills of ${STOPS} stops agree with the recorded book`, async () => {
    const tape = await openManualTape();
    const life = await openLife(tape);
    const [strategy] = await life.seed(1);
    if (strategy === undefined) throw new Error("one strategy was asked for");
    const place = (parameters: Readonly<Record<string, string>>) =>
      life.call(strategy, "POST", "/api/v3/order", { symbol: SYMBOL, ...parameters });
    let fills = 0;
    let resting: Resting | null = null;
    for (let stop = 1; stop <= STOPS; stop += 1) {
      const at = tape.startsAt + 1_500 + Math.floor(((tape.endsAt - tape.startsAt - 2_000) * stop) / STOPS);
      await life.playTo(at);
      const heard = countUntil(messages, at);
      const recorded = messages[heard - 1]?.quote;
      if (recorded === undefined) throw new Error(`nothing is recorded before ${at}`);

      if (resting !== null) {
        // A limit fills when, and only when, the recorded market reached it, and then at its own price.
        const { orderId, terms } = resting;
        const isReached = messages
          .slice(resting.heard, heard)
          .some(({ quote }) => isMet(terms, oppositeOf(terms.side, quote)));
        const status = isReached ? "FILLED" : "NEW";
        const state = await eventual(
          () => stateOf(life, { strategy, orderId }),
          (now) => now.status === status,
        );
        expect([state.status, state.fill?.price]).toEqual([
          status,
          isReached && terms.limit !== null ? formatDecimal(terms.limit) : undefined,
        ]);
        if (isReached) fills += 1;
        else await life.call(strategy, "DELETE", "/api/v3/order", { symbol: SYMBOL, orderId: `${orderId}` });
        resting = null;
      }

      const side = stop % 2 === 1 ? "BUY" : "SELL";
      // Fees come out of what was bought, so a little more is bought than sold.
      const quantity = side === "BUY" ? "0.00012" : "0.0001";
      if (stop % 3 === 0) {
        const limit = side === "BUY" ? recorded.bid : recorded.ask;
        const price = formatDecimal(limit);
        const order = await place({ side, type: "LIMIT", timeInForce: "GTC", quantity, price });
        expect(order).toMatchObject({ status: "NEW", time: at });
        resting = { orderId: order.orderId, terms: { side, limit, stop: null }, heard };
      } else {
        const order = await place({ side, type: "MARKET", quantity });
        expect(order).toMatchObject({ status: "FILLED", time: at });
        expect(averagePrice(order)).toBe(formatDecimal(oppositeOf(side, recorded)));
        fills += 1;
      }
    }
    expect(fills).toBeGreaterThan(STOPS / 2);
    const trades = await life.call(strategy, "GET", "/api/v3/myTrades", { symbol: SYMBOL, limit: "1000" });
    expect(trades).toHaveLength(fills);
  });
});
