// A decision that takes several steps, each of which depends on the one before: the account as it would be
// after the steps so far, and their events. The account that it was begun with is not touched.
import type { Account } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Order } from "../domain/order.ts";
import { apply } from "./apply.ts";

export class Draft {
  #account: Account;
  readonly #events: DomainEvent[] = [];

  constructor(account: Account) {
    this.#account = account;
  }

  /** The account after the events so far. Read it, never write it. */
  get account(): Account {
    return this.#account;
  }

  get events(): readonly DomainEvent[] {
    return this.#events;
  }

  /** An order that is open after the events so far. Throws if there is none. */
  openOrder(orderId: number): Order {
    const order = this.#account.openOrders.get(orderId);
    if (order === undefined) throw new Error(`an order is open until its last event: ${orderId}`);
    return order;
  }

  /** Takes the next step. */
  add(event: DomainEvent): void {
    // Most refusals come before the first event: only from there on is there anything to copy for.
    if (this.#events.length === 0) this.#account = copyOf(this.#account);
    apply(this.#account, event);
    this.#events.push(event);
  }
}

/** Copies what `apply` changes in place; `apply` replaces everything else. */
function copyOf(account: Account): Account {
  return {
    ...account,
    balances: new Map([...account.balances].map(([asset, ledgerAccounts]) => [asset, { ...ledgerAccounts }])),
    openOrders: new Map(account.openOrders),
  };
}
