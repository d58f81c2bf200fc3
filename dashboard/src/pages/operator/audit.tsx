// The whole audit log, newest first, and whether its chain of hashes holds.
import { useQuery } from "@tanstack/react-query";
import { auditQuery, securityQuery } from "../../api/operator.ts";
import { useAddress } from "../../app/use-address.ts";
import { Card } from "../../ui/card.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Pager } from "../../ui/pager.tsx";
import { AuditTable } from "./parts/audit-table.tsx";
import { ChainBadge, ChainBroken } from "./parts/chain.tsx";
import { Failed } from "./parts/loaded.tsx";
import { Refreshed } from "./parts/refreshed.tsx";

export function Page() {
  const { search } = useAddress();
  const { before } = search;
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery(auditQuery({ before }));
  const { data: defences } = useQuery({ ...securityQuery, refetchInterval: false });
  return (
    <>
      <PageHeader
        title="Audit log"
        lead="Changes to people, keys and strategies, and who made them. Each record contains the hash of the record before it."
        badge={<ChainBadge isWhole={defences?.auditIsWhole} />}
        actions={<Refreshed at={dataUpdatedAt} isBusy={isFetching} onRefresh={() => void refetch()} />}
      />
      <div className="flex flex-col gap-5">
        {defences?.auditIsWhole === false && <ChainBroken />}
        <Failed error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
        {(error === null || data !== undefined) && (
          <Card isFlush>
            <AuditTable caption="Audit log" rows={data?.rows} isWhole />
            <Pager what="records" before={before} next={data?.next} />
          </Card>
        )}
      </div>
    </>
  );
}
