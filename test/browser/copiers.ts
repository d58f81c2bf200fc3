// Copiers for the screens: one before the first copy, and one who follows two strategies, of whose orders
// some were copied, one was skipped, and one is open. The exchange is a second server, where an account
// begins with a strategy's starting balance.
import type { MirrorEntryJson } from "../../src/dashboard-api/schemas.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import type { Authenticator } from "./authenticator.ts";
import type { BrowserClient } from "./browser-client.ts";
import type { Fixture } from "./fixture.ts";

export type CopyPlaces = {
  readonly copyId: string;
  readonly pausedCopyId: string;
  /** Lines of the log of the first. */
  readonly filledEntryId: number;
  readonly skippedEntryId: number;
};

type Key = Pick<Credentials, "apiKey" | "apiSecret">;
type Lead = { readonly strategyId: string; readonly key: Key };
/** So that what the strategy buys for a few USDT is too little once it is scaled. */
const SHARE = "0.5";
const COPIED_MS_MAX = 60_000;
const ASK_AGAIN_MS = 100;

/** Has an account connected and free, and copies nothing. */
export async function beginCopying(
  fixture: Fixture,
  starter: BrowserClient,
  authenticator: Authenticator,
): Promise<void> {
  await connect(fixture, starter, { type: "SPOT", label: "My account", authenticator });
}

/**
 * Follows a spot strategy and, paused, one of futures; resolves when what the spot strategy then does is in
 * the log.
 */
export async function followStrategies(
  fixture: Fixture,
  {
    follower,
    authenticator,
    leads,
  }: { follower: BrowserClient; authenticator: Authenticator; leads: { spot: Lead; futures: Lead } },
): Promise<CopyPlaces> {
  const follow = async (type: StrategyType, label: string, { strategyId }: Lead): Promise<string> => {
    const accountId = await connect(fixture, follower, { type, label, authenticator });
    const settings = { share: SHARE, maxPerOrder: "100", stopLoss: "0.2" };
    return (await follower.call("POST", "/copies", { strategyId, accountId, settings })).copyId;
  };
  const copyId = await follow("SPOT", "Main account", leads.spot);
  const pausedCopyId = await follow("FUTURES", "Sub-account for futures", leads.futures);
  await follower.call("POST", `/copies/${pausedCopyId}/pause`);
  await trade(fixture.url, leads.spot.key);
  const entries = async (): Promise<readonly MirrorEntryJson[]> =>
    (await follower.call("GET", `/copies/${copyId}/entries`)).rows;
  const find = async (status: MirrorEntryJson["status"]) =>
    (await entries()).find((entry) => entry.kind === "PLACE" && entry.status === status)?.entryId;
  await eventually(
    "an order is copied, one is skipped and one rests",
    async () => {
      const found = await Promise.all((["FILLED", "SKIPPED", "RESTING"] as const).map(find));
      return found.every((entryId) => entryId !== undefined);
    },
    { msMax: COPIED_MS_MAX, askAgainMs: ASK_AGAIN_MS },
  );
  const [filledEntryId = 0, skippedEntryId = 0] = [await find("FILLED"), await find("SKIPPED")];
  return { copyId, pausedCopyId, filledEntryId, skippedEntryId };
}

/** The id of a new account at the exchange, connected. */
async function connect(
  fixture: Fixture,
  copier: BrowserClient,
  { type, label, authenticator }: { type: StrategyType; label: string; authenticator: Authenticator },
): Promise<string> {
  const { apiKey, apiSecret } = fixture.venue.seed(type);
  const { account } = await copier.call("POST", "/copying/accounts", {
    ...{ family: type, venue: fixture.venue.url, label, apiKey, apiSecret },
    code: await authenticator.code(),
  });
  return account.accountId;
}

/** Bought and mostly sold, too small, and open below the market. */
async function trade(url: string, key: Key): Promise<void> {
  const order = async (parameters: Record<string, string>) => {
    const place = () => signed(url, key, "POST", "/api/v3/order", parameters);
    const { status, body } = await priced(place);
    if (status !== 200) throw new Error(`an order is refused: ${JSON.stringify(body)}`);
    return body;
  };
  const market = { type: "MARKET", symbol: "ETHUSDT" };
  const { executedQty } = await order({ ...market, side: "BUY", quoteOrderQty: "30" });
  await order({ ...market, side: "SELL", quantity: (Number(executedQty) * 0.9).toFixed(3) });
  await order({ ...market, side: "BUY", quoteOrderQty: "6" });
  const { body } = await signed(url, key, "GET", "/api/v3/ticker/bookTicker", { symbol: "BTCUSDT" });
  await order({
    ...{ symbol: "BTCUSDT", side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.0003" },
    price: String(Math.round(Number(body.bidPrice) * 0.98)),
  });
}
