// What a single decision about legs must be, by rules that are written down a second time.
// Source: specification 4.2; design, section 6 (futures margin).
import type { Leg } from "../../../src/domain/leg.ts";
import type { Decided } from "./oracle.ts";

type Trigger = Pick<Leg, "side" | "type" | "triggerPrice">;

export function checkLegs(decided: Decided): void {
  const { command, events, account } = decided;
  if (command?.type === "TriggerLeg") checkFiring(command.legId, command.seen, decided);
  if (command?.type === "PlaceLeg" || command?.type === "PlaceOrder") checkTriggers(decided);
  checkAttached(decided);
  const placed = events.flatMap((event) => (event.type === "LegPlaced" ? [event.leg.legId] : []));
  for (const event of events) {
    if (event.type !== "LegExpired") continue;
    // Under `strict` an entry may be over at once without having opened anything.
    const isOfEntry = event.reason === "ENTRY_EXPIRED" || event.reason === "ENTRY_ONLY_REDUCED";
    const mayEndAtOnce = account.profile.strict !== null && isOfEntry;
    if (placed.includes(event.legId) && !mayEndAtOnce)
      throw new Error(`no leg is placed that closes nothing: ${event.legId}`);
    // The order of a leg that has fired ends own entries that it reaches, and with them their legs.
    const isOfEnded = account.profile.strict !== null && event.reason === "ENTRY_EXPIRED";
    if (events.some(({ type }) => type === "LegFired") && !isOfEnded)
      throw new Error(`the sibling of a leg that has fired is cancelled: ${event.legId}`);
  }
}

/**
 * Every leg that an order asks for has a row in its commit; one that ends with its entry's fill says rightly
 * why.
 */
function checkAttached({ command, events, legs, orders, account }: Decided): void {
  for (const event of events) {
    if (event.type === "OrderPlaced" && command?.type === "PlaceOrder") {
      const { orderId, legs: named = [] } = event.order;
      const { takeProfitPrice = null, stopLossPrice = null } = command.entry?.attached ?? {};
      const wanted = [takeProfitPrice, stopLossPrice].filter((price) => price !== null);
      const rows = named.flatMap(({ legId }) => legs.find((leg) => leg.legId === legId) ?? []);
      if (named.length !== wanted.length || rows.length !== wanted.length)
        throw new Error(`every leg that was asked for has a row: order ${orderId}`);
      // Under `strict` it waits for the first fill that opens something.
      const isStrict = account.profile.strict !== null;
      const isFilled = orders.some((order) => order.orderId === orderId && order.status === "FILLED");
      if (!isStrict && rows.some(({ status }) => status !== (isFilled ? "NEW" : "PENDING")))
        throw new Error(`a leg waits for its entry as long as that rests: order ${orderId}`);
    }
    if (event.type !== "LegExpired") continue;
    const leg = legs.find(({ legId }) => legId === event.legId);
    // A trade may fill other orders of the symbol after the entry.
    const filled = events.findLast(
      (each) => each.type === "OrderFilled" && each.trade.orderId === leg?.entryId,
    );
    const held = leg && account.positions.get(leg.symbol);
    const position = filled?.type === "OrderFilled" ? filled.position : held;
    const isCovered = [...account.openLegs.values()].some(
      ({ status, symbol, side, type }) =>
        status === "NEW" && symbol === leg?.symbol && side === leg.side && type === leg.type,
    );
    if (event.reason === "LEG_EXISTS" && !isCovered)
      throw new Error(`a leg gives way to one that waits for the mark price: ${event.legId}`);
    if (
      event.reason === "ENTRY_ONLY_REDUCED" &&
      leg &&
      position &&
      position.quantity > 0n === (leg.side === "SELL")
    )
      throw new Error(`a leg of what an entry has opened is armed: ${event.legId}`);
  }
}

/** A mark price fires just the legs that it reaches, wherever there is somebody to trade with. */
function checkFiring(legId: number, mark: bigint, { legs, refusal, account, market }: Decided): void {
  const leg = legs.find((each) => each.legId === legId) ?? account.openLegs.get(legId);
  if (leg === undefined || leg.status === "PENDING") return;
  const isRefused = refusal?.refusal === "NOTHING_TO_FILL";
  if (leg.status === "FINISHED" && !isReached(leg, mark))
    throw new Error(`nobody fires a leg that is not reached: ${legId}`);
  if (isRefused && isReached(leg, mark) && market.rules(leg.symbol)?.status === "TRADING")
    throw new Error(`a leg that is reached fires: ${legId} at ${mark}`);
}

/**
 * No leg is taken that would fire at once: by the mark price, or, with an entry that has a limit, by that,
 * and by the mark price too where the entry is filled on arrival.
 */
function checkTriggers({ command, events, market }: Decided): void {
  if (events.length === 0) return;
  if (command?.type === "PlaceLeg") {
    const mark = market.markPrice(command.symbol);
    if (mark === null || isReached({ ...command, type: command.legType }, mark))
      throw new Error(`no leg is taken that is reached already: ${command.clientLegId}`);
  }
  if (command?.type !== "PlaceOrder" || !command.entry?.attached) return;
  const { takeProfitPrice, stopLossPrice } = command.entry.attached;
  const mark = market.markPrice(command.symbol);
  const isFilled = events.some(({ type }) => type === "OrderFilled");
  const prices = isFilled ? [mark, command.price ?? mark] : [command.price ?? mark];
  const side = command.side === "BUY" ? "SELL" : "BUY";
  for (const [type, triggerPrice] of [
    ["TAKE_PROFIT_MARKET", takeProfitPrice],
    ["STOP_MARKET", stopLossPrice],
  ] as const) {
    if (triggerPrice === null) continue;
    if (prices.some((price) => price === null || isReached({ side, type, triggerPrice }, price)))
      throw new Error(`no entry brings a leg that is reached already: ${command.clientOrderId}`);
  }
}

function isReached({ side, type, triggerPrice }: Trigger, mark: bigint): boolean {
  const isLong = side === "SELL";
  const losing = isLong ? mark <= triggerPrice : mark >= triggerPrice;
  const winning = isLong ? mark >= triggerPrice : mark <= triggerPrice;
  return type === "STOP_MARKET" ? losing : winning;
}
