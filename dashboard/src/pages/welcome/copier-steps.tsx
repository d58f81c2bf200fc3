// A copier's way to the first copy, or, where copying is not offered, what can be done instead.
import { useQuery } from "@tanstack/react-query";
import { accountsQuery, copiesQuery, venuesQuery } from "../../api/copying.ts";
import { usePerson } from "../../api/session.ts";
import { NotOffered } from "../../copying/not-offered.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNote } from "../../ui/note.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { copierJourneyOf } from "./copier-journey.ts";
import { nextStep } from "./journey.ts";
import { StepList } from "./step-list.tsx";

export function CopierJourney() {
  const person = usePerson();
  const venues = useQuery(venuesQuery);
  const accounts = useQuery(accountsQuery);
  const copies = useQuery(copiesQuery);
  const error = venues.error ?? accounts.error ?? copies.error;
  if (error !== null) {
    const retry = () => {
      for (const query of [venues, accounts, copies]) void query.refetch();
    };
    return <ErrorNote error={error} onRetry={retry} isRetrying={venues.isFetching} />;
  }
  if (venues.data === undefined || accounts.data === undefined || copies.data === undefined) {
    return (
      <div aria-busy="true">
        <Card title="Steps to your first copy">
          <Skeleton lines={12} />
        </Card>
      </div>
    );
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
