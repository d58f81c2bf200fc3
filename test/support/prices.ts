// Orders at a gateway that may lack the prices of a symbol. The first order on a symbol waits less than a
// second for them, which a busy machine may exceed; its rejection says to retry, and nothing was executed.
import type { StrategyType } from "../../src/domain/account.ts";
import { PATHS } from "../campaigns/harness/routes.ts";
import { eventually } from "./eventually.ts";
import type { Credentials } from "./servers/gateway.ts";
import { signed, type WireAnswer } from "./signed-client.ts";

const AGAIN_MS = 250;
/** Rejected even with prices: more than a new strategy has funds for. */
const UNPAYABLE = {
  SPOT: { side: "SELL", quantity: "1" },
  FUTURES: { side: "BUY", quantity: "100" },
} as const;
/** The same of a contract so cheap that a hundred of it can be paid. */
const UNPAYABLE_DOGE = "1000000";

type Answer = { readonly status: number | undefined; readonly body: WireAnswer["body"] };

/** Whether an order was refused because its symbol has no prices at present. */
export function isUnpriced({ status, body }: Answer): boolean {
  return status === 503 && /^The market data of this symbol is silent/.test(body?.msg ?? "");
}

/** Retries an order while its symbol has no prices; answers the first other answer. */
export async function priced<Own extends Answer>(place: () => Promise<Own>): Promise<Own> {
  let answer = await place();
  const isAnswered = async () => {
    if (!isUnpriced(answer)) return true;
    answer = await place();
    return !isUnpriced(answer);
  };
  await eventually("the symbol has prices", isAnswered, { askAgainMs: AGAIN_MS });
  return answer;
}

/**
 * Resolves when a gateway has prices of a symbol, for clients that do not retry. The orders count against the
 * budgets of the key, so it should be one that no test counts the orders of.
 */
export async function untilPriced(
  url: string,
  key: Credentials,
  type: StrategyType,
  symbol = "BTCUSDT",
): Promise<void> {
  const isCheap = type === "FUTURES" && symbol === "DOGEUSDT";
  const order = {
    ...{ symbol, type: "MARKET", ...UNPAYABLE[type] },
    ...(isCheap ? { quantity: UNPAYABLE_DOGE } : {}),
  };
  await priced(() => signed(url, key, "POST", PATHS[type].order, order));
}
