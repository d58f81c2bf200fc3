// Where the focus goes when something that was opened over the page is closed: back to what opened it.
import { useRef } from "react";

/** To be called with what closes it, once it is gone: `onCloseAutoFocus` of the library's parts. */
export function useFocusReturn(isOpen: boolean): (event: Event) => void {
  const opener = useRef<Element | null>(null);
  const wasOpen = useRef(false);
  // While it opens, its first field may take the focus before any effect runs; only here is the opener still known.
  if (isOpen && !wasOpen.current) opener.current = openerNow();
  wasOpen.current = isOpen;
  return (event) => {
    event.preventDefault();
    const target = opener.current?.isConnected ? opener.current : document.querySelector("main h1");
    if (target instanceof HTMLElement) target.focus();
  };
}

/** An item of a menu is gone as soon as it was chosen: its menu's button stands for it. */
function openerNow(): Element | null {
  const active = document.activeElement;
  const menu = active?.closest('[role="menu"]');
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : active;
}
