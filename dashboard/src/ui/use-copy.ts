// Copies a text and says for a moment how it went.
import { useEffect, useState } from "react";

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

/** The clipboard belongs to secure pages; on plain HTTP the old command takes its place, if the browser still has it. */
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
