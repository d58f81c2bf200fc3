// Brings an order, a leg or a cancel to a certain outcome, exactly once.
//
//   ┌─▶ may it still be sent? ─ no ─▶ NOT_SENT
//   │      │ yes
//   │      ▼
//   │    sent ─ taken, refused, key rejected ─▶ that is the outcome
//   │      │ unknown, or "used before"
//   │      ▼
//   └── asked for by its client id ─ found ─▶ PLACED
//    not found, and too old to be carried out any more
//
// What is not found may be on its way still: for RECV_WINDOW_MS after it was signed the venue would carry it out. When that was, only
// the client knows, which may let a request wait; it was before the answer came back, so the window is counted from there. Only
// once it is over, with a margin, the request is known not to have been carried out, and is sent again under the same id. What
// the venue's limits delay is waited for. Undecided is only what its sender is no longer entitled to go on with; whoever takes
// over begins by asking for it.
// Source: specification 1 (copiers); design, section 6 (copiers).
import type { Skip } from "../../domain/copying.ts";
import { RECV_WINDOW_MS } from "./signed-rest.ts";
import { Stuck, type StuckParts } from "./stuck.ts";
import type {
  VenueAnswer,
  VenueClient,
  VenueDelay,
  VenueLeg,
  VenueOrder,
  VenueOrderState,
  VenueRefusal,
  VenueRejection,
  VenueSilence,
} from "./venue.ts";

/** What the venue's clock may be misjudged by, and what it may take to show what it has carried out, ms. */
const NOT_FOUND_MARGIN_MS = 1_500;
/** So long after its attempt ended a request that is not found has not been carried out, and will not be. */
export const NOT_FOUND_AFTER_MS = RECV_WINDOW_MS + NOT_FOUND_MARGIN_MS;
/** Between questions that were not answered, ms: doubled each time. */
export const RETRY_MS_MIN = 100;
export const RETRY_MS_MAX = 2_000;
/** What is still open although it was cancelled is looked at again after this, ms. */
const STILL_OPEN_MS = 500;
/** A longer wait is taken in parts, ms, so that it ends soon after it has become pointless. */
export const PAUSE_MS_MAX = 1_000;

/** What is needed to go on until an outcome is certain. */
export type Deliverer = StuckParts & {
  readonly client: VenueClient;
  /** Asked before everything that is sent: whether the sender is still entitled to. Once it is not, nothing is sent any more. */
  readonly mayRun: () => boolean;
  /** Asked before each send: why there should be none any more, null if there may. Obeyed once nothing can have been carried out. */
  readonly mayStillSend: () => Skip | null;
  /** Resolves after so many ms, or sooner if `mayRun` has become false. */
  readonly pause: (ms: number) => Promise<void>;
};

export type Delivery = Deliverer & {
  readonly what:
    | { readonly kind: "ORDER"; readonly order: VenueOrder }
    | { readonly kind: "LEG"; readonly leg: VenueLeg };
  /**
   * The last moment at which somebody may have sent it before, wall time, Unix ms; null if nobody has. After a start or a
   * takeover: the moment of that, since whoever was before had stopped by then.
   */
  readonly mayHaveBeenSentAt: number | null;
};

export type Cancellation = Deliverer & {
  readonly kind: "ORDER" | "LEG";
  readonly symbol: string;
  readonly clientOrderId: string;
};

/** How often it was sent and asked for, when it was first sent, and when the outcome was known; wall time, Unix ms. */
export type Counts = {
  readonly sends: number;
  readonly queries: number;
  readonly sentAt: number | null;
  readonly acknowledgedAt: number | null;
};

/** REJECTED: the key is not accepted; `mayHaveExecuted` if an earlier send may still have been carried out. */
type Rejected = VenueRejection & { readonly mayHaveExecuted: boolean };
type Undecided = { readonly kind: "NOT_DECIDED" };
type NotSent = { readonly kind: "NOT_SENT"; readonly skip: Skip };

