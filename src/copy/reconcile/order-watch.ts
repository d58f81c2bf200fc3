// Follows a copy's orders at the venue beside its workers: by the events of the account, after which an order
// is queried, and by queries of what may have been executed. An event is a hint: the query has the exact
// figures. What the copy does itself it learns from the answers to its requests, so only executions, and
// orders whose outcome is unknown, are queried at once.
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import type { MirrorEntry } from "../../domain/copying.ts";
import { bookExpected, bookHinted, bookOpenOrders, findUnconfirmed } from "../executor/balances.ts";
import type { CopyContext } from "../executor/context.ts";
import type { VenueClient, VenueEvent } from "../venue/venue.ts";

/** Queries of an order because of one event, until one shows what the event says. */
const QUERIES_PER_HINT_MAX = 5;

type Deps = {
  readonly context: CopyContext;
  /** Requests beside everything else, at the polls' pace unless a session is given. Never rejects. */
  readonly beside: (
    ask: (context: CopyContext) => Promise<unknown>,
    session?: CopyContext["session"],
  ) => Promise<void>;
  /** What became of an order of the symbol was booked. */
  readonly onBooked: (symbol: string) => void;
  /** Something was found: it is made durable, and there may be something to do. */
  readonly onFound: () => void;
  /** When the account was last polled, wall time, Unix ms. */
  readonly polledAt: () => number;
};

/** An order that an event names: how much of it is executed at least, if that is said. */
type Hint = { readonly executed: bigint | null; readonly queries: number };

export class OrderWatch {
  readonly #deps: Deps;
  /** The account's user data stream: its client, and what ends it. */
  #stream: { readonly client: VenueClient; readonly stop: () => void } | null = null;
  /** By client order id. */
  readonly #hints = new Map<string, Hint>();
  /** Since when events may have been missed, and since when others have traded; null: all of it is known. */
  #missedSince: number | null = null;
  #foreignSince: number | null = null;
  #isEnded = false;
  readonly #querying = new SingleFlight(async () => {
    const { context, beside, onFound } = this.#deps;
    await beside(async (polling) => {
      if (await findUnconfirmed(polling)) onFound();
    });
    // Stops wait for what these say, so they are no polls.
    await beside(async (brief) => {
      if (await bookExpected(brief, context.lastPrices())) onFound();
    }, context.session.briefly(0));
  });
  readonly #hinting = new SingleFlight(() =>
    this.#deps.beside((context) => this.#followHints(context), this.#deps.context.session.briefly(0)),
  );
  readonly #catchingUp = new SingleFlight(() =>
    this.#deps.beside(async (context) => {
      const since = this.#missedSince;
      await bookOpenOrders(context);
      if (this.#missedSince === since) this.#missedSince = null;
      this.#deps.onFound();
    }),
  );

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Whether others have traded in the account since it was last polled. */
  get hasForeign(): boolean {
    return this.#foreignSince !== null && this.#deps.polledAt() <= this.#foreignSince;
  }

  /** Listens to the account exactly while it may be asked. */
  listen(): void {
    const { state, session, gate } = this.#deps.context;
    const mayListen = !this.#isEnded && state.copy.status !== "STOPPED" && !gate.isBlind();
    const client = mayListen ? (session.opened?.client ?? null) : null;
    if (client === (this.#stream?.client ?? null)) return;
    this.#stream?.stop();
    this.#stream = client === null ? null : { client, stop: client.listen((event) => this.#heard(event)) };
  }

  /** Nothing more is heard, and no event is followed. */
  end(): void {
    this.#isEnded = true;
    this.listen();
  }

  /** Queries the venue for orders of which something is to be expected. */
  query(): void {
    const { state, gate } = this.#deps.context;
    const hasNone = state.unconfirmed().length === 0 && state.resting().length === 0;
    this.#startHinting();
    if (hasNone || gate.isBlind()) return;
    void this.#querying.run();
    if (this.#missedSince !== null && this.#deps.polledAt() <= this.#missedSince) void this.#catchingUp.run();
  }

  #heard(event: VenueEvent): void {
    const { state, now } = this.#deps.context;
    if (event.kind === "RESUMED") {
      this.#missedSince = now();
      return;
    }
    const { clientOrderId, change, executed } = event;
    const row = state.byClientOrderId(clientOrderId);
    if (row === undefined) {
      if (change === "EXECUTED") this.#foreignSince = now();
      return;
    }
    if (change === "PLACED" && row.status !== "UNCONFIRMED") return;
    this.#hints.set(clientOrderId, { executed, queries: 0 });
    if (change !== "ENDED") this.#startHinting();
  }

  #startHinting(): void {
    const mayAsk = !this.#isEnded && !this.#deps.context.gate.isBlind();
    if (mayAsk && this.#hints.size > 0) void this.#hinting.run();
  }

  /** Queries orders that events have named, also those of events that come in the meantime. */
  async #followHints(context: CopyContext): Promise<void> {
    const { state } = context;
    const again = new Map<string, Hint>();
    try {
      for (const [id, hint] of this.#hints) {
        const row = state.byClientOrderId(id);
        // What is being sent is queried once its answer is there.
        if (row?.status === "SENT") continue;
        this.#hints.delete(id);
        if (row === undefined || isFulfilled(row, hint)) continue;
        const { queries } = hint;
        if (queries + 1 < QUERIES_PER_HINT_MAX) again.set(id, { ...hint, queries: queries + 1 });
        if (await bookHinted(context, row)) {
          this.#deps.onBooked(row.symbol ?? "");
          this.#deps.onFound();
        }
        if (isFulfilled(state.latest(row), hint)) again.delete(id);
      }
    } finally {
      for (const [id, hint] of again) if (!this.#hints.has(id)) this.#hints.set(id, hint);
    }
  }
}

/** Whether a row shows what an event has said of its order. */
function isFulfilled({ status, executedQuantity }: MirrorEntry, { executed }: Hint): boolean {
  if (status !== "RESTING") return status !== "UNCONFIRMED";
  return executed !== null && executedQuantity >= executed;
}
