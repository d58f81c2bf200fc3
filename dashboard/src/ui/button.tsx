import { createLink } from "@tanstack/react-router";
import type { ComponentProps } from "react";

export type ButtonKind = "primary" | "quiet" | "danger";
export type ButtonSize = "normal" | "small";

type ButtonProps = Omit<ComponentProps<"button">, "className"> & {
  kind?: ButtonKind;
  size?: ButtonSize;
  /** While its action is in flight: the button says so, keeps its width and cannot be pressed again. */
  isBusy?: boolean;
};

const KINDS: Record<ButtonKind, string> = {
  primary:
    "border-accent-fill bg-accent-fill text-on-fill hover:border-accent-fill-hover hover:bg-accent-fill-hover",
  quiet: "border-line-strong bg-surface text-ink hover:bg-hover",
  danger:
    "border-danger-fill bg-danger-fill text-on-fill hover:border-danger-fill-hover hover:bg-danger-fill-hover",
};
const SIZES: Record<ButtonSize, string> = {
  normal: "min-h-9 px-3.5 py-1.5 text-base",
  small: "min-h-7 px-2.5 py-0.5 text-sm",
};

/** The classes of a button, for a `<Link className={buttonLook("primary")}>`. */
export function buttonLook(kind: ButtonKind = "quiet", size: ButtonSize = "normal"): string {
  return `inline-flex items-center justify-center gap-2 rounded-md border font-medium transition-colors ${KINDS[kind]} ${SIZES[size]}`;
}

export function Button({
  kind = "quiet",
  size = "normal",
  isBusy = false,
  disabled,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`${buttonLook(kind, size)} disabled:opacity-60`}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
    >
      {isBusy && (
        <span
          aria-hidden="true"
          className="size-3 rounded-full border-2 border-current border-r-transparent motion-safe:animate-spin"
        />
      )}
      {children}
    </button>
  );
}

/** The look of a link within a text or a table. */
export const TEXT_LINK = "font-medium text-accent-ink underline underline-offset-2";

// Links to pages of ours: within a text or a table, and as a button.

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
