// Hooks that several components use.
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

const TICK_MS = 1_000;

/** This browser's clock, Unix ms, every second. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/**
 * The value as it is once it has stayed the same for so long: for what is asked while somebody types. The
 * first counts at once.
 */
export function useSettled<Value>(value: Value, ms: number): readonly [value: Value, isSettling: boolean] {
  const name = JSON.stringify(value);
  const [settled, setSettled] = useState({ name, value });
  useEffect(() => {
    if (name === settled.name) return;
    const timer = setTimeout(() => setSettled({ name, value: JSON.parse(name) as Value }), ms);
    return () => clearTimeout(timer);
  }, [name, ms, settled.name]);
  return [settled.value, name !== settled.name];
}

/** Answers whether the component is still there, for what is done when an answer comes. */
export function useIsShown(): () => boolean {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return () => isShown.current;
}

/** Whether the window is as narrow as a phone, for what can't be said in CSS alone. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribeToWidth, () => narrowWindow().matches);
}

function subscribeToWidth(listener: () => void): () => void {
  const narrow = narrowWindow();
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

function narrowWindow(): MediaQueryList {
  return window.matchMedia("(width < 48rem)");
}

/**
 * Gives the focus back to what opened something over the page, once that is closed. To be called with what
 * closes it: `onCloseAutoFocus` of the library's parts.
 */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null);
  const wasOpen = useRef(false);
  // While it opens, its first field may take the focus before any effect runs; only here is the opener still
  // known.
  if (isOpen && !wasOpen.current) opener.current = openerNow();
  wasOpen.current = isOpen;
  return (event) => {
    event.preventDefault();
    const target = opener.current?.isConnected ? opener.current : document.querySelector("main h1");
    if (target instanceof HTMLElement) target.focus();
  };
}

/** The focused element. A menu item disappears once it is chosen, so its menu's button is used instead. */
function openerNow(): Element | null {
  const active = document.activeElement;
  const menu = active?.closest('[role="menu"]');
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : active;
}

// Copies a text and says for a moment how it went.

const FEEDBACK_MS = 2000;

export type CopyOutcome = "copied" | "failed" | null;

export function useCopy(text: string): { outcome: CopyOutcome; copy: () => void } {
  const [outcome, setOutcome] = useState<CopyOutcome>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () => {
    copyText(text).then(
      () => setOutcome("copied"),
      () => setOutcome("failed"),
    );
  };
  return { outcome, copy };
}

/**
 * The clipboard belongs to secure pages; on plain HTTP the old command takes its place, if the browser still
 * has it.
 */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill);
  try {
    if (!document.execCommand("copy")) throw new Error("this page has no clipboard");
  } finally {
    document.removeEventListener("copy", fill);
  }
}
