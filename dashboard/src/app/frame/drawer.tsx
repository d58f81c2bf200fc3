import { Dialog as Parts } from "radix-ui";
import type { ReactNode } from "react";

type DrawerProps = { isOpen: boolean; onChange: (isOpen: boolean) => void; children: ReactNode };

const isOnLink = (target: EventTarget) => target instanceof Element && target.closest("a") !== null;

/** The navigation of a phone, from the right, and the button that opens it. */
export function Drawer({ isOpen, onChange, children }: DrawerProps) {
  return (
    <Parts.Root open={isOpen} onOpenChange={onChange}>
      <Parts.Trigger className="flex min-h-9 items-center gap-2 rounded-md border border-line-strong px-3 font-medium text-sm">
        <span aria-hidden="true">☰</span> Menu
      </Parts.Trigger>
      <Parts.Portal>
        <div aria-hidden="true" className="fixed inset-0 z-30 bg-veil" />
        <Parts.Content
          aria-describedby={undefined}
          // Also the page that is there already is wanted, without the drawer before it.
          onClick={({ target }) => {
            if (isOnLink(target)) onChange(false);
          }}
          className="fixed inset-y-0 right-0 z-40 flex w-72 max-w-[85vw] flex-col overflow-y-auto border-line border-l bg-sunken"
        >
          <div className="flex h-14 shrink-0 items-center justify-between px-4">
            <Parts.Title className="font-semibold">Menu</Parts.Title>
            <Parts.Close
              aria-label="Close"
              className="size-9 rounded-md text-ink-soft hover:bg-hover hover:text-ink"
            >
              <span aria-hidden="true">✕</span>
            </Parts.Close>
          </div>
          {children}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}
