import { Tooltip as Parts } from "radix-ui";
import type { ReactNode } from "react";

type TooltipProps = {
  /** A few words more; nothing that one can't do without, since a touch screen shows none. */
  text: ReactNode;
  /** One thing that can be focused: a button or a link. */
  children: ReactNode;
};

export function Tooltip({ text, children }: TooltipProps) {
  return (
    <Parts.Provider delayDuration={300}>
      <Parts.Root>
        <Parts.Trigger asChild>{children}</Parts.Trigger>
        <Parts.Content
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-w-xs rounded-md border border-line-strong bg-surface px-2 py-1 text-ink text-sm"
        >
          {text}
        </Parts.Content>
      </Parts.Root>
    </Parts.Provider>
  );
}
