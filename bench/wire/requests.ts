// Signed requests, under the keys that they rotate over: those of spot strategies and those of futures
// strategies. Orders and reads are signed as the exchange's own clients do it, signals as bots do.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { StrategyType } from "../../src/domain/account.ts";

export type ByType<Value> = { readonly [T in StrategyType]: Value };
export type Trips = ByType<readonly Trip[]>;
/** Keys of strategies under `standard`, and of spot strategies under `strict`, if there are any. */
export type Keys = ByType<readonly Credentials[]> & { readonly STRICT?: readonly Credentials[] };
type Pool = StrategyType | "STRICT";
type ByPool<T> = { readonly [P in Pool]: T };

/**
 * Kinds of requests: spot orders, futures orders, spot orders under `strict`, signals (orders on spot), reads
 * of a spot account.
 */
export type RequestKind = "orders" | "futures" | "strict" | "signals" | "reads";
/** The gateway needs alternating buys and sells; the echo does not care. */
export type Target = "gateway" | "echo";

export type Ticket = { readonly key: Key; readonly text: string };

const POOLS: { readonly [K in RequestKind]: Pool } = {
  orders: "SPOT",
  futures: "FUTURES",
  strict: "STRICT",
  signals: "SPOT",
  reads: "SPOT",
};
export const ORDER_PATHS: ByType<string> = { SPOT: "/api/v3/order", FUTURES: "/fapi/v1/order" };
const PATHS: ByPool<string> = { ...ORDER_PATHS, STRICT: ORDER_PATHS.SPOT };
const SIGNAL_PATH = "/bot/v1/spot/orders";

/** The status of a good answer. */
export const GOOD_STATUS: { readonly [K in RequestKind]: number } = {
  orders: 200,
  futures: 200,
  strict: 200,
  signals: 202,
  reads: 200,
};

/** Text that only a good answer has in its body. */
export const PROOF: { readonly [T in Target]: { readonly [K in RequestKind]: Buffer } } = {
  gateway: {
    orders: Buffer.from('"status":"FILLED"'),
    futures: Buffer.from('"status":"FILLED"'),
    strict: Buffer.from('"status":"FILLED"'),
    signals: Buffer.from('"status":"EXECUTED"'),
    reads: Buffer.from('"balances":[{'),
  },
  echo: {
    orders: Buffer.from('"newClientOrderId":"'),
    futures: Buffer.from('"newClientOrderId":"'),
    strict: Buffer.from('"newClientOrderId":"'),
    // The echo knows no signals: an order is what they are held against.
    signals: Buffer.from('"newClientOrderId":"'),
    reads: Buffer.from('"timestamp":"'),
  },
};

function signatureOf(form: string, secret: string | KeyObject): string {
  return createHmac("sha256", secret).update(form, "latin1").digest("hex");
}

