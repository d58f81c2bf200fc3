// The whole audit log, newest first, and whether its chain of hashes holds.
import { useQuery } from "@tanstack/react-query";
import { auditQuery, securityQuery } from "../../api/operator.ts";
import { useAddress } from "../../app/address.tsx";
import { Listed } from "../../ui/card.tsx";
import { Pager, Screen } from "../../ui/page-header.tsx";
import { AuditTable, ChainBadge, ChainBroken } from "./parts/audit-table.tsx";
import { Refreshed } from "./parts/refreshed.tsx";

export function Page() {
  const { search } = useAddress();
  const { before } = search;
  const query = useQuery(auditQuery({ before }));
  const { data } = query;
  const { data: defences } = useQuery({ ...securityQuery, refetchInterval: false });
  return (
    <Screen
      title="Audit log"
      lead="Changes to people, keys and strategies, and who made them. Each record contains the hash of the record before it."
      badge={<ChainBadge isWhole={defences?.auditIsWhole} />}
      actions={<Refreshed query={query} />}
    >
      {defences?.auditIsWhole === false && <ChainBroken />}
      <Listed query={query}>
        <AuditTable caption="Audit log" rows={data?.rows} isWhole />
        <Pager what="records" before={before} next={data?.next} />
      </Listed>
    </Screen>
  );
}
