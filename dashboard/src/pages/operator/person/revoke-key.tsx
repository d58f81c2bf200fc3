// Ends somebody's key for good.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { KeyShape } from "../../../../../src/dashboard/shapes.ts";
import { call } from "../../../api/call.ts";
import { personQuery } from "../../../api/operator.ts";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";

type RevokeKeyProps = { personId: string; revoked: KeyShape | null; onClose: () => void };

export function RevokeKey({ personId, revoked, onClose }: RevokeKeyProps) {
  const queries = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: (keyId: string) =>
      call(
        "POST",
        `/operator/people/${encodeURIComponent(personId)}/keys/${encodeURIComponent(keyId)}/revoke`,
      ),
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
        onSubmit={() => revoked !== null && mutate(revoked.keyId)}
        onCancel={onClose}
        isBusy={isPending}
        error={error}
      >
        {null}
      </DialogForm>
    </Dialog>
  );
}
