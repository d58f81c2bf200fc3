// A new strategy: its name, its type and its key; then the lines that trade on it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { usePerson } from "../api/session.ts";
import { isFreeKey, keysQuery } from "../api/strategy.ts";
import { useAddress } from "../app/use-address.ts";
import { buttonLook } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState, ErrorNote } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { MissingSteps } from "./keys/missing-steps.tsx";
import { CreateForm } from "./new-strategy/create-form.tsx";
import { Ready } from "./new-strategy/ready.tsx";

export function Page() {
  const { search, change } = useAddress();
  if (search.created !== undefined) return <Ready key={search.created} strategyId={search.created} />;
  return (
    <>
      <PageHeader
        title="New strategy"
        lead="A strategy is a virtual account with a starting balance, traded by your bot."
      />
      <div className="flex max-w-3xl flex-col gap-5">
        <Creation
          keyId={search.key}
          onCreated={(strategyId) => change({ created: strategyId, key: undefined }, { replace: true })}
        />
      </div>
    </>
  );
}

type CreationProps = { keyId: string | undefined; onCreated: (strategyId: string) => void };

function Creation({ keyId, onCreated }: CreationProps) {
  const person = usePerson();
  const { data, error, refetch, isFetching } = useQuery(keysQuery);
  if (error !== null && data === undefined) {
    return <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />;
  }
  const free = data?.rows.filter(isFreeKey);
  if (free === undefined) {
    return (
      <Card>
        <div aria-busy="true">
          <Skeleton lines={10} />
        </div>
      </Card>
    );
  }
  if (person.kyc !== "APPROVED") return <MissingSteps person={person} />;
  if (free.length === 0) {
    return (
      <>
        <MissingSteps person={person} />
        <Card isFlush>
          <EmptyState
            title="You need a free API key first."
            {...(person.hasSecondFactor
              ? {
                  action: (
                    <Link to="/keys" className={buttonLook("primary")}>
                      Create a key
                    </Link>
                  ),
                }
              : {})}
          >
            {data?.rows.some(({ revokedAt }) => revokedAt === null)
              ? "Each of your keys is bound to an open strategy already, and a key trades on only one."
              : "A bot needs an API key to trade on a strategy, and you have none yet."}
          </EmptyState>
        </Card>
      </>
    );
  }
  return (
    <Card>
      <CreateForm keys={free} keyId={keyId} onCreated={({ strategyId }) => onCreated(strategyId)} />
    </Card>
  );
}
