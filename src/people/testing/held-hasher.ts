// A hasher for tests of what happens during the check of a password.

export type HeldHasher = ReturnType<typeof heldHasher>;

/** Stores passwords, not hashes. A test can delay the result of a check. */
export function heldHasher() {
  let isHeld = false;
  let reached = Promise.withResolvers<void>();
  let goes = Promise.withResolvers<void>();
  return {
    holdNext() {
      isHeld = true;
      reached = Promise.withResolvers();
      goes = Promise.withResolvers();
    },
    reached: () => reached.promise,
    letGo: () => goes.resolve(),
    hash: async (password: string) => encodeURIComponent(password),
    async verify(hashed: string, password: string) {
      if (isHeld) {
        isHeld = false;
        reached.resolve();
        await goes.promise;
      }
      return hashed === encodeURIComponent(password);
    },
  };
}
