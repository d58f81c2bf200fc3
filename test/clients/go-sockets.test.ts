// A stock client of Go, unmodified, on the exchange's sockets: it lives a bot's life (`socket-life.ts`).
import { describe, test } from "vitest";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { goBot } from "./client-programs.ts";
import { ACCOUNT_FACTS, expectLife, MARKET_FACTS, ORDER_FACTS, runLife } from "./socket-life.ts";

const runner = await goBot();
const program = "program" in runner ? runner.program : "";
const suffix = "missing" in runner ? ` (${runner.missing})` : "";
/** A connection to any other host would go to where nothing listens. */
const PROXIES = { HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" };

const gateway = seededGateway(1, { futuresStrategyCount: 1 });

describe.skipIf(program === "")(`go-binance${suffix}`, () => {
  test.each(["spot", "futures"] as const)("lives a bot's life on %s", async (type) => {
    const key = type === "spot" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();
    const facts = await runLife([program], type, gateway.url, key, PROXIES);
    const names = [...MARKET_FACTS, ...ORDER_FACTS, ...ACCOUNT_FACTS[type], "closed"];
    await expectLife(facts, names, type, gateway.url, key);
  });
});
