// Certificates of a test's own, so that no private key lies in the project: self-signed for 127.0.0.1 and
// localhost, valid from 2020 to 2126. Node.js reads certificates and does not write them, so this writes the
// few DER structures that one consists of. Source: RFC 5280, section 4.1.
import { generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newDirectory } from "./gateway.ts";

export type TestCertificate = {
  /** PEM text; what a client has to trust. */
  readonly cert: string;
  /** PEM text. */
  readonly key: string;
};

/** A new key pair and its certificate, issued to and by `name`. */
export function newCertificate(name = "lyrebird test", kind: "EC" | "RSA" = "EC"): TestCertificate {
  const { privateKey, publicKey } =
    kind === "EC"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const signedWith = sequence(...(kind === "EC" ? [ECDSA_WITH_SHA256] : [RSA_WITH_SHA256, NOTHING]));
  const issuer = sequence(tagged(SET, sequence(COMMON_NAME, tagged(UTF8_TEXT, Buffer.from(name)))));
  const names = sequence(tagged(0x82, Buffer.from("localhost")), tagged(0x87, Buffer.from([127, 0, 0, 1])));
  const content = sequence(
    tagged(0xa0, tagged(INTEGER, Buffer.from([2]))),
    tagged(INTEGER, Buffer.from([1])),
    signedWith,
    issuer,
    sequence(tagged(UTC_TIME, Buffer.from("200101000000Z")), tagged(TIME, Buffer.from("21260101000000Z"))),
    issuer,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(sequence(ALTERNATIVE_NAMES, tagged(OCTETS, names)))),
  );
  const signature = tagged(BITS, Buffer.from([0]), sign("sha256", content, privateKey));
  const der = sequence(content, signedWith, signature);
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${der.toString("base64")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Writes a certificate and its key to files of their own; answers with the settings that name them. */
export function writeCertificate({ cert, key }: TestCertificate, directory = newDirectory()) {
  const files = { TLS_CERT: join(directory, "cert.pem"), TLS_KEY: join(directory, "key.pem") };
  writeFileSync(files.TLS_CERT, cert);
  writeFileSync(files.TLS_KEY, key, { mode: 0o600 });
  return files;
}

const INTEGER = 0x02;
const BITS = 0x03;
const OCTETS = 0x04;
const OBJECT = 0x06;
const UTF8_TEXT = 0x0c;
const UTC_TIME = 0x17;
const TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;

const COMMON_NAME = tagged(OBJECT, Buffer.from("550403", "hex"));
const ALTERNATIVE_NAMES = tagged(OBJECT, Buffer.from("551d11", "hex"));
const NOTHING = Buffer.from([0x05, 0x00]);
const RSA_WITH_SHA256 = tagged(OBJECT, Buffer.from("2a864886f70d01010b", "hex"));
const ECDSA_WITH_SHA256 = tagged(OBJECT, Buffer.from("2a8648ce3d040302", "hex"));

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(SEQUENCE, ...parts);
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
