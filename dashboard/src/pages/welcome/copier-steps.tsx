// A copier's way to the first copy, or, where copying is not offered, what can be done instead.

import { useQuery } from "@tanstack/react-query";
import { accountsQuery, copiesQuery, venuesQuery } from "../../api/copying.ts";
import { usePerson } from "../../api/session.ts";
import { NotOffered } from "../../copying/not-offered.tsx";
import { Card } from "../../ui/card.tsx";
import { QueryState, together } from "../../ui/query.tsx";
import { copierJourneyOf } from "./copier-journey.ts";
import { nextStep } from "./journey.ts";
import { StepList } from "./step-list.tsx";

export function CopierJourney() {
  const person = usePerson();
  const venues = useQuery(venuesQuery);
  const accounts = useQuery(accountsQuery);
  const copies = useQuery(copiesQuery);
  if (venues.data === undefined || accounts.data === undefined || copies.data === undefined) {
    return <QueryState of={together(venues, accounts, copies)} lines={12} title="Steps to your first copy" />;
  }
  const steps = copierJourneyOf({
    person,
    hasAccount: accounts.data.rows.some(({ status }) => status === "CONNECTED"),
    hasCopy: copies.data.rows.length > 0,
  });
  const isOffered = venues.data.rows.length > 0;
  const shown = isOffered ? steps : steps.filter(({ name }) => BEFORE_COPYING.has(name));
  const done = shown.filter(({ state }) => state === "DONE").length;
  return (
    <>
      {!isOffered && (
        <Card isFlush>
          <NotOffered />
        </Card>
      )}
      <Card
        title={isOffered ? "Steps to your first copy" : "What you can do already"}
        isFlush
        aside={
          <span className="numeric text-ink-soft text-sm">
            {done} of {shown.length} done
          </span>
        }
      >
        <StepList steps={shown} next={nextStep(shown)} />
      </Card>
    </>
  );
}

/** Stays with the account, whatever it is used for. */
const BEFORE_COPYING: ReadonlySet<string> = new Set(["EMAIL", "IDENTITY", "APPROVAL", "SECOND_FACTOR"]);
