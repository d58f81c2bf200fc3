// Chance: what follows from a source of numbers in [0, 1).

export function happens(random: () => number, probability: number): boolean {
  return random() < probability;
}

/** One of several; undefined of none. */
export function pick<T>(random: () => number, choices: readonly T[]): T | undefined {
  return choices[Math.floor(random() * choices.length)];
}
