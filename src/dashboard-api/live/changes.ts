// Notifies the viewers of a strategy which of its parts have changed, without the data: they request what
// they show. A copy is one part, notified in the same way. The first change is notified at once. The changes
// within the next interval are combined, so that a busy strategy causes only a few notifications a second.
import type { Cancel, Timers } from "../../concurrency/time.ts";
import type { DomainEvent } from "../../domain/event.ts";
import type { ChangedPart } from "../schemas/live.ts";
import { CHANGES_TOLD_EVERY_MS } from "./limits.ts";

const PARTS: { readonly [T in DomainEvent["type"]]: readonly ChangedPart[] } = {
  StrategyOpened: ["account"],
  OrderPlaced: ["orders"],
  OrderFilled: ["account", "orders", "trades"],
  OrderRested: ["orders"],
  OrderCanceled: ["orders"],
  OrderTriggered: ["orders"],
  OrderExpired: ["orders"],
  OrderReserveChanged: ["orders"],
  LegPlaced: ["legs"],
  LegArmed: ["legs"],
  LegFired: ["legs"],
  LegCanceled: ["legs"],
  LegExpired: ["legs"],
  LeverageChanged: ["positions"],
  FundingSettled: ["account", "positions"],
  StrategyClosing: ["status"],
  StrategyClosed: ["status"],
  SignalExecuted: ["signals"],
  SignalRejected: ["signals"],
};

/** All parts that commits change: notified when the changed parts are unknown. */
export const ALL_PARTS: readonly ChangedPart[] = [
  "account",
  "orders",
  "legs",
  "positions",
  "trades",
  "signals",
  "status",
];

/** The parts of a strategy that events have changed. */
export function partsOf(events: readonly DomainEvent[]): readonly ChangedPart[] {
  const parts = new Set<ChangedPart>();
  for (const event of events) {
    for (const part of PARTS[event.type]) parts.add(part);
    if (event.postings.length > 0) parts.add("account");
    if (event.type === "OrderFilled" && event.position !== undefined) parts.add("positions");
  }
  return [...parts];
}

type Coming<Part> = { readonly cancel: Cancel; readonly parts: Set<Part> };

export class Changes<Part = ChangedPart> {
  readonly #timers: Timers;
  readonly #tell: (id: string, parts: readonly Part[]) => void;
  /** By strategy or copy id: the pending parts, while the last notification is less than an interval old. */
  readonly #coming = new Map<string, Coming<Part>>();

  constructor(parts: {
    readonly timers: Timers;
    readonly tell: (id: string, parts: readonly Part[]) => void;
  }) {
    this.#timers = parts.timers;
    this.#tell = parts.tell;
  }

  note(id: string, parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const coming = this.#coming.get(id);
    if (coming === undefined) this.#tellNow(id, parts);
    else for (const part of parts) coming.parts.add(part);
  }

  close(): void {
    for (const { cancel } of this.#coming.values()) cancel();
    this.#coming.clear();
  }

  #tellNow(id: string, parts: readonly Part[]): void {
    const cancel = this.#timers.after(CHANGES_TOLD_EVERY_MS, () => {
      const { parts: come = [] } = this.#coming.get(id) ?? {};
      this.#coming.delete(id);
      this.note(id, [...come]);
    });
    this.#coming.set(id, { cancel, parts: new Set() });
    this.#tell(id, parts);
  }
}
