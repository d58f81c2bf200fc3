import type { Answer } from "../../api/call.ts";
import { Note } from "../../ui/note.tsx";

type LinkSentProps = { mail: Answer<"POST /sign-up">["mail"]; email: string; lifetime: string };

/** Where a link went that was asked for. It is the same whether the address is known or not. */
export function LinkSent({ mail, email, lifetime }: LinkSentProps) {
  if (mail === "SENT") {
    return (
      <div role="status">
        <Note tone="gain" title="Check your mail">
          <p>
            We sent a mail to <strong className="break-all">{email}</strong>. Open the link in the mail within{" "}
            {lifetime}. If no mail arrives, check the spam folder.
          </p>
        </Note>
      </div>
    );
  }
  return (
    <div role="status">
      <Note title="The link is in the server’s log">
        <p>
          This server sends no mail. It wrote the link for <strong className="break-all">{email}</strong> to
          its log, where the server was started. Open the newest link there within {lifetime}. If the server
          is not yours, ask its operator.
        </p>
      </Note>
    </div>
  );
}
