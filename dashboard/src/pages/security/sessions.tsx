// Where the account is signed in, and the way to end that.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { OwnSessionShape } from "../../../../src/dashboard/shapes.ts";
import { call } from "../../api/call.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { browserInWords } from "./user-agent.ts";

export function SessionsCard() {
  const queries = useQueryClient();
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["sessions"],
    queryFn: () => call<{ readonly rows: readonly OwnSessionShape[] }>("GET", "/sessions"),
  });
  const ending = useMutation({
    /** One session, or null for all but this one. */
    mutationFn: (sessionId: string | null) =>
      call("DELETE", sessionId === null ? "/sessions" : `/sessions/${encodeURIComponent(sessionId)}`),
    onSuccess: (_none, sessionId) => {
      toast(sessionId === null ? "All other sessions ended" : "Session ended");
      void queries.invalidateQueries({ queryKey: ["activity"] });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
  const others = data?.rows.filter(({ isThisOne }) => !isThisOne) ?? [];
  return (
    <Card
      title="Sessions"
      isFlush
      aside={
        others.length > 0 && (
          <Button
            size="small"
            onClick={() => ending.mutate(null)}
            isBusy={ending.isPending && ending.variables === null}
          >
            End all others
          </Button>
        )
      }
    >
      {(error ?? ending.error) !== null && (
        <div className="p-4">
          <ErrorNote
            error={error ?? ending.error}
            {...(error === null ? {} : { onRetry: () => void refetch(), isRetrying: isFetching })}
          />
        </div>
      )}
      {error === null && (
        <Table
          caption="Your sessions"
          columns={columnsWith(
            (sessionId) => ending.mutate(sessionId),
            ending.isPending ? ending.variables : null,
          )}
          rows={data?.rows}
          rowKey={({ sessionId }) => sessionId}
          empty="No sessions."
        />
      )}
    </Card>
  );
}

function columnsWith(
  onEnd: (sessionId: string) => void,
  beingEnded: string | null,
): readonly Column<OwnSessionShape>[] {
  return [
    {
      key: "browser",
      header: "Browser",
      isRowHeader: true,
      cell: ({ userAgent, isThisOne }) => (
        <span className="inline-flex flex-wrap items-center gap-2">
          <span title={userAgent}>{browserInWords(userAgent)}</span>
          {isThisOne && <Badge tone="accent">This session</Badge>}
        </span>
      ),
    },
    {
      key: "address",
      header: "Address",
      cell: ({ address }) => <span className="break-all font-mono text-xs">{address}</span>,
    },
    { key: "since", header: "Signed in", isTime: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: "until",
      header: "Expires",
      isTime: true,
      cell: ({ expiresAt }) => <Time at={expiresAt} />,
    },
    {
      key: "end",
      header: "Action",
      align: "right",
      cell: ({ sessionId, isThisOne, userAgent }) =>
        isThisOne ? null : (
          <Button
            size="small"
            onClick={() => onEnd(sessionId)}
            isBusy={beingEnded === sessionId}
            aria-label={`End the session of ${browserInWords(userAgent)}`}
          >
            End
          </Button>
        ),
    },
  ];
}
