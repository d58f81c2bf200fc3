// What people's requests are refused with. Whoever answers them has the words.

export type Refused =
  | {
      readonly refused:
        | "CREDENTIALS_REFUSED"
        | "CODE_NEEDED"
        | "CODE_REFUSED"
        | "EMAIL_NOT_VERIFIED"
        | "ACCOUNT_LOCKED"
        | "LINK_REFUSED"
        | "BUSY";
    }
  /** `fault` says what is wrong with the password that was chosen. */
  | { readonly refused: "PASSWORD_UNFIT"; readonly fault: string }
  | { readonly refused: "LOCKED" | "TOO_MANY_REQUESTS"; readonly retryAfterSeconds: number };
