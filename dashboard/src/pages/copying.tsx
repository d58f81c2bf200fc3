// A copier's home: what is copied, how each copy fares, and, before the first, the way to it.

import { useQuery } from "@tanstack/react-query";
import { accountsQuery, copiesQuery, venuesQuery } from "../api/copying.ts";
import { usePerson } from "../api/session.ts";
import { HaltNote } from "../copying/halt-note.tsx";
import { NotOffered } from "../copying/not-offered.tsx";
import { useWatchCopies } from "../live/use-live.ts";
import { Card } from "../ui/card.tsx";
import { ButtonLink } from "../ui/links.tsx";
import { Screen } from "../ui/page-header.tsx";
import { QueryState } from "../ui/query.tsx";
import { CopyTable, EndedTable } from "./copying/copy-table.tsx";
import { MissingSteps } from "./keys/missing-steps.tsx";
import { firstCopySteps } from "./welcome/copier-journey.ts";
import { nextStep } from "./welcome/journey.ts";
import { StepList } from "./welcome/step-list.tsx";

export function Page() {
  const query = useQuery(copiesQuery);
  const { data, error } = query;
  const venues = useQuery(venuesQuery);
  const live = data?.rows.filter(({ status }) => status !== "STOPPED");
  const ended = data?.rows.filter(({ status }) => status === "STOPPED") ?? [];
  useWatchCopies(live?.map(({ copyId }) => copyId) ?? []);
  const halted = live?.find((copy) => copy.halted?.isOwn === true);
  const isOffered = venues.data === undefined || venues.data.rows.length > 0;
  const hasAny = data !== undefined && data.rows.length > 0;
  return (
    <Screen
      title="Your copies"
      lead="Each copy mirrors the orders of one strategy on one of your exchange accounts, scaled to that account."
      actions={
        hasAny && isOffered ? <ButtonLink to="/copying/strategies">Copy a strategy</ButtonLink> : undefined
      }
    >
      <QueryState of={query} />
      {!isOffered && (
        <Card isFlush>
          <NotOffered />
        </Card>
      )}
      {halted !== undefined && <HaltNote copy={halted} />}
      {hasAny || (data === undefined && error === null) ? (
        <Card isFlush>
          <CopyTable rows={live} />
        </Card>
      ) : (
        isOffered && error === null && <FirstCopy />
      )}
      {ended.length > 0 && (
        <Card title="Ended" isFlush>
          <EndedTable rows={ended} />
        </Card>
      )}
    </Screen>
  );
}

function FirstCopy() {
  const person = usePerson();
  const accounts = useQuery(accountsQuery);
  if (accounts.data === undefined) return <QueryState of={accounts} lines={8} />;
  const steps = firstCopySteps({
    isReady: person.kyc === "APPROVED" && person.hasSecondFactor,
    hasAccount: accounts.data.rows.some(({ status }) => status === "CONNECTED"),
    hasCopy: false,
  });
  return (
    <div className="flex max-w-3xl flex-col gap-5">
      <MissingSteps
        person={person}
        before="Before you can connect an exchange account"
        asking="connecting an account"
      />
      <Card title="Steps to your first copy" isFlush>
        <StepList steps={steps} next={nextStep(steps)} />
      </Card>
    </div>
  );
}
