// The steps with their states in words and signs; the next one has the page's main button.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SwitchProfileButton } from "../../profile/switch-profile-dialog.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { type ButtonKind, buttonLook } from "../../ui/button.tsx";
import type { Step, StepState } from "./journey.ts";

type StepListProps = {
  steps: readonly Step[];
  next: Step | null;
  /** Where a first order is sent to, and the lines for it are; null while there is none. */
  firstStrategyId?: string | null;
};

const STATES: Readonly<Record<StepState, { sign: string; word: string; tone: Tone; look: string }>> = {
  DONE: { sign: "✓", word: "Done", tone: "gain", look: "border-gain bg-gain-soft text-gain" },
  OPEN: { sign: "", word: "To do", tone: "accent", look: "border-accent text-accent-ink" },
  WAITING: { sign: "…", word: "Waiting", tone: "warn", look: "border-warn bg-warn-soft text-warn" },
  LATER: { sign: "", word: "Later", tone: "neutral", look: "border-line-strong text-ink-soft" },
};

export function StepList({ steps, next, firstStrategyId = null }: StepListProps) {
  return (
    <ol className="divide-y divide-line">
      {steps.map((step, index) => {
        const { sign, word, tone, look } = STATES[step.state];
        const isNext = step === next;
        return (
          <li
            key={step.name}
            aria-current={isNext ? "step" : undefined}
            className={`grid grid-cols-[1.75rem_minmax(0,1fr)] items-start gap-x-3 px-4 py-3 ${isNext ? "bg-hover" : ""}`}
          >
            <span
              aria-hidden="true"
              className={`numeric mt-px flex size-6 items-center justify-center rounded-full border font-semibold text-xs ${look}`}
            >
              {sign === "" ? index + 1 : sign}
            </span>
            <div className="flex min-w-0 flex-wrap items-center justify-between gap-x-4 gap-y-2">
              <div className="min-w-0 flex-1 basis-60">
                <p className="flex flex-wrap items-center gap-x-2">
                  <span className="font-medium">{step.title}</span>
                  <Badge tone={tone}>{word}</Badge>
                </p>
                <p className="break-words text-ink-soft text-sm">{step.says}</p>
              </div>
              {step.state === "OPEN" && actionOf(step, isNext ? "primary" : "quiet", firstStrategyId)}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function actionOf({ name }: Step, kind: ButtonKind, firstStrategyId: string | null): ReactNode {
  const className = buttonLook(kind);
  switch (name) {
    case "EMAIL":
      return (
        <Link to="/verify-email" className={className}>
          Request the link
        </Link>
      );
    case "IDENTITY":
    case "APPROVAL":
      return (
        <Link to="/identity" className={className}>
          To the form
        </Link>
      );
    case "PROFILE":
      return <SwitchProfileButton kind={kind} />;
    case "SECOND_FACTOR":
      return (
        <Link to="/security" hash="second-factor" className={className}>
          Set it up
        </Link>
      );
    case "KEY":
      return (
        <Link to="/keys" className={className}>
          To the keys
        </Link>
      );
    case "STRATEGY":
      return (
        <Link to="/strategies/new" className={className}>
          New strategy
        </Link>
      );
    case "ORDER":
      return firstStrategyId === null ? null : (
        <Link to="/strategies/$strategyId" params={{ strategyId: firstStrategyId }} className={className}>
          To the strategy
        </Link>
      );
    case "VENUE_ACCOUNT":
      return (
        <Link to="/copying/accounts" search={{ connect: "1" }} className={className}>
          Connect an account
        </Link>
      );
    case "OFFER":
      return (
        <Link to="/copying/strategies" className={className}>
          Show the strategies
        </Link>
      );
    case "SETTINGS":
    case "FOLLOWING":
      return null;
  }
}
