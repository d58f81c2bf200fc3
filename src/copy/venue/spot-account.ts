// One account's spot trading at a venue: what is asked of it, and what it answers, in our words.
// Source: reference exchange, section 7.
import { COPY_QUOTE_ASSET } from "../../domain/copying.ts";
import { type Amount, add, type Quantity, ZERO } from "../../money/decimal.ts";
import { type AccountRest, PLACEMENT, URGENT } from "./account-rest.ts";
import { BodyFault, mapped, valueFor } from "./answers.ts";
import { amountOf, type Body, flagOf, objectOf, rowsOf, textOf } from "./bodies.ts";
import { feesOf, otherAssetsOf } from "./fees.ts";
import { askForFills } from "./fills.ts";
import { accountMayWithdraw, askForRestrictions, restricted } from "./key-rights.ts";
import { type OpenRoute, openIds, weightOfOpen } from "./open-ids.ts";
import { NOT_FOUND_CODES, NOT_OPEN_CODES, orderOf, placementOf } from "./orders.ts";
import type {
  AccountCheck,
  VenueAnswer,
  VenueBalances,
  VenueClient,
  VenueOrder,
  VenueOrderState,
  VenueRefusal,
} from "./venue.ts";

const ORDER = "/api/v3/order";
const FILLS = { path: "/api/v3/myTrades", weight: 20 };
const ACCOUNT = { method: "GET", path: "/api/v3/account", weight: 20 } as const;
const OPEN_ORDERS: OpenRoute = {
  path: "/api/v3/openOrders",
  weight: { ofOne: 6, ofAll: 80 },
  idKey: "clientOrderId",
};
const QUOTE_KEY = "cummulativeQuoteQty";

export function createSpotClient(rest: AccountRest): VenueClient {
  const orderIn =
    (clientOrderId: string) =>
    (value: unknown): VenueOrderState =>
      orderOf(objectOf(value), clientOrderId, QUOTE_KEY);

  return {
    check: () => check(rest),

    keyRights: (family) => askForRestrictions(rest, family),

    async balances() {
      const parameters = { omitZeroBalances: true };
      return mapped(await rest.ask({ ...ACCOUNT, parameters, ...URGENT }), (value) =>
        balancesOf(objectOf(value), rest.wallNow()),
      );
    },

    async place(order) {
      const parameters = { ...placementOf(order), newOrderRespType: "FULL" };
      const answer = await rest.ask({ method: "POST", path: ORDER, weight: 1, parameters, ...PLACEMENT });
      const placed = mapped(answer, orderIn(order.clientOrderId));
      if (placed.kind === "OK" && answer.kind === "OK") {
        await keepFills(rest, order, placed.value, objectOf(answer.value));
      }
      return placed;
    },

    placeLeg: async () => NO_LEGS,

    async find(symbol, clientOrderId) {
      const parameters = { symbol, origClientOrderId: clientOrderId };
      const answer = await rest.ask({ method: "GET", path: ORDER, weight: 4, parameters, ...URGENT });
      return valueFor(NOT_FOUND_CODES, mapped(answer, orderIn(clientOrderId)), null);
    },

    findLeg: async () => ({ kind: "OK", value: null }),

    async cancel(symbol, clientOrderId) {
      const parameters = { symbol, origClientOrderId: clientOrderId };
      const answer = await rest.ask({ method: "DELETE", path: ORDER, weight: 1, parameters, ...URGENT });
      return valueFor(NOT_OPEN_CODES, mapped(answer, orderIn(clientOrderId)), null);
    },

    cancelLeg: async () => ({ kind: "OK", value: null }),

    async openOrderIds(of) {
      return mapped(await openIds(rest, OPEN_ORDERS, of?.orders), (ids) => new Set(ids));
    },

    lookWeight: ({ orders }) => ACCOUNT.weight + weightOfOpen(OPEN_ORDERS, orders),

    async fills(of) {
      const kept = rest.keptFills.of(rest.accountId, of.symbol, of.venueOrderId);
      if (kept !== null) return { kind: "OK", value: kept };
      return await askForFills(rest, FILLS, of);
    },

    trades: async () => ({ kind: "OK", value: [] }),

    clearance: async () => ({ kind: "OK", value: ZERO }),

    setLeverage: async () => NO_LEVERAGE,
  };
}

/** "Order type not supported" and "Invalid leverage", in the words of the exchange; nothing was sent. */
const NO_LEGS: VenueRefusal = { kind: "REFUSED", code: -1116, message: "Invalid orderType." };
const NO_LEVERAGE: VenueRefusal = { kind: "REFUSED", code: -4028, message: "Invalid leverage" };

async function check(rest: AccountRest): Promise<VenueAnswer<AccountCheck>> {
  const parameters = { omitZeroBalances: true };
  const account = mapped(await rest.ask({ ...ACCOUNT, parameters, ...URGENT }), (value) => {
    const body = objectOf(value);
    const canTrade = flagOf(body, "canTrade");
    return { balances: balancesOf(body, rest.wallNow()), canTrade, canWithdraw: accountMayWithdraw(body) };
  });
  if (account.kind !== "OK") return account;
  const restrictions = await askForRestrictions(rest);
  return mapped(restrictions, (told) => ({ ...restricted(account.value, told), isHedgeMode: null }));
}

function balancesOf(body: Body, at: number): VenueBalances {
  let wallet = ZERO as Amount;
  let available = ZERO as Amount;
  const held = new Map<string, Quantity>();
  for (const row of rowsOf(body.balances)) {
    const asset = textOf(row, "asset");
    const free = amountOf<Amount>(row, "free");
    const owned = add(free, amountOf<Amount>(row, "locked"));
    if (asset === COPY_QUOTE_ASSET) {
      wallet = owned;
      available = free;
    } else if (owned !== 0n) held.set(asset, owned as bigint as Quantity);
  }
  return { at, wallet, available, held, marginBalance: wallet };
}

/** Keeps the fees of an order that is over, if the answer to its placement has all its fills. Fees in a third asset are not among them. */
async function keepFills(
  rest: AccountRest,
  { symbol }: VenueOrder,
  { venueOrderId, status, executedQuantity }: VenueOrderState,
  body: Body,
): Promise<void> {
  if (status === "RESTING" || !Array.isArray(body.fills)) return;
  const rules = await rest.rules.of(symbol);
  if (rules.kind !== "OK" || rules.value === null) return;
  try {
    const rows = rowsOf(body.fills);
    const filled = rows.reduce((sum, row) => add(sum, amountOf<Quantity>(row, "qty")), ZERO as Quantity);
    if (filled !== executedQuantity || otherAssetsOf(rows, rules.value).length > 0) return;
    rest.keptFills.keep(
      rest.accountId,
      symbol,
      venueOrderId,
      feesOf(rows, rules.value, () => null),
    );
  } catch (error) {
    // They are asked for when they are wanted.
    if (!(error instanceof BodyFault)) throw error;
  }
}
