// A trader as far as the bench of copying needs one: an order over a connection that is kept, and how long
// its answer took.
import type { StrategyType } from "../../src/domain/account.ts";
import { MeasurementFailed } from "../trial.ts";
import { type Credentials, ORDER_PATHS, signedPost } from "../wire/requests.ts";
import { WireConnection } from "../wire/wire.ts";
import { COPIED_SYMBOL } from "./terms.ts";

/** Worth about ten dollars at the simulated market; what is sold on spot is what was bought less its fee. */
const QUANTITIES = { SPOT: { BUY: "150", SELL: "149" }, FUTURES: { BUY: "150", SELL: "150" } } as const;

export type Answered = {
  /** From the request to its answer. */
  readonly ms: number;
  /** When the gateway did it, market time, which is wall time here: Unix ms. */
  readonly at: number;
};

export class CopyTrader {
  readonly #connection: WireConnection;
  readonly #type: StrategyType;
  /** Rejects once the gateway has ended the connection. */
  readonly #lost: Promise<never>;
  /** Traders with a holding, who sell next. */
  readonly #holders = new Set<string>();
  #lastId = 0;

  private constructor(connection: WireConnection, lost: Promise<never>, type: StrategyType) {
    this.#connection = connection;
    this.#type = type;
    this.#lost = lost;
  }

  static async open(port: number, type: StrategyType = "SPOT"): Promise<CopyTrader> {
    const lost = Promise.withResolvers<never>();
    // The next trade reports the error.
    lost.promise.catch(() => {});
    const lose = (reason: string) => lost.reject(new MeasurementFailed(`copying: ${reason}`));
    return new CopyTrader(await WireConnection.open(port, lose), lost.promise, type);
  }

  /** Buys and sells alternately. */
  async trade({ apiKey, apiSecret }: Credentials): Promise<Answered> {
    const side = this.#holders.has(apiKey) ? "SELL" : "BUY";
    this.#lastId += 1;
    const form =
      `symbol=${COPIED_SYMBOL}&side=${side}&type=MARKET&quantity=${QUANTITIES[this.#type][side]}` +
      `&newClientOrderId=bench-${this.#lastId}&recvWindow=10000&timestamp=${Date.now()}`;
    const request = signedPost(ORDER_PATHS[this.#type], form, apiKey, apiSecret);
    const began = performance.now();
    const answer = new Promise<{ status: number; text: string }>((resolve) => {
      this.#connection.send(request, (answered, bytes) =>
        resolve({ status: answered, text: bytes.toString("latin1") }),
      );
    });
    const { status, text } = await Promise.race([answer, this.#lost]);
    const ms = performance.now() - began;
    if (status !== 200) throw new MeasurementFailed(`copying: an order was answered ${status}: ${text}`);
    if (side === "BUY") this.#holders.add(apiKey);
    else this.#holders.delete(apiKey);
    return { ms, at: timeOf(JSON.parse(text)) };
  }

  close(): void {
    this.#connection.close();
  }
}

/** Of the answers of both types. */
function timeOf({ transactTime, updateTime }: { transactTime?: number; updateTime?: number }): number {
  const at = updateTime ?? transactTime;
  if (at === undefined) throw new MeasurementFailed("copying: an answer has no time");
  return at;
}
