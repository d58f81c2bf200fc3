// What a strategy's orders and trades are over HTTP, at one moment.
import type { Credentials } from "../../support/servers/gateway.ts";
import { signed } from "../../support/signed-client.ts";
import { patiently } from "../harness/patience.ts";
import { LEG_PATHS, PATHS, POSITION_PATH } from "../harness/routes.ts";
import { SYMBOL } from "../harness/ticks.ts";
import { type OrderBody, orderOf, type TradeBody } from "./bodies.ts";
import type { Trader } from "./trader.ts";

/** A futures position, with the mark price that it is shown at. */
export type PositionBody = {
  readonly positionAmt: string;
  readonly markPrice: string;
  readonly liquidationPrice: string;
};

const PAGE = 1_000;
const READINGS_MAX = 20;

export type Books = {
  /** Those of a futures strategy with its legs. */
  readonly orders: readonly OrderBody[];
  readonly trades: readonly TradeBody[];
};

/** All orders and trades of one moment. */
export async function readBooks(url: string, trader: Trader): Promise<Books> {
  let before = await stateOf(url, trader);
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const books = await listAll(url, trader);
    const after = await stateOf(url, trader);
    // A resting order may have been filled while the lists were read.
    if (after === before) return books;
    before = after;
  }
  throw new Error(`the books did not stand still for one of ${READINGS_MAX} readings`);
}

/** What rests, and the legs that wait. */
export async function openOrders(url: string, trader: Trader): Promise<readonly OrderBody[]> {
  const parameters = { symbol: SYMBOL };
  const orders = await ask(url, trader.credentials, PATHS[trader.type].openOrders, parameters);
  const legs =
    trader.type === "SPOT" ? [] : await ask(url, trader.credentials, LEG_PATHS.openOrders, parameters);
  return [...orders, ...legs].map(orderOf);
}

/** The position of a futures strategy; null of one that holds nothing. */
export async function positionOf(url: string, { credentials }: Trader): Promise<PositionBody | null> {
  const [position = null] = await ask(url, credentials, POSITION_PATH, {});
  return position;
}

/** Says something else after every change of the account. */
async function stateOf(url: string, { credentials, type }: Trader): Promise<string> {
  const account = await ask(url, credentials, PATHS[type].account, {});
  if (type === "SPOT") return JSON.stringify(account);
  // The rest of it moves with the mark price.
  const { updateTime, totalWalletBalance, positions } = account;
  return JSON.stringify({ updateTime, totalWalletBalance, held: positions[0]?.positionAmt });
}

async function listAll(url: string, { credentials, type }: Trader): Promise<Books> {
  const { allOrders, trades } = PATHS[type];
  const orders = await pages(url, credentials, allOrders, { from: "orderId", id: "orderId" });
  const legs =
    type === "SPOT"
      ? []
      : await pages(url, credentials, LEG_PATHS.allOrders, { from: "algoId", id: "algoId" });
  return {
    orders: [...orders, ...legs].map(orderOf),
    trades: await pages(url, credentials, trades, { from: "fromId", id: "id" }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
type Row = any;

async function pages(
  url: string,
  credentials: Credentials,
  path: string,
  { from, id }: { readonly from: string; readonly id: string },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let next = 1; ; ) {
    const page: Row[] = await ask(url, credentials, path, { symbol: SYMBOL, [from]: next, limit: PAGE });
    rows.push(...page);
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return rows;
    next = last[id] + 1;
  }
}

async function ask(
  url: string,
  credentials: Credentials,
  path: string,
  parameters: Readonly<Record<string, string | number>>,
) {
  const { status, body } = await patiently(() => signed(url, credentials, "GET", path, parameters));
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
