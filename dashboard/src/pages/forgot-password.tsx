// Asks for a link by which a new password is set.
import { Link } from "@tanstack/react-router";
import { PageHeader } from "../ui/page-header.tsx";
import { TEXT_LINK } from "../ui/text-link.ts";
import { AskForLink } from "./entrance/ask-for-link.tsx";

export function Page() {
  return (
    <>
      <PageHeader
        title="Forgot your password?"
        lead="We send you a link by which you choose a new one. If your sign-in is locked, it opens it again."
      />
      <AskForLink path="/password-reset" action="Send the link" lifetime="one hour" />
      <p className="mt-5">
        <Link to="/sign-in" className={TEXT_LINK}>
          Back to sign in
        </Link>
      </p>
    </>
  );
}
