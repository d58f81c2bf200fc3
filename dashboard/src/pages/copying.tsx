// A copier's home.
import { Link } from "@tanstack/react-router";
import { SwitchProfileButton } from "../profile/switch-profile-button.tsx";
import { buttonLook } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { PageHeader } from "../ui/page-header.tsx";

export function Page() {
  return (
    <>
      <PageHeader title="Copying" />
      <div className="max-w-3xl">
        <Card isFlush>
          <EmptyState
            title="Copying is not offered yet."
            action={
              <>
                <SwitchProfileButton kind="primary" />
                <Link to="/welcome" className={buttonLook()}>
                  Getting started
                </Link>
              </>
            }
          >
            Connecting an exchange account is not possible here today, and nothing is traded for you. If you
            write bots, switch to the Trader profile and run one on a virtual account.
          </EmptyState>
        </Card>
      </div>
    </>
  );
}
