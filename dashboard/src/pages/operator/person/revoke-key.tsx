import type { KeyJson } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { personQuery } from "../../../api/operator.ts";
import { outdate } from "../../../api/query-client.ts";
import { FormDialog } from "../../../ui/forms/dialog-form.tsx";

type RevokeKeyProps = { personId: string; revoked: KeyJson | null; onClose: () => void };

export function RevokeKey({ personId, revoked, onClose }: RevokeKeyProps) {
  const { keyId = "", label = "" } = revoked ?? {};
  return (
    <FormDialog
      isOpen={revoked !== null}
      onClose={onClose}
      title="Revoke this key?"
      description={label}
      action="Revoke the key"
      kind="danger"
      first={{}}
      send={() => call("POST /operator/people/:personId/keys/:keyId/revoke", { personId, keyId })}
      says="API key revoked"
      onSettled={() => outdate(personQuery(personId).queryKey)}
    >
      {() => (
        <p>
          Its next request is refused; this can’t be undone. The strategy, its open orders and its history
          stay as they are. Its owner gets a mail.
        </p>
      )}
    </FormDialog>
  );
}
