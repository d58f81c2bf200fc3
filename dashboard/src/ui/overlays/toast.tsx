// Short messages about something that was done, read out politely. Errors belong beside what failed, not
// here, but for those of the live connection, which has no place. A message goes away by itself after a
// while; the newest few are kept.
import { useSyncExternalStore } from "react";
import { createListeners } from "../listeners.ts";

const SHOWN_MS = 6000;
const TOASTS_MAX = 3;

type Toast = { readonly id: number; readonly text: string };

let toasts: readonly Toast[] = [];
let nextId = 1;
const { subscribe, notify } = createListeners();

/** Says that something was done: "Key revoked". From anywhere. */
export function toast(text: string): void {
  const id = nextId++;
  change([...toasts, { id, text }].slice(-TOASTS_MAX));
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Where they appear; once, in the shell. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-10 left-4 z-50 flex flex-col items-end gap-2"
    >
      {shown.map(({ id, text }) => (
        <div
          key={id}
          className="pointer-events-auto flex max-w-sm items-start gap-3 rounded-md border border-line-strong border-l-4 border-l-accent bg-surface px-3 py-2 text-sm"
        >
          <span className="wrap-anywhere min-w-0">{text}</span>
          <button
            type="button"
            aria-label="Dismiss"
            onClick={() => dismiss(id)}
            className="text-ink-soft hover:text-ink"
          >
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}

function dismiss(id: number): void {
  change(toasts.filter((each) => each.id !== id));
}

function change(next: readonly Toast[]): void {
  toasts = next;
  notify();
}
