// A question or a form above the page: traps the focus, closes with Escape, gives the focus back. Its veil is
// our own: the library's would add a style element, which the server's content policy forbids.
import { Dialog as Parts } from "radix-ui";
import type { ReactNode } from "react";
import { useFocusReturn } from "../hooks.ts";

type DialogProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** One sentence on what it is for. */
  description?: ReactNode;
  /**
   * While it must not be closed by accident, neither by Escape nor by a click beside it: a secret that is
   * shown once.
   */
  isHeld?: boolean;
  /** Something to read, whose first button may stand far below: the focus then begins at its top. */
  isRead?: boolean;
  children: ReactNode;
};

export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  isHeld = false,
  isRead = false,
  children,
}: DialogProps) {
  const returnFocus = useFocusReturn(isOpen);
  return (
    <Parts.Root open={isOpen} onOpenChange={(isOpening) => !isOpening && !isHeld && onClose()}>
      <Parts.Portal>
        <div aria-hidden="true" className="fixed inset-0 z-40 bg-veil" />
        <Parts.Content
          onCloseAutoFocus={returnFocus}
          onOpenAutoFocus={isRead ? focusTop : undefined}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
          className="fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line-strong bg-surface p-5"
        >
          <Parts.Title className="pr-8 font-semibold text-lg">{title}</Parts.Title>
          {description !== undefined && (
            <Parts.Description className="mt-1 text-ink-soft">{description}</Parts.Description>
          )}
          <div className="mt-4 flex flex-col gap-4">{children}</div>
          {!isHeld && (
            <Parts.Close
              aria-label="Close"
              className="absolute top-3 right-3 size-8 rounded-md text-ink-soft hover:bg-hover hover:text-ink"
            >
              <span aria-hidden="true">✕</span>
            </Parts.Close>
          )}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}

function focusTop(event: Event): void {
  event.preventDefault();
  if (event.target instanceof HTMLElement) event.target.focus();
}

/** The row of buttons at a dialog's end; the one that does it comes last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2 border-line border-t pt-4">{children}</div>;
}
