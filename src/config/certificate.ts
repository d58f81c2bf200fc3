// The certificate and private key that HTTPS is served with, from the two PEM files of the configuration.
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Certificate } from "../http/tls.ts";
import { ConfigError, type TlsFiles } from "./config.ts";

/**
 * Reads both files. Throws ConfigError with what to do if one cannot be read or they do not belong together.
 */
export function readCertificate({ certFile, keyFile }: TlsFiles): Certificate {
  const cert = read("TLS_CERT", certFile);
  const key = read("TLS_KEY", keyFile);
  if (!parseCertificate(cert, certFile).checkPrivateKey(parseKey(key, keyFile))) {
    throw new ConfigError(
      `TLS_KEY ${keyFile} is not the key of the first certificate in TLS_CERT ${certFile}: give both files of one pair, the server's own certificate before those of its issuers`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new ConfigError(`TLS_CERT ${certFile} cannot be served, give another pair: ${reason}`);
  }
  return { cert, key };
}

function read(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`${name} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function parseCertificate(pem: Buffer, file: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new ConfigError(
      `TLS_CERT ${file} holds no certificate: it should be PEM text that begins with -----BEGIN CERTIFICATE-----`,
    );
  }
}

function parseKey(pem: Buffer, file: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new ConfigError(
      `TLS_KEY ${file} holds no private key that can be used: it should be PEM text that begins with -----BEGIN PRIVATE KEY-----, without a passphrase`,
    );
  }
}
