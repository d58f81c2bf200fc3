import type { MailShape } from "../../../../src/dashboard/shapes.ts";
import { Note } from "../../ui/note.tsx";

type LinkSentProps = { mail: MailShape["mail"]; email: string; lifetime: string };

/** Where a link went that was asked for. It is the same whether the address is known or not. */
export function LinkSent({ mail, email, lifetime }: LinkSentProps) {
  if (mail === "SENT") {
    return (
      <div role="status">
        <Note tone="gain" title="Look into your mail">
          <p>
            We have written to <strong className="break-all">{email}</strong>. Open the link in the mail
            within {lifetime}. If nothing comes, look into the spam folder.
          </p>
        </Note>
      </div>
    );
  }
  return (
    <div role="status">
      <Note title="The link is in the server’s log">
        <p>
          This server sends no mail, so it wrote what it would have sent to{" "}
          <strong className="break-all">{email}</strong> into its log: look where the server was started, take
          the newest link and open it within {lifetime}. If the server is not yours, ask who runs it.
        </p>
      </Note>
    </div>
  );
}
