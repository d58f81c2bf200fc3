// A way to a venue that counts weight by address, as the reference exchange does: all accounts behind it
// share one budget a minute, and requests beyond it are answered 429. A test may have single routes answer
// something else.
import {
  ExchangeBehavior,
  requestOf,
  WEIGHTS_OF_ADDRESS,
} from "../../../test/campaigns/copy-faults/exchange-behavior.ts";
import { FaultProxy } from "../../../test/support/servers/fault-proxy.ts";
import type { StrategyType } from "../../domain/account.ts";

export type Answer = { readonly status: number; readonly body: string };

const NOTHING: Answer = { status: 0, body: "" };
const LOST: Answer = { status: 503, body: "" };

export class CountingVenue implements AsyncDisposable {
  readonly #exchange: ExchangeBehavior;
  readonly #type: StrategyType;
  #proxy: FaultProxy | null = null;
  /** Requests that never get an answer, until their client hangs up. */
  #held = 0;
  /** The weight that it grants in a minute. */
  readonly limit: number;
  /** Wall time, Unix ms; set once there is a clock. */
  now: () => number = () => 0;
  /**
   * What a route, such as `GET /api/v3/account`, answers instead; null lets it pass. HELD: it never answers.
   */
  instead: (route: string, parameters: URLSearchParams) => Answer | "HELD" | null = () => null;
  /** Whether a route's requests are executed, and answered 503. */
  loses: (route: string) => boolean = () => false;
  /** Called before a route is answered. */
  before: (route: string) => Promise<void> = async () => {};
  /** When orders were taken, wall time, Unix ms. */
  readonly ordersAt: number[] = [];

  private constructor(type: StrategyType) {
    this.#type = type;
    this.limit = WEIGHTS_OF_ADDRESS[this.#type];
    this.#exchange = new ExchangeBehavior(
      { weightByAddress: WEIGHTS_OF_ADDRESS, now: () => this.now() },
      () => 0,
    );
  }

  static async open(target: string, type: StrategyType): Promise<CountingVenue> {
    const venue = new CountingVenue(type);
    const proxy = await FaultProxy.open(target, {
      async through(passing, send) {
        const { route } = passing;
        await venue.before(route);
        let isHeld = false;
        venue.#exchange.instead = ({ parameters }) => {
          const answer = venue.instead(route, parameters);
          isHeld = answer === "HELD";
          return answer === "HELD" ? NOTHING : answer;
        };
        const answered = await venue.#exchange.answer(requestOf(passing), async () => {
          if (/^POST .*\/order$/.test(route)) venue.ordersAt.push(venue.now());
          return await send(passing);
        });
        if (venue.loses(route)) return { ...answered, ...LOST };
        if (!isHeld) return answered;
        venue.#held += 1;
        passing.socket.once("close", () => {
          venue.#held -= 1;
        });
        return await new Promise(() => {});
      },
    });
    venue.#proxy = proxy;
    return venue;
  }

  get url(): string {
    return this.#opened.url;
  }

  /** The routes that were asked for. */
  get seen(): string[] {
    return this.#opened.seen;
  }

  /** Requests that are neither answered nor held. */
  get pending(): number {
    return this.#opened.pending - this.#held;
  }

  /** The weight of the present minute. */
  get used(): number {
    return this.#exchange.used[this.#type];
  }

  set used(weight: number) {
    this.#exchange.used[this.#type] = weight;
  }

  /** Requests that were refused for going beyond it. */
  get refused(): number {
    return this.#exchange.met.WEIGHT_BY_ADDRESS;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }

  get #opened(): FaultProxy {
    if (this.#proxy === null) throw new Error("a venue is opened before it is used");
    return this.#proxy;
  }
}
