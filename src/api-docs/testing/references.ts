// The references within a document, for tests that follow them.

/** Every `$ref` of a document, at any depth. */
export function referencesOf(document: unknown): string[] {
  if (typeof document !== "object" || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) =>
    name === "$ref" ? [String(value)] : referencesOf(value),
  );
}

/** The value that a reference points to; undefined if there is none. */
export function followed(reference: string, document: unknown): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let place: unknown = document;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    place =
      typeof place === "object" && place !== null
        ? Object.entries(place).find(([key]) => key === name)?.[1]
        : undefined;
  }
  return place;
}
