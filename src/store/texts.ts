// What a database is asked about as text. No text in PostgreSQL holds a NUL, so it cannot even be asked about one; nothing of
// ours is called so on any store.

/** Whether all of them can be asked about. */
export function areTexts(...asked: readonly string[]): boolean {
  return asked.every((text) => !text.includes("\0"));
}
