// Where the operator allows no exchange.
import { SwitchProfileButton } from "../profile/switch-profile-dialog.tsx";
import { Card, EmptyState } from "../ui/card.tsx";

export function NotOffered() {
  return (
    <Card isFlush>
      <EmptyState title="Copying is not offered here." action={<SwitchProfileButton kind="primary" />}>
        <p>
          This server allows no exchange, so no account can be connected and nothing is traded for you. Its
          operator offers copying by setting <code className="font-mono text-sm">COPY_VENUES</code> to the
          addresses of the allowed exchanges, such as{" "}
          <code className="break-all font-mono text-sm">https://api.example.com</code>, and restarting the
          server.
        </p>
        <p className="mt-2">
          If you write bots, switch to the Trader profile and run one on a virtual account.
        </p>
      </EmptyState>
    </Card>
  );
}
