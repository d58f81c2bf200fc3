// Signed requests, and the keys they rotate over. A key is used by one request at a time and then waits until all the
// others had their turn, so that none exceeds its own limits and its orders keep their sequence.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";

export type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/** One order size to go in and one to come out with: what was bought, less the fee. */
export type Trip = { readonly symbol: string; readonly buy: string; readonly sell: string };

export type RequestKind = "orders" | "reads";
/** Whoever keeps accounts sees buys and sells alternate; the echo does not care. */
export type Target = "gateway" | "echo";

type Key = {
  readonly index: number;
  readonly apiKey: string;
  readonly signs: KeyObject;
  readonly trip: Trip;
};

export type Ticket = { readonly key: Key; readonly text: string };

/** Text that only a good answer has in its body. */
export const PROOF: { readonly [T in Target]: { readonly [K in RequestKind]: Buffer } } = {
  gateway: { orders: Buffer.from('"status":"FILLED"'), reads: Buffer.from('"balances":[{') },
  echo: { orders: Buffer.from('"newClientOrderId":"'), reads: Buffer.from('"timestamp":"') },
};

export class Requests {
  readonly #keys: readonly Key[];
  /** Keys that wait for their turn, as a ring of indexes. */
  readonly #idle: Int32Array;
  #first = 0;
  #idleCount: number;
  /** Whether a key's next order is a sale. */
  readonly #holds: { readonly [T in Target]: Uint8Array };
  #lastId = 0;

  constructor(credentials: readonly Credentials[], trips: readonly Trip[]) {
    this.#keys = credentials.map(({ apiKey, apiSecret }, index) => {
      const trip = trips[index % trips.length];
      if (trip === undefined) throw new Error("there is a symbol to trade");
      return { index, apiKey, signs: createSecretKey(apiSecret, "utf8"), trip };
    });
    this.#idle = Int32Array.from(this.#keys, ({ index }) => index);
    this.#idleCount = this.#keys.length;
    this.#holds = { gateway: new Uint8Array(this.#keys.length), echo: new Uint8Array(this.#keys.length) };
  }

  /** The next request, under the key that was idle longest. */
  take(kind: RequestKind, target: Target): Ticket {
    const key = this.#keys[this.#idle[this.#first] ?? -1];
    if (key === undefined || this.#idleCount === 0)
      throw new Error("there are more keys than requests under way");
    this.#first = (this.#first + 1) % this.#idle.length;
    this.#idleCount -= 1;
    return { key, text: kind === "orders" ? this.#order(key, target) : this.#read(key) };
  }

  /** Gives the ticket's key back; `isGood` is whether the request was carried out. */
  answered({ key }: Ticket, kind: RequestKind, target: Target, isGood: boolean): void {
    if (kind === "orders" && isGood)
      this.#holds[target][key.index] = this.#holds[target][key.index] === 0 ? 1 : 0;
    this.#idle[(this.#first + this.#idleCount) % this.#idle.length] = key.index;
    this.#idleCount += 1;
  }

  // As ccxt sends it: a form body with a client order id of its own.
  #order({ index, apiKey, signs, trip }: Key, target: Target): string {
    const isSale = this.#holds[target][index] === 1;
    const form =
      `symbol=${trip.symbol}&side=${isSale ? "SELL" : "BUY"}&type=MARKET&quantity=${isSale ? trip.sell : trip.buy}` +
      `&newClientOrderId=bench-${++this.#lastId}&recvWindow=10000&timestamp=${Date.now()}`;
    const body = `${form}&signature=${createHmac("sha256", signs).update(form, "latin1").digest("hex")}`;
    return (
      `POST /api/v3/order HTTP/1.1\r\nhost: localhost\r\nx-mbx-apikey: ${apiKey}\r\n` +
      `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    );
  }

  #read({ apiKey, signs }: Key): string {
    const query = `recvWindow=10000&timestamp=${Date.now()}`;
    const signature = createHmac("sha256", signs).update(query, "latin1").digest("hex");
    return `GET /api/v3/account?${query}&signature=${signature} HTTP/1.1\r\nhost: localhost\r\nx-mbx-apikey: ${apiKey}\r\n\r\n`;
  }
}
