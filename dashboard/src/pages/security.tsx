// How the account is protected: password, second factor, sessions, and what was done with it.
import { usePerson } from "../api/session.ts";
import { Note } from "../ui/note.tsx";
import { Screen } from "../ui/page-header.tsx";
import { ActivityCard } from "./security/activity.tsx";
import { CloseAccountCard } from "./security/close-account.tsx";
import { PasswordCard } from "./security/password.tsx";
import { SecondFactorCard } from "./security/second-factor.tsx";
import { SessionsCard } from "./security/sessions.tsx";

export function Page() {
  const { role, hasSecondFactor } = usePerson();
  return (
    <Screen title="Security" lead="Sign-in protection, sessions and activity of your account.">
      {role === "OPERATOR" && !hasSecondFactor && (
        <Note tone="warn" title="Operators need a second factor">
          Set it up below. Until then the operators’ pages stay closed.
        </Note>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <SecondFactorCard />
        <PasswordCard />
      </div>
      <SessionsCard />
      <ActivityCard />
      {role !== "OPERATOR" && <CloseAccountCard />}
    </Screen>
  );
}
