// One after another under one name: whoever comes begins when who came before has ended, however that ended. Other names do
// not wait, and a name that nobody waits for is forgotten.

export class Turns {
  /** Of the last one who came under each name; never rejects. */
  readonly #ends = new Map<string, Promise<void>>();

  /** What the task answers, once it had its turn. */
  async take<Answer>(name: string, task: () => Promise<Answer>): Promise<Answer> {
    const before = this.#ends.get(name);
    const { promise: end, resolve: endTurn } = Promise.withResolvers<void>();
    this.#ends.set(name, end);
    await before;
    try {
      return await task();
    } finally {
      endTurn();
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    }
  }
}
