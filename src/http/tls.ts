// The HTTPS side of the server: the same requests behind a TLS handshake. A connection without a valid
// handshake (plain HTTP, garbage, no common cipher) is cut without an answer, since the client could not read
// one; so is one whose handshake takes too long, or is not finished when the server closes.
import type { Server as HttpServer, RequestListener, ServerOptions } from "node:http";
import { createServer, Server } from "node:https";

/** PEM text of a certificate, with its chain, and of its private key. */
export type Certificate = { readonly cert: Buffer; readonly key: Buffer };

/**
 * What every handshake is held to. TLS 1.3 has safe suites only. Of TLS 1.2 those with forward secrecy
 * (ECDHE) and authenticated encryption (AEAD) are left, so that a key that leaks later opens no recorded
 * connection. Source: RFC 9325, section 4.2.
 */
const POLICY = {
  minVersion: "TLSv1.2",
  ciphers: [
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
  ].join(":"),
} as const;
/** A handshake that takes longer is cut, ms. */
const HANDSHAKE_MS_MAX = 10_000;

/** An HTTPS server that is not listening yet. Throws if the certificate cannot be used. */
export function createTlsServer(
  { cert, key }: Certificate,
  options: ServerOptions,
  listener: RequestListener,
): Server {
  const terms = { ...POLICY, handshakeTimeout: HANDSHAKE_MS_MAX };
  return createServer({ ...options, ...terms, cert, key }, listener);
}

/** Serves new connections with this certificate. Throws, and keeps the old one, if it cannot be used. */
export function renewCertificate(server: HttpServer, { cert, key }: Certificate): void {
  if (!(server instanceof Server)) throw new Error("only a server that serves HTTPS has a certificate");
  server.setSecureContext({ cert, key, ...POLICY });
}
