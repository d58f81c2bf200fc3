// What a strategy's books say over HTTP, at one moment.
import type { Credentials } from "../../support/gateway.ts";
import { signed } from "../../support/signed-client.ts";
import { patiently } from "../harness/patience.ts";
import { LEG_PATHS, PATHS, POSITION_PATH } from "../harness/routes.ts";
import { SYMBOL } from "../harness/ticks.ts";
import { type OrderBody, orderOf, type TradeBody, tradeOf } from "./bodies.ts";
import type { Trader } from "./trader.ts";

type Balance = { readonly asset: string; readonly free: string; readonly locked: string };

export type Books = {
  /** Those of a futures strategy with its legs. */
  readonly orders: readonly OrderBody[];
  readonly trades: readonly TradeBody[];
  /** Of a spot strategy. */
  readonly balances: readonly Balance[];
  /** Of a futures strategy: what it holds, signed. */
  readonly held: string | null;
};

/** A futures position, with the mark price that it is shown at. */
export type PositionBody = {
  readonly positionAmt: string;
  readonly markPrice: string;
  readonly liquidationPrice: string;
};

const PAGE = 1_000;
const READINGS_MAX = 20;

/** All orders, all trades and what is held, of one moment. */
export async function readBooks(url: string, trader: Trader): Promise<Books> {
  let before = await readAccount(url, trader);
  for (let readings = 0; readings < READINGS_MAX; readings += 1) {
    const lists = await readLists(url, trader);
    const after = await readAccount(url, trader);
    // A resting order may have been filled while the lists were read.
    if (after.state === before.state) return { ...lists, balances: after.balances, held: after.held };
    before = after;
  }
  throw new Error(`the books did not stand still for one of ${READINGS_MAX} readings`);
}

/** What rests, and the legs that wait. */
export async function openOrders(url: string, trader: Trader): Promise<readonly OrderBody[]> {
  const parameters = { symbol: SYMBOL };
  const orders = await ask(url, trader.credentials, PATHS[trader.family].openOrders, parameters);
  const legs =
    trader.family === "SPOT" ? [] : await ask(url, trader.credentials, LEG_PATHS.openOrders, parameters);
  return [...orders, ...legs].map(orderOf);
}

/** The position of a futures strategy; null of one that holds nothing. */
export async function positionOf(url: string, { credentials }: Trader): Promise<PositionBody | null> {
  const [position = null] = await ask(url, credentials, POSITION_PATH, {});
  return position;
}

type Standing = Pick<Books, "balances" | "held"> & {
  /** Says something else after every change of the account. */
  readonly state: string;
};

async function readAccount(url: string, { credentials, family }: Trader): Promise<Standing> {
  const account = await ask(url, credentials, PATHS[family].account, {});
  if (family === "SPOT") {
    return { balances: account.balances, held: null, state: JSON.stringify(account) };
  }
  // The rest of it moves with the mark price.
  const { updateTime, totalWalletBalance, positions } = account;
  const held: string = positions[0]?.positionAmt ?? "0";
  return { balances: [], held, state: JSON.stringify({ updateTime, totalWalletBalance, held }) };
}

async function readLists(url: string, { credentials, family }: Trader) {
  const { allOrders, trades } = PATHS[family];
  const list = (path: string, from: string, idOf: (row: Row) => number) =>
    pages(url, credentials, { path, from, idOf });
  const orders = await list(allOrders, "orderId", ({ orderId }) => orderId);
  const legs = family === "SPOT" ? [] : await list(LEG_PATHS.allOrders, "algoId", ({ algoId }) => algoId);
  const fills = await list(trades, "fromId", ({ id }) => id);
  return { orders: [...orders, ...legs].map(orderOf), trades: fills.map(tradeOf) };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
type Row = any;

async function pages(
  url: string,
  credentials: Credentials,
  list: { readonly path: string; readonly from: string; readonly idOf: (row: Row) => number },
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let next = 1; ; ) {
    const page: Row[] = await ask(url, credentials, list.path, {
      symbol: SYMBOL,
      [list.from]: next,
      limit: PAGE,
    });
    rows.push(...page);
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return rows;
    next = list.idOf(last) + 1;
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
