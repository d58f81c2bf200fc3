// Which browsers are known to an account: those with a cookie that this server made for that account, which nobody can make
// without the master key. It opens nothing; it only says that failures of this browser are counted apart (`lockout.ts`).
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { MasterKey } from "../identity/api-keys.ts";
import { derivedKey } from "../identity/sealing.ts";

const DOMAIN = "lyrebird known browser";
const DEVICE_BYTES = 16;
/** The version of the master key, the browser, and the signature over both and the person. */
const COOKIE = /^([1-9][0-9]{0,5})\.([0-9a-f]{32})\.([\w-]{43})$/;

/** The cookie that makes a browser known to a person's account. */
export function deviceCookieOf(master: MasterKey, personId: string): string {
  const device = randomBytes(DEVICE_BYTES).toString("hex");
  const version = master.current;
  return `${version}.${device}.${signatureOf(master, version, device, personId).toString("base64url")}`;
}

/** The browser that a cookie names; null unless the cookie was made for this person. */
export function knownDevice(master: MasterKey, personId: string, cookie: string | null): string | null {
  const [, versionText, device, signature] = COOKIE.exec(cookie ?? "") ?? [];
  if (versionText === undefined || device === undefined || signature === undefined) return null;
  const version = Number.parseInt(versionText, 10);
  if (!master.has(version)) return null;
  const given = Buffer.from(signature, "base64url");
  const made = signatureOf(master, version, device, personId);
  return given.length === made.length && timingSafeEqual(given, made) ? device : null;
}

function signatureOf(master: MasterKey, version: number, device: string, personId: string): Buffer {
  return createHmac("sha256", derivedKey(master, DOMAIN, version))
    .update(`${device}|${personId}`)
    .digest();
}
