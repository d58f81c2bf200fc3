import type { ReactNode } from "react";

type NoteProps = { tone?: "accent" | "warn" | "gain"; title?: string; children?: ReactNode };

const TONES = {
  accent: "border-accent bg-accent-soft",
  warn: "border-warn bg-warn-soft",
  gain: "border-gain bg-gain-soft",
} as const;

/** Something to know that is no error. */
export function Note({ tone = "accent", title, children }: NoteProps) {
  return (
    <div className={`rounded-md border border-l-4 px-4 py-3 ${TONES[tone]}`}>
      {title !== undefined && <p className="font-semibold">{title}</p>}
      {children}
    </div>
  );
}
