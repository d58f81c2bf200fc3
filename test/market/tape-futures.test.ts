// A bot trades a contract over a recorded interval of the real market, through the whole of Lyrebird. The
// oracle reads the recording by itself: a market order fills at the best bid or ask that was recorded at its
// moment, a limit when the recording reached it and only then, at its limit and as maker. The recording has
// no mark prices; those here are made up (`marked.ts`) and affect nothing that is checked.
import { beforeAll, describe, expect, test } from "vitest";
import { decimal, formatDecimal } from "../../src/money/decimal.ts";
import { cleanFixtures, eventual, openLife, openManualTape } from "./fixture.ts";
import { writeMarkedTape } from "./marked.ts";
import { isMet, oppositeOf, type Terms } from "./oracle.ts";
import { countUntil, FUTURES_FILE, isHere, type Message, readMessages, SKIPPED, SYMBOL } from "./recorded.ts";

const STOPS = 150;
/** Worth more than the smallest notional of the contract. */
const QUANTITY = "0.002";
type Resting = { readonly orderId: number; readonly terms: Terms; readonly heard: number };

cleanFixtures();

describe.skipIf(!isHere)(`a bot on a recorded contract${SKIPPED}`, () => {
  let messages: readonly Message[];

  beforeAll(() => {
    messages = readMessages(FUTURES_FILE);
  });

  test(`all fills of ${STOPS} stops agree with the recorded book`, async () => {
    const tape = await openManualTape(writeMarkedTape(messages));
    // The oracle and the tape agree on the arrival times.
    expect([...new Set(messages.map(({ at }) => at)).difference(new Set(tape.instants()))]).toEqual([]);
    const life = await openLife(tape, { type: "FUTURES" });
    const [strategy] = await life.seed(1);
    if (strategy === undefined) throw new Error("one strategy was asked for");
    const call = (method: string, parameters: Readonly<Record<string, string>>) =>
      life.call(strategy, method, "/fapi/v1/order", { symbol: SYMBOL, ...parameters });
    const seen = { market: 0, limitFilled: 0, limitResting: 0 };
    let resting: Resting | null = null;
    for (let stop = 1; stop <= STOPS; stop += 1) {
      const at = tape.startsAt + 1_500 + Math.floor(((tape.endsAt - tape.startsAt - 2_000) * stop) / STOPS);
      await life.playTo(at);
      const heard = countUntil(messages, at);
      const recorded = messages[heard - 1]?.quote;
      if (recorded === undefined) throw new Error(`nothing is recorded before ${at}`);

      if (resting !== null) {
        const { orderId, terms } = resting;
        const reached = messages
          .slice(resting.heard, heard)
          .find(({ quote }) => isMet(terms, oppositeOf(terms.side, quote)));
        const status = reached === undefined ? "NEW" : "FILLED";
        const query = { orderId: `${orderId}` };
        const order = await eventual(
          () => call("GET", query),
          (now) => now.status === status,
        );
        const price = reached === undefined || terms.limit === null ? 0n : terms.limit;
        expect([order.status, decimal(order.avgPrice)]).toEqual([status, price]);
        if (reached === undefined) await call("DELETE", query);
        seen[reached === undefined ? "limitResting" : "limitFilled"] += 1;
        resting = null;
      }

      const side = stop % 2 === 1 ? "BUY" : "SELL";
      if (stop % 3 === 0) {
        const limit = side === "BUY" ? recorded.bid : recorded.ask;
        const terms = { type: "LIMIT", timeInForce: "GTC", price: formatDecimal(limit) };
        const order = await call("POST", { side, quantity: QUANTITY, ...terms });
        expect(order).toMatchObject({ status: "NEW", updateTime: at });
        resting = { orderId: order.orderId, terms: { side, limit, stop: null }, heard };
      } else {
        const terms = { type: "MARKET", newOrderRespType: "RESULT" };
        const order = await call("POST", { side, quantity: QUANTITY, ...terms });
        expect(order).toMatchObject({ status: "FILLED", updateTime: at });
        expect(decimal(order.avgPrice)).toBe(oppositeOf(side, recorded));
        seen.market += 1;
      }
    }
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(STOPS / 30);
    const query = { symbol: SYMBOL, limit: "1000" };
    const trades = await life.call(strategy, "GET", "/fapi/v1/userTrades", query);
    expect(trades).toHaveLength(seen.market + seen.limitFilled);
    const makers = trades.filter(({ maker }: { maker: boolean }) => maker);
    expect(makers).toHaveLength(seen.limitFilled);
  });
});
