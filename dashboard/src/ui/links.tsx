// Links to pages of ours: within a text or a table, and as a button.
import { createLink } from "@tanstack/react-router";
import type { ComponentProps } from "react";
import { type ButtonKind, type ButtonSize, buttonLook, TEXT_LINK } from "./button.tsx";

type AnchorProps = Omit<ComponentProps<"a">, "className">;

export const TextLink = createLink(({ children, ...anchor }: AnchorProps) => (
  <a {...anchor} className={TEXT_LINK}>
    {children}
  </a>
));

type ButtonLinkProps = AnchorProps & { kind?: ButtonKind; size?: ButtonSize };

/** A link that leads to something to be done; unlike buttons it is the main one if nothing else is said. */
export const ButtonLink = createLink(({ kind = "primary", size, children, ...anchor }: ButtonLinkProps) => (
  <a {...anchor} className={buttonLook(kind, size)}>
    {children}
  </a>
));
