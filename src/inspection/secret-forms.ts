// What is used for a key's secret by mistake.
import type { ApiKeyRecord } from "../store/store.ts";

export type SecretForm = {
  readonly secret: string | Buffer;
  /** What is said if the signature fits it. */
  readonly says: string;
};

/** Another key of the same owner, with its secret. */
export type OtherKey = { readonly key: ApiKeyRecord; readonly secret: string };

const AS_TEXT = "Use the secret's 64 characters as they are.";

/** Wrong secrets, most usual first. */
export function secretForms(
  key: ApiKeyRecord,
  secret: string,
  others: readonly OtherKey[],
): readonly SecretForm[] {
  return [
    {
      secret: Buffer.from(secret, "hex"),
      says: `The secret was decoded from hex before signing. ${AS_TEXT}`,
    },
    {
      secret: Buffer.from(secret, "base64"),
      says: `The secret was decoded from base64 before signing. ${AS_TEXT}`,
    },
    {
      secret: key.apiKey,
      says: "The API key itself was used as the secret. Sign with the secret that was shown when the key was created.",
    },
    ...["\n", "\r\n", " "].map((end) => ({
      secret: secret + end,
      says: `There is a line break or a space behind the secret. ${AS_TEXT}`,
    })),
    ...['"', "'"].map((quote) => ({
      secret: quote + secret + quote,
      says: `There are quotation marks around the secret. ${AS_TEXT}`,
    })),
    { secret: secret.toUpperCase(), says: `The secret is in capital letters. ${AS_TEXT}` },
    ...["", "undefined", "null", "None"].map((nothing) => ({
      secret: nothing,
      says: "The request was signed without any secret. Is the setting that your program reads it from empty?",
    })),
    ...others.map((other) => ({
      secret: other.secret,
      says: `The request was signed with the secret of your key "${other.key.label}"${
        other.key.revokedAt === null ? "" : ", which was revoked"
      }. Key and secret belong together.`,
    })),
  ];
}
