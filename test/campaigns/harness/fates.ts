// Chances of faults, drawn.

/** Out of a hundred. */
export type Chances<Fate extends string> = readonly (readonly [fate: Fate, chance: number])[];

/** The fate that a number in [0, 1) means; null for none, which the rest of a hundred is. */
export function drawFate<Fate extends string>(chances: Chances<Fate>, draw: () => number): Fate | null {
  let drawn = draw() * 100;
  for (const [fate, chance] of chances) {
    if (drawn < chance) return fate;
    drawn -= chance;
  }
  return null;
}