export type Delivered = Counts &
  (
    | { readonly kind: "PLACED"; readonly state: VenueOrderState }
    | VenueRefusal
    | Rejected
    | NotSent
    | Undecided
  );

/** OVER: it is not open any more; its state, or null if the venue does not know it. NOT_SENT: it may still be open. */
export type Canceled = Counts &
  (
    | { readonly kind: "OVER"; readonly state: VenueOrderState | null }
    | VenueRefusal
    | Rejected
    | NotSent
    | Undecided
  );

/** Places an order or a leg, once. Rejects only if the client does. */
export async function deliver(delivery: Delivery): Promise<Delivered> {
  const { what, mayHaveBeenSentAt, client, wallNow } = delivery;
  const going = new Going(delivery);
  const place = () => (what.kind === "ORDER" ? client.place(what.order) : client.placeLeg(what.leg));
  const { symbol, clientOrderId } = what.kind === "ORDER" ? what.order : what.leg;
  /** When the last attempt of whomever ended, while it is not known what became of that. */
  let openSince = mayHaveBeenSentAt;
  let lastRefusal: VenueRefusal | null = null;

  while (delivery.mayRun()) {
    if (openSince !== null) {
      const found = await going.query(what.kind, symbol, clientOrderId);
      if (found.kind === "REJECTED") return going.over({ ...found, mayHaveExecuted: true });
      if (found.kind !== "OK") {
        await going.waitAfter(found);
        continue;
      }
      if (found.value !== null) return going.over({ kind: "PLACED", state: found.value });
      const leftMs = openSince + NOT_FOUND_AFTER_MS - wallNow();
      if (leftMs > 0) await going.wait(leftMs);
      else if (lastRefusal !== null) return going.over(lastRefusal);
      else openSince = null;
      continue;
    }

    const skip = delivery.mayStillSend();
    if (skip !== null) return going.over({ kind: "NOT_SENT", skip });
    const answer = await going.send(place);
    if (answer.kind === "OK") return going.over({ kind: "PLACED", state: answer.value });
    if (answer.kind === "REJECTED") return going.over({ ...answer, mayHaveExecuted: false });
    if (answer.kind === "REFUSED") {
      const usedBefore = usedBeforeBy(answer);
      if (usedBefore === "NOBODY") return going.over(answer);
      // What is there may be ours. An id that nothing is found under cannot be used all the same.
      lastRefusal = answer;
      openSince = usedBefore === "THIS_ID" ? wallNow() : Number.NEGATIVE_INFINITY;
      continue;
    }
    if (answer.kind === "UNKNOWN") openSince = wallNow();
    await going.waitAfter(answer);
  }
  return going.undecided();
}

/** Takes an order or a leg back, or learns how it ended. Rejects only if the client does. */
export async function cancelSurely(cancellation: Cancellation): Promise<Canceled> {
  const { kind, symbol, clientOrderId, client, wallNow } = cancellation;
  const going = new Going(cancellation);
  const cancel = () =>
    kind === "ORDER" ? client.cancel(symbol, clientOrderId) : client.cancelLeg(symbol, clientOrderId);
  let openSince: number | null = null;

  while (cancellation.mayRun()) {
    const skip = cancellation.mayStillSend();
    if (skip === null) {
      const answer = await going.send(cancel);
      if (answer.kind === "REJECTED") return going.over({ ...answer, mayHaveExecuted: openSince !== null });
      if (answer.kind === "REFUSED") return going.over(answer);
      if (answer.kind === "OK" && answer.value !== null && answer.value.status !== "RESTING") {
        return going.over({ kind: "OVER", state: answer.value });
      }
      if (answer.kind === "UNKNOWN") openSince = wallNow();
      if (answer.kind !== "OK") {
        // A second cancel does no harm.
        await going.waitAfter(answer);
        continue;
      }
    } else if (openSince === null) {
      return going.over({ kind: "NOT_SENT", skip });
    }
    const found = await going.query(kind, symbol, clientOrderId);
    if (found.kind === "REJECTED") return going.over({ ...found, mayHaveExecuted: openSince !== null });
    if (found.kind !== "OK") {
      await going.waitAfter(found);
      continue;
    }
    if (found.value?.status !== "RESTING") return going.over({ kind: "OVER", state: found.value });
    // It is being triggered, or what was sent is on its way still.
    if (skip !== null && openSince !== null && wallNow() - openSince > NOT_FOUND_AFTER_MS) openSince = null;
    else await going.wait(STILL_OPEN_MS);
  }
  return going.undecided();
}

