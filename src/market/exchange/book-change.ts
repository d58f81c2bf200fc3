/** What changed in a book over a span of time, for streams of changes. */
import type { Book, BookChange, Level } from "./source.ts";

/**
 * The change from the first of these states to the last. It has every level that differed in any state
 * between them, as it stands at the end: a client that begins with a state in the middle must get these too.
 * Undefined when nothing changed.
 */
export function changeAcross(states: readonly Book[]): BookChange | undefined {
  const [first] = states;
  const last = states.at(-1);
  if (!first || !last || last.updateId <= first.updateId) return undefined;
  return {
    previousUpdateId: first.updateId,
    updateId: last.updateId,
    at: last.at,
    bids: changedLevels(states.map(({ bids }) => bids)),
    asks: changedLevels(states.map(({ asks }) => asks)),
  };
}

// In the order of their first change; a level that is gone has the quantity zero.
function changedLevels(states: readonly (readonly Level[])[]): readonly Level[] {
  const touched = new Map<string, string>();
  let before = new Map(states[0]);
  for (const levels of states.slice(1)) {
    const after = new Map(levels);
    for (const [price, quantity] of levels) if (before.get(price) !== quantity) touched.set(price, quantity);
    for (const [price, quantity] of before) {
      if (!after.has(price)) touched.set(price, quantity.replace(/[1-9]/g, "0"));
    }
    before = after;
  }
  return [...touched];
}
