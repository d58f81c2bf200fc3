import type { LinkProps } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Search } from "../../app/search.ts";
import { SwitchProfileButton } from "../../profile/switch-profile-dialog.tsx";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { type ButtonKind, ButtonLink } from "../../ui/button.tsx";
import type { Step, StepName, StepState } from "./journey.ts";

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

/** Where each step is done; null where the step needs something else or is done elsewhere. */
const PLACES: Readonly<
  Record<StepName, { to: NonNullable<LinkProps["to"]>; says: string; hash?: string; search?: Search } | null>
> = {
  EMAIL: { to: "/verify-email", says: "Request the link" },
  IDENTITY: { to: "/identity", says: "To the form" },
  APPROVAL: { to: "/identity", says: "To the form" },
  PROFILE: null,
  SECOND_FACTOR: { to: "/security", hash: "second-factor", says: "Set it up" },
  KEY: { to: "/keys", says: "To the keys" },
  STRATEGY: { to: "/strategies/new", says: "New strategy" },
  ORDER: null,
  VENUE_ACCOUNT: { to: "/copying/accounts", search: { connect: "1" }, says: "Connect an account" },
  OFFER: { to: "/copying/strategies", says: "Show the strategies" },
  SETTINGS: null,
  FOLLOWING: null,
};

function actionOf({ name }: Step, kind: ButtonKind, firstStrategyId: string | null): ReactNode {
  if (name === "PROFILE") return <SwitchProfileButton kind={kind} />;
  if (name === "ORDER" && firstStrategyId !== null) {
    return (
      <ButtonLink to="/strategies/$strategyId" params={{ strategyId: firstStrategyId }} kind={kind}>
        To the strategy
      </ButtonLink>
    );
  }
  const place = PLACES[name];
  if (place === null) return null;
  const { says, ...target } = place;
  return (
    <ButtonLink {...target} kind={kind}>
      {says}
    </ButtonLink>
  );
}
