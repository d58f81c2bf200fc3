// The ways in which a right digest is written wrongly, and the digests that are no HMAC-SHA256 at all.

/** The digest that a signature stands for, however it is written; null if none of 32 bytes can be made out. */
export type PresentedDigest = {
  readonly digest: Buffer | null;
  /** What is wrong with how it is written; null if nothing is. */
  readonly flaw: string | null;
};

const LOWERCASE_HEX = "Send it as 64 lowercase hex digits.";

/** Lengths in hex digits of what other digests come to. */
const OTHER_DIGESTS: Readonly<Record<number, string>> = {
  32: "MD5",
  40: "SHA-1",
  56: "SHA-224",
  96: "SHA-384",
  128: "SHA-512",
};

/** Reads a signature as it was received, of a parameter or of a header. */
export function presentedDigest(received: string): PresentedDigest {
  if (/^[0-9a-f]{64}$/.test(received)) return { digest: Buffer.from(received, "hex"), flaw: null };
  const text = unescaped(received);
  if (/^[0-9a-f]{64}$/i.test(text)) {
    return {
      digest: Buffer.from(text, "hex"),
      flaw: /[A-F]/.test(text)
        ? `The signature is written in capital letters. ${LOWERCASE_HEX}`
        : `The signature is escaped. ${LOWERCASE_HEX}`,
    };
  }
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) {
    return {
      digest: Buffer.from(text, "base64"),
      flaw: `The signature is written in base64. ${LOWERCASE_HEX}`,
    };
  }
  const hexInBase64 = Buffer.from(text, "base64").toString("latin1");
  if (/^[0-9a-f]{64}$/i.test(hexInBase64)) {
    return {
      digest: Buffer.from(hexInBase64, "hex"),
      flaw: `The hex digits of the signature were written in base64 once more. ${LOWERCASE_HEX}`,
    };
  }
  const within = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i.exec(text)?.[0];
  if (within !== undefined) {
    return {
      digest: Buffer.from(within, "hex"),
      flaw: `There is more than the 64 hex digits in the signature, such as a prefix, quotes or a line break. ${LOWERCASE_HEX}`,
    };
  }
  const other = /^[0-9a-f]+$/i.test(text) ? OTHER_DIGESTS[text.length] : undefined;
  return {
    digest: null,
    flaw:
      other === undefined
        ? `The signature has ${text.length} characters that are no HMAC-SHA256. ${LOWERCASE_HEX}`
        : `The signature is as long as a digest of ${other}. It must be an HMAC-SHA256. ${LOWERCASE_HEX}`,
  };
}

/** Base64 in a form has its + as a space. */
function unescaped(text: string): string {
  let decoded = text;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    // It is none of ours then, whatever it is.
  }
  return decoded.trim().replaceAll(" ", /^[A-Za-z0-9+/ ]{43}=?$/.test(decoded.trim()) ? "+" : " ");
}
