// After a navigation the focus moves to the new page's heading, so that a screen reader announces the page.
import type { AnyRouter } from "@tanstack/react-router";

/** A page may load before it has a heading; after so long it is left alone. */
const HEADING_WAIT_MS = 5_000;

export function focusHeadings(router: AnyRouter): void {
  let stopWaiting = () => {};
  router.subscribe("onResolved", ({ pathChanged, fromLocation }) => {
    if (!pathChanged || fromLocation === undefined) return;
    stopWaiting();
    if (focusHeading()) return;
    const observer = new MutationObserver(() => {
      if (focusHeading()) stopWaiting();
    });
    const timer = setTimeout(() => stopWaiting(), HEADING_WAIT_MS);
    stopWaiting = () => {
      observer.disconnect();
      clearTimeout(timer);
    };
    observer.observe(document.body, { childList: true, subtree: true });
  });
}

/** Also to be called where a page becomes another without a navigation: what had the focus is gone then. */
export function focusHeading(): boolean {
  const heading = document.querySelector<HTMLElement>("main h1");
  heading?.focus({ preventScroll: true });
  return heading !== null;
}