/** A signed placement: a form as the body of a request. */
export function signedPost(path: string, form: string, apiKey: string, secret: string | KeyObject): string {
  const body = `${form}&signature=${signatureOf(form, secret)}`;
  return (
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-mbx-apikey: ${apiKey}\r\n` +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  );
}

/**
 * A signed request of the WebSocket API. `form` has the parameters in the order of their names, and neither
 * `=` nor `&` in a value; all are sent as strings but for those that clients send as numbers.
 */
export function signedMessage(id: number, method: string, form: string, secret: string | KeyObject): string {
  const signature = signatureOf(form, secret);
  const params = form.replaceAll("=", '":"').replaceAll("&", '","').replace(NUMBERS, '"$1":$2');
  return `{"id":${id},"method":"${method}","params":{"${params}","signature":"${signature}"}}`;
}
const NUMBERS = /"(recvWindow|timestamp)":"([0-9]+)"/g;

export class Requests {
  readonly #rings: ByPool<KeyRing>;
  /** Whether a key's next order is a sale. */
  readonly #holds: { readonly [T in Target]: ByPool<Uint8Array> };
  /** When each key signed its last signal, Unix ms. */
  readonly #stampedAt = new Map<Key, number>();
  #lastId = 0;

  constructor(credentials: Keys, trips: Trips) {
    this.#rings = {
      SPOT: new KeyRing(credentials.SPOT, trips.SPOT),
      FUTURES: new KeyRing(credentials.FUTURES, trips.FUTURES),
      STRICT: new KeyRing(credentials.STRICT ?? [], trips.SPOT),
    };
    const nothing = () => ({
      SPOT: new Uint8Array(this.#rings.SPOT.size),
      FUTURES: new Uint8Array(this.#rings.FUTURES.size),
      STRICT: new Uint8Array(this.#rings.STRICT.size),
    });
    this.#holds = { gateway: nothing(), echo: nothing() };
  }

  /** The next request, under the key that was idle longest. */
  take(kind: RequestKind, target: Target): Ticket {
    const { key, isSale } = this.#next(kind, target);
    return { key, text: this.#text(kind, key, isSale) };
  }

  /** The next spot order as a message of the WebSocket API. */
  takeMessage(target: Target): Ticket {
    const { key, isSale } = this.#next("orders", target);
    const id = ++this.#lastId;
    const { apiKey, trip, signs } = key;
    const { symbol } = trip;
    const quantity = isSale ? trip.sell : trip.buy;
    const side = isSale ? "SELL" : "BUY";
    const timestamp = Date.now();
    const form =
      `apiKey=${apiKey}&newClientOrderId=bench-${id}&quantity=${quantity}` +
      `&recvWindow=10000&side=${side}&symbol=${symbol}&timestamp=${timestamp}&type=MARKET`;
    // As `signedMessage` would have it, in less time.
    const text =
      `{"id":${id},"method":"order.place","params":{"apiKey":"${apiKey}","newClientOrderId":"bench-${id}",` +
      `"quantity":"${quantity}","recvWindow":10000,"side":"${side}","symbol":"${symbol}",` +
      `"timestamp":${timestamp},"type":"MARKET","signature":"${signatureOf(form, signs)}"}}`;
    return { key, text };
  }

  #next(kind: RequestKind, target: Target): { readonly key: Key; readonly isSale: boolean } {
    const pool = POOLS[kind];
    const key = this.#rings[pool].take();
    return { key, isSale: this.#holds[target][pool][key.index] === 1 };
  }

  /** Returns the ticket's key; `isGood`: the request was executed. */
  answered({ key }: Ticket, kind: RequestKind, target: Target, isGood: boolean): void {
    const pool = POOLS[kind];
    const holds = this.#holds[target][pool];
    if (kind !== "reads" && isGood) holds[key.index] = holds[key.index] === 0 ? 1 : 0;
    this.#rings[pool].putBack(key);
  }

  #text(kind: RequestKind, key: Key, isSale: boolean): string {
    if (kind === "reads") return this.#read(key);
    if (kind === "signals") return this.#signal(key, isSale);
    return this.#order(key, PATHS[POOLS[kind]], isSale);
  }

  // As ccxt sends it: a form body with a client order id of its own.
  #order({ apiKey, signs, trip }: Key, path: string, isSale: boolean): string {
    const form =
      `symbol=${trip.symbol}&side=${isSale ? "SELL" : "BUY"}&type=MARKET&quantity=${isSale ? trip.sell : trip.buy}` +
      `&newClientOrderId=bench-${++this.#lastId}&recvWindow=10000&timestamp=${Date.now()}`;
    return signedPost(path, form, apiKey, signs);
  }

  #signal(key: Key, isSale: boolean): string {
    const { apiKey, signs, trip } = key;
    const body =
      `{"symbol":"${trip.symbol}","tradeType":"${isSale ? "SELL" : "BUY"}","orderType":"MARKET",` +
      `"quantity":"${isSale ? trip.sell : trip.buy}"}`;
    // A signature is good for one idempotency key.
    const timestamp = Math.max(Date.now(), (this.#stampedAt.get(key) ?? 0) + 1);
    this.#stampedAt.set(key, timestamp);
    const signature = createHmac("sha256", signs)
      .update(`${timestamp}POST${SIGNAL_PATH}${body}`, "latin1")
      .digest("hex");
    return (
      `POST ${SIGNAL_PATH} HTTP/1.1\r\nhost: localhost\r\nx-bot-api-key: ${apiKey}\r\nx-bot-timestamp: ${timestamp}\r\n` +
      `x-bot-signature: ${signature}\r\nidempotency-key: bench-${++this.#lastId}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    );
  }

  #read({ apiKey, signs }: Key): string {
    const query = `recvWindow=10000&timestamp=${Date.now()}`;
    const signature = createHmac("sha256", signs).update(query, "latin1").digest("hex");
    return `GET /api/v3/account?${query}&signature=${signature} HTTP/1.1\r\nhost: localhost\r\nx-mbx-apikey: ${apiKey}\r\n\r\n`;
  }
}

export type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/**
 * One order size to go in and one to come out with: what was bought, less the fee where that is paid in
 * coins.
 */
export type Trip = { readonly symbol: string; readonly buy: string; readonly sell: string };

export type Key = {
  readonly index: number;
  readonly apiKey: string;
  readonly signs: KeyObject;
  readonly trip: Trip;
};

export class KeyRing {
  readonly #keys: readonly Key[];
  /** Keys that wait for their turn, as a ring of indexes. */
  readonly #idle: Int32Array;
  #first = 0;
  #idleCount: number;

  constructor(credentials: readonly Credentials[], trips: readonly Trip[]) {
    this.#keys = credentials.map(({ apiKey, apiSecret }, index) => {
      const trip = trips[index % trips.length];
      if (trip === undefined) throw new Error("there is a symbol to trade");
      return { index, apiKey, signs: createSecretKey(apiSecret, "utf8"), trip };
    });
    this.#idle = Int32Array.from(this.#keys, ({ index }) => index);
    this.#idleCount = this.#keys.length;
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The key that was idle longest. */
  take(): Key {
    const key = this.#keys[this.#idle[this.#first] ?? -1];
    if (key === undefined || this.#idleCount === 0)
      throw new Error("there are more keys than requests under way");
    this.#first = (this.#first + 1) % this.#idle.length;
    this.#idleCount -= 1;
    return key;
  }

  putBack({ index }: Key): void {
    this.#idle[(this.#first + this.#idleCount) % this.#idle.length] = index;
    this.#idleCount += 1;
  }
}
