// Signatures of the bot family. The secret is used as the text that it is, never decoded from hex.
// Source: specification 5.2 and 5.3.
import { createHash, createHmac } from "node:crypto";

export type Credentials = { readonly apiKey: string; readonly apiSecret: string };

/** A request that is about to be sent: its target with the query if it has one, and the bytes of its body. */
export type SignedRequest = { readonly method: string; readonly path: string; readonly body: string };

export type HandshakeAuth = {
  readonly apiKey: string;
  readonly timestamp: string;
  readonly signature: string;
};

/** The headers that sign a request, and the SHA-256 of what was signed. `at` is server time in Unix ms. */
export function signRequest(
  { apiKey, apiSecret }: Credentials,
  { method, path, body }: SignedRequest,
  at: number,
) {
  const timestamp = String(at);
  const message = timestamp + method + path + body;
  return {
    headers: {
      "x-bot-api-key": apiKey,
      "x-bot-timestamp": timestamp,
      "x-bot-signature": hmac(apiSecret, message),
    },
    messageSha256: createHash("sha256").update(message).digest("hex"),
  };
}

/**
 * The credentials of a stream's handshake. `namespace` is the namespace's path, `at` server time in Unix ms.
 */
export function signHandshake(
  { apiKey, apiSecret }: Credentials,
  namespace: string,
  at: number,
): HandshakeAuth {
  const timestamp = String(at);
  return { apiKey, timestamp, signature: hmac(apiSecret, `${timestamp}GET${namespace}`) };
}

function hmac(secret: string, message: string): string {
  return createHmac("sha256", secret).update(message).digest("hex");
}
