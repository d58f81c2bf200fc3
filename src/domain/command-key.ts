// The keys under which commands are remembered, each unique within its strategy.

/** The key of a placement: one client id, one order. */
export function placementKey(clientOrderId: string): string {
  return `order:${clientOrderId}`;
}
