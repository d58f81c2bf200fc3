// Small labels. What a color says, the word says too.
import type { ReactNode } from "react";
import { durationInWords } from "./figures/duration.ts";
import { useNow } from "./hooks.ts";

export type Tone = "neutral" | "accent" | "gain" | "loss" | "warn";

const TONES: Record<Tone, string> = {
  neutral: "bg-sunken text-ink-soft border-line",
  accent: "bg-accent-soft text-accent-ink border-transparent",
  gain: "bg-gain-soft text-gain border-transparent",
  loss: "bg-loss-soft text-loss border-transparent",
  warn: "bg-warn-soft text-warn border-transparent",
};

/**
 * Of every status that the server names: strategies, orders, signals, identity checks, keys, copies, exchange
 * accounts.
 */
const STATUS_TONES: Readonly<Record<string, Tone>> = {
  LIVE: "gain",
  CLOSING: "warn",
  CLOSED: "neutral",
  NEW: "accent",
  PARTIALLY_FILLED: "accent",
  FILLED: "gain",
  CANCELED: "neutral",
  EXPIRED: "warn",
  REJECTED: "loss",
  RECEIVED: "accent",
  EXECUTED: "gain",
  FAILED: "warn",
  NONE: "neutral",
  PENDING: "warn",
  APPROVED: "gain",
  ACTIVE: "gain",
  REVOKED: "neutral",
  FOLLOWING: "gain",
  PAUSED: "warn",
  STOPPED: "neutral",
  RESTING: "accent",
  DONE: "neutral",
  SKIPPED: "warn",
  LEFT: "warn",
  CONNECTED: "gain",
  DISCONNECTED: "neutral",
};

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 whitespace-nowrap rounded-sm border px-1.5 py-px font-medium text-xs ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

/** LIVE is the status of a strategy that takes orders: as a word, "live" is what the connection is. */
const STATUS_WORDS: Readonly<Record<string, string>> = { LIVE: "Open" };

/** A status by the name that the wire has for it, in words: PARTIALLY_FILLED is "Partially filled". */
export function StatusBadge({ status, label }: { status: string; label?: string }) {
  return (
    <Badge tone={STATUS_TONES[status] ?? "neutral"}>
      <span aria-hidden="true" className="size-1.5 bg-current" />
      {label ?? STATUS_WORDS[status] ?? inWords(status)}
    </Badge>
  );
}

/** TAKE_PROFIT is "Take profit". */
export function inWords(name: string): string {
  const words = name.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Buy or sell; what the color says, the word says too. */
export function Side({ side }: { side: "BUY" | "SELL" }) {
  return side === "BUY" ? (
    <span className="font-medium text-gain">Buy</span>
  ) : (
    <span className="font-medium text-loss">Sell</span>
  );
}

type StaleBadgeProps = {
  /**
   * Since when nothing was heard, Unix ms by this browser's clock; null while it is fresh, and then nothing
   * shows.
   */
  since: number | null;
};

/** "Stale for 12 s", counting. */
export function StaleBadge({ since }: StaleBadgeProps) {
  if (since === null) return null;
  return (
    <Badge tone="warn">
      <span aria-hidden="true">◌</span>
      <span>
        stale for <Age since={since} />
      </span>
    </Badge>
  );
}

/** How long ago, counting. */
export function Age({ since }: { since: number }) {
  const now = useNow();
  return <span className="numeric">{durationInWords((now - since) / 1_000)}</span>;
}

/** Where there is nothing to be shown: a dash, which is read out as a word. */
export function Missing() {
  return (
    <span className="text-ink-soft">
      <span aria-hidden="true">–</span>
      <span className="sr-only">none</span>
    </span>
  );
}