/** "Duplicate order sent.", "clientOrderId is duplicated"; and "An open stop … is existing", which may be this one. */
function usedBeforeBy({ code, message }: VenueRefusal): "THIS_ID" | "ONE_LIKE_IT" | "NOBODY" {
  if (code === -4116 || (code === -2010 && /duplicate/i.test(message))) return "THIS_ID";
  return code === -4130 ? "ONE_LIKE_IT" : "NOBODY";
}

/** Sends and asks, counts both, and waits in between. */
class Going {
  readonly #deliverer: Deliverer;
  #sends = 0;
  #queries = 0;
  #sentAt: number | null = null;
  #retryMs = RETRY_MS_MIN;
  readonly #stuck: Stuck;

  constructor(deliverer: Deliverer) {
    this.#deliverer = deliverer;
    this.#stuck = new Stuck(deliverer);
  }

  /** What the venue's limits or the network kept back was not sent. */
  async send<Value>(attempt: () => Promise<VenueAnswer<Value>>): Promise<VenueAnswer<Value>> {
    const at = this.#deliverer.wallNow();
    const answer = await attempt();
    this.#stuck.note(answer);
    if (answer.kind !== "DELAYED") {
      this.#sends += 1;
      this.#sentAt ??= at;
    }
    return answer;
  }

  async query(
    kind: "ORDER" | "LEG",
    symbol: string,
    clientOrderId: string,
  ): Promise<VenueAnswer<VenueOrderState | null>> {
    const { client } = this.#deliverer;
    const answer = await (kind === "ORDER"
      ? client.find(symbol, clientOrderId)
      : client.findLeg(symbol, clientOrderId));
    this.#stuck.note(answer);
    if (answer.kind !== "DELAYED") this.#queries += 1;
    if (answer.kind === "OK") this.#retryMs = RETRY_MS_MIN;
    return answer;
  }

  /** As long as the venue has said; longer each time if it says nothing. */
  async waitAfter(answer: VenueDelay | VenueSilence | VenueRefusal): Promise<void> {
    const { wallNow } = this.#deliverer;
    const saidMs = answer.kind === "DELAYED" ? answer.until - wallNow() : 0;
    await this.wait(Math.max(saidMs, this.#retryMs));
    if (saidMs <= 0) this.#retryMs = Math.min(RETRY_MS_MAX, this.#retryMs * 2);
  }

  async wait(ms: number): Promise<void> {
    const { mayRun, wallNow, pause } = this.#deliverer;
    const until = wallNow() + ms;
    for (let leftMs = ms; leftMs > 0 && mayRun(); leftMs = until - wallNow()) {
      await pause(Math.min(leftMs, PAUSE_MS_MAX));
    }
  }

  over<Outcome>(outcome: Outcome): Outcome & Counts {
    return { ...outcome, ...this.#counts(), acknowledgedAt: this.#deliverer.wallNow() };
  }

  undecided(): Undecided & Counts {
    return { kind: "NOT_DECIDED", ...this.#counts(), acknowledgedAt: null };
  }

  #counts() {
    return { sends: this.#sends, queries: this.#queries, sentAt: this.#sentAt };
  }
}
