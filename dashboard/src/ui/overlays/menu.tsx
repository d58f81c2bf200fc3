// A menu under a button. It is not modal: a modal menu adds a style element, which the server's content
// policy forbids. It is rendered next to its button, so that both are in the same landmark.
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

type MenuProps = {
  /** A button; `ref` and properties are passed on to it. */
  trigger: ReactNode;
  align: "start" | "end";
  children: ReactNode;
};

export function Menu({ trigger, align, children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Content
        align={align}
        sideOffset={4}
        collisionPadding={8}
        className="z-30 min-w-48 whitespace-normal rounded-md border border-line-strong bg-surface p-1 text-left font-normal text-ink text-sm"
      >
        {children}
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  );
}

const ITEM_LOOK =
  "flex min-h-8 w-full items-center rounded-sm px-2.5 py-1 text-left data-highlighted:bg-hover data-highlighted:outline-none";

export function MenuItem({ onSelect, children }: { onSelect: () => void; children: ReactNode }) {
  return (
    <DropdownMenu.Item onSelect={onSelect} className={ITEM_LOOK}>
      {children}
    </DropdownMenu.Item>
  );
}

/** An item that is a link: its only child is a `<Link>`. */
export function MenuLink({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Item asChild className={ITEM_LOOK}>
      {children}
    </DropdownMenu.Item>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <DropdownMenu.Label className="px-2.5 py-1.5 text-ink-soft text-xs">{children}</DropdownMenu.Label>;
}

export function MenuLine() {
  return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}
