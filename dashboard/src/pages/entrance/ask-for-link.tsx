// One field and one button: asks for a link by mail, and says where it went.

import { useLocation, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { type Answer, call } from "../../api/call.ts";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Note } from "../../ui/card.tsx";
import { CodeInput, TextInput } from "../../ui/forms/field.tsx";
import { SubmitForm, useForm } from "../../ui/forms/form.tsx";

type AskForLinkProps = {
  path: "/sign-up" | "/password-reset";
  /** On the button. */
  action: string;
  kind?: "primary" | "quiet";
  /** How long the link is good for: "24 hours". */
  lifetime: string;
  /** Known already. */
  email?: string | undefined;
};

export function AskForLink({ path, action, kind = "primary", lifetime, email: known = "" }: AskForLinkProps) {
  const form = useForm({
    first: { email: known },
    send: async ({ email }) => ({ ...(await call(`POST ${path}`, { email })), email }),
  });
  const { answer, isBusy } = form;
  return (
    <SubmitForm
      form={form}
      action={answer === undefined ? action : "Ask again"}
      kind={answer === undefined ? kind : "quiet"}
      isWide
    >
      <TextInput
        label="E-mail address"
        type="email"
        autoComplete="username"
        required
        {...form.control("email")}
      />
      {answer !== undefined && !isBusy && (
        <LinkSent mail={answer.mail} email={answer.email} lifetime={lifetime} />
      )}
    </SubmitForm>
  );
}

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

// The token of a mailed link, as the page that it leads to finds it.

/**
 * From the fragment, which the browser sends to nobody; links of earlier versions have it in the query. Null
 * if there is none.
 */
export function useLinkToken(): string | null {
  const hash = useLocation({ select: (location) => location.hash });
  const search: { readonly token?: string } = useSearch({ strict: false });
  const token = new URLSearchParams(hash).get("token") ?? search.token ?? "";
  return token === "" ? null : token;
}

// The code of an authenticator, or in its place one of the recovery codes.

type SecondFactorInputProps = {
  value: string;
  onChange: (code: string) => void;
  error?: string | undefined;
  autoFocus?: boolean;
};

export function SecondFactorInput({ value, onChange, error, autoFocus = false }: SecondFactorInputProps) {
  const [isRecovery, setRecovery] = useState(false);
  const turn = () => {
    setRecovery(!isRecovery);
    onChange("");
  };
  return (
    <div className="flex flex-col items-start gap-2">
      {isRecovery ? (
        <TextInput
          label="Recovery code"
          hint="One of those that you saved when you set up the second factor. Each works once."
          name="recovery-code"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          isMonospace
          required
          autoFocus
          value={value}
          onChange={(event) => onChange(event.target.value.trim())}
          error={error}
        />
      ) : (
        <CodeInput value={value} onChange={onChange} error={error} autoFocus={autoFocus} />
      )}
      <button type="button" onClick={turn} className={`${TEXT_LINK} text-sm`}>
        {isRecovery ? "Use the authenticator" : "Use a recovery code"}
      </button>
    </div>
  );
}
