// The API keys: which there are, what uses them, and when they were used last.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { KeyJson } from "../../../src/dashboard-api/schemas.ts";
import { usePerson } from "../api/session.ts";
import { keysQuery } from "../api/strategy.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/note.tsx";
import { Dialog } from "../ui/overlays/dialog.tsx";
import { Screen } from "../ui/page-header.tsx";
import { Listed } from "../ui/query.tsx";
import { CreateKeyDialog } from "./keys/create-key-dialog.tsx";
import { KeyTable, RevokedTable } from "./keys/key-table.tsx";
import { KeyTest } from "./keys/key-test.tsx";
import { MissingSteps } from "./keys/missing-steps.tsx";
import { RevokeKeyDialog } from "./keys/revoke-key-dialog.tsx";

export function Page() {
  const person = usePerson();
  const query = useQuery(keysQuery);
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<KeyJson | null>(null);
  const [tested, setTested] = useState<KeyJson | null>(null);
  const live = query.data?.rows.filter(({ revokedAt }) => revokedAt === null);
  const ended = query.data?.rows.filter(({ revokedAt }) => revokedAt !== null) ?? [];
  const mayCreate = person.kyc === "APPROVED" && person.hasSecondFactor;
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      New key
    </Button>
  );
  return (
    <Screen
      title="API keys"
      lead="A bot signs its requests with a key and its secret. Each key belongs to one strategy."
      actions={mayCreate ? create : undefined}
    >
      <MissingSteps person={person} />
      <Listed query={query}>
        <KeyTable
          rows={live}
          onTest={setTested}
          onRevoke={setRevoked}
          empty={
            <EmptyState
              title={ended.length === 0 ? "No keys yet." : "No live keys."}
              {...(mayCreate ? { action: create } : {})}
            >
              Your bot signs its requests with a key. After the key, create a strategy that trades with it.
            </EmptyState>
          }
        />
      </Listed>
      {ended.length > 0 && (
        <Card title="Revoked" isFlush>
          <RevokedTable rows={ended} />
        </Card>
      )}

      <CreateKeyDialog isOpen={isCreating} onClose={() => setCreating(false)} />
      <RevokeKeyDialog revoked={revoked} onClose={() => setRevoked(null)} />
      <Dialog
        isOpen={tested !== null}
        onClose={() => setTested(null)}
        title="Test this key"
        description={tested?.label}
      >
        {tested !== null && <KeyTest keyId={tested.keyId} />}
      </Dialog>
    </Screen>
  );
}
