// Ends somebody's key for good.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { KeyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { personQuery } from "../../../api/operator.ts";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";

type RevokeKeyProps = { personId: string; revoked: KeyJson | null; onClose: () => void };

export function RevokeKey({ personId, revoked, onClose }: RevokeKeyProps) {
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: (keyId: string) =>
      call("POST /operator/people/:personId/keys/:keyId/revoke", { personId, keyId }),
    onSuccess: () => {
      toast("API key revoked");
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: personQuery(personId).queryKey }),
  });
  return (
    <Dialog
      isOpen={revoked !== null}
      onClose={onClose}
      title="Revoke this key?"
      description={revoked?.label ?? ""}
    >
      <p>
        Its next request is refused; this can’t be undone. The strategy, its open orders and its history stay
        as they are. Its owner gets a mail.
      </p>
      <DialogForm
        action="Revoke the key"
        kind="danger"
        form={{ onSubmit: () => revoked !== null && mutate(revoked.keyId), isBusy: isPending, error }}
        onCancel={onClose}
      />
    </Dialog>
  );
}
