// Signatures of the exchange-style routes: HMAC-SHA256 over the bytes as they came, never parsed, sorted or
// re-encoded. Source: specification 5.1; reference exchange, section 3.
import { createHmac, timingSafeEqual } from "node:crypto";

/** The signed message, and the signature that was cut out of it (null if there was none). */
export type SignedMessage = { readonly message: string; readonly signature: string | null };

/** Query string and body, in that order and with nothing between, without their `signature` parameter. */
export function signedMessage(query: string, body: string): SignedMessage {
  const fromQuery = cutSignature(query);
  if (fromQuery.signature !== null) return { message: fromQuery.rest + body, signature: fromQuery.signature };
  const fromBody = cutSignature(body);
  return { message: query + fromBody.rest, signature: fromBody.signature };
}

/**
 * HMAC-SHA256 as lowercase hex; the secret is used as text. The message is received bytes, one a character.
 */
export function sign(secret: string, message: string): string {
  return createHmac("sha256", secret).update(message, "latin1").digest("hex");
}

/**
 * Whether a signature, which must be 64 lowercase hex characters, is that of the message. Takes constant
 * time.
 */
export function verifies(secret: string, message: string, signature: string): boolean {
  return (
    /^[0-9a-f]{64}$/.test(signature) &&
    timingSafeEqual(Buffer.from(sign(secret, message), "latin1"), Buffer.from(signature, "latin1"))
  );
}

function cutSignature(part: string): { rest: string; signature: string | null } {
  const start = part.startsWith("signature=") ? 0 : part.indexOf("&signature=") + 1;
  if (start === 0 && !part.startsWith("signature=")) return { rest: part, signature: null };
  const end = part.indexOf("&", start);
  const signature = part.slice(start + "signature=".length, end === -1 ? undefined : end);
  // Exactly one separator goes with it: the one before, or, for a first parameter, the one after.
  const before = part.slice(0, Math.max(0, start - 1));
  const after = end === -1 ? "" : part.slice(start === 0 ? end + 1 : end);
  return { rest: before + after, signature };
}
