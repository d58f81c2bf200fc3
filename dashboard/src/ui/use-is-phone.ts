import { useSyncExternalStore } from "react";

const narrow = window.matchMedia("(width < 48rem)");

/** Whether the window is as narrow as a phone, for what can't be said in CSS alone. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}
