/** Where there is nothing to be shown: a dash, which is read out as a word. */
export function Missing() {
  return (
    <span className="text-ink-soft">
      <span aria-hidden="true">–</span>
      <span className="sr-only">none</span>
    </span>
  );
}
