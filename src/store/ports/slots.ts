// The port of slots: which server owns which, by leases in the database and by the database's clock.
// A server holds a lease, and owns slots as long as it is in force. Ownership saves work, and excludes
// nothing: two servers may believe for a moment that they own a slot, and versions and keys decide.

/** A server, as the database has it. Its epoch grows each time that it renews a lease that had expired. */
export type SlotServer = { readonly serverId: string; readonly epoch: number; readonly isLive: boolean };

export type SlotsView = {
  /**
   * Servers whose lease is in force, and those whose lease has expired within the last minute, by their ids.
   */
  readonly servers: readonly SlotServer[];
  /** The slots of this server, each with the epoch of its ownership, which grows with each new owner. */
  readonly own: ReadonlyMap<number, number>;
  /** How many slots have no owner whose lease is in force. */
  readonly free: number;
  /** The database's time, Unix ms. */
  readonly now: number;
};

export type SlotStore = {
  readonly serverId: string;
  /** Joins, or renews the lease for so long from now on, and reads the slots. */
  renew(leaseMs: number): Promise<SlotsView>;
  /**
   * Takes at most so many free slots; none if the own lease has expired. From then on the stored watermarks
   * of this server are no later than those of the slots' last owners. Watermarks that are written before it
   * has resolved are not stored. Returns the own slots.
   */
  take(count: number): Promise<SlotsView["own"]>;
  /** Gives slots back, with the stored watermarks of this server. */
  release(slots: readonly number[]): Promise<void>;
  /** Gives all slots back and ends the lease. */
  leave(): Promise<void>;
};
