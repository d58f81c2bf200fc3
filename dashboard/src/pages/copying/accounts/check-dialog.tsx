// Checks an account at the exchange again, and shows the result.

import { useQuery } from "@tanstack/react-query";
import type { VenueAccountJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { accountsQuery } from "../../../api/copying.ts";
import { outdate } from "../../../api/query-client.ts";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/note.tsx";
import { Dialog, DialogActions } from "../../../ui/overlays/dialog.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { CheckResult } from "./check-result.tsx";

/** Null: the dialog is closed. */
type CheckDialogProps = { account: VenueAccountJson | null; onClose: () => void };

export function CheckDialog({ account, onClose }: CheckDialogProps) {
  return (
    <Dialog
      isOpen={account !== null}
      onClose={onClose}
      title="Check this account"
      description={account?.label ?? ""}
    >
      {account !== null && <Checked accountId={account.accountId} onClose={onClose} />}
    </Dialog>
  );
}

function Checked({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["copying", "check", accountId],
    queryFn: async () => {
      try {
        return await call("POST /copying/accounts/:accountId/check", { accountId });
      } finally {
        // A key that was refused is marked in the list too.
        outdate(accountsQuery.queryKey);
      }
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      {data === undefined && error === null && (
        <div aria-busy="true">
          <p className="mb-3">Waiting for the exchange’s response.</p>
          <Skeleton lines={5} />
        </div>
      )}
      {data !== undefined && error === null && <CheckResult check={data} />}
      <DialogActions>
        <Button onClick={() => void refetch()} isBusy={isFetching}>
          Check again
        </Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
