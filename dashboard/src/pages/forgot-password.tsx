import { useSession } from "../api/session.ts";
import { TextLink } from "../ui/button.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { AskForLink } from "./entrance/ask-for-link.tsx";

export function Page() {
  const { server } = useSession();
  return (
    <>
      <PageHeader
        title="Forgot your password?"
        lead={`${server.sendsMail ? "We send you a link to choose a new password." : "Request a link to choose a new password. This server sends no mail: it writes the link to its log."} The link also unlocks a locked sign-in.`}
      />
      <AskForLink path="/password-reset" action="Send the link" lifetime="one hour" />
      <p className="mt-5">
        <TextLink to="/sign-in">Back to sign in</TextLink>
      </p>
    </>
  );
}
