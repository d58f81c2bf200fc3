// A hasher for tests of what happens while a password is being compared.

export type HeldHasher = ReturnType<typeof heldHasher>;

/** Keeps passwords, not hashes; a comparison can be held back after it was made. */
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
