// Which browsers are known to an account: those with a cookie that this server made for that account, which nobody can make
// without the master key. It opens nothing; it only says that failures of this browser are counted apart (`lockout.ts`).
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { MasterKey } from "../identity/master-key.ts";
import { derivedKey } from "../identity/sealing.ts";
import { DEVICE_MS } from "./cookies.ts";

const DOMAIN = "lyrebird known browser";
const DEVICE_BYTES = 16;
/** The version of the master key, when it was made, the browser, and the signature over these and the person. */
const COOKIE = /^([1-9][0-9]{0,5})\.([0-9]{1,15})\.([0-9a-f]{32})\.([\w-]{43})$/;

/** Whose browser a cookie names, and the wall time, Unix ms, that it is made or looked at. */
type Naming = { readonly personId: string; readonly now: number };

/** The name of a browser that has none. */
export function newDevice(): string {
  return randomBytes(DEVICE_BYTES).toString("hex");
}

/** The cookie that makes a browser known to a person's account for a while. */
export function deviceCookieOf(master: MasterKey, device: string, { personId, now }: Naming): string {
  const version = master.current;
  const signature = signatureOf(master, version, [now, device, personId]);
  return `${version}.${now}.${device}.${signature.toString("base64url")}`;
}

/** The browser that a cookie names; null unless the cookie was made for this person, and not too long ago. */
export function knownDevice(
  master: MasterKey,
  cookie: string | null,
  { personId, now }: Naming,
): string | null {
  const [, versionText, madeText, device, signature] = COOKIE.exec(cookie ?? "") ?? [];
  if (versionText === undefined || madeText === undefined || device === undefined) return null;
  const version = Number.parseInt(versionText, 10);
  const madeAt = Number.parseInt(madeText, 10);
  if (!master.has(version) || now >= madeAt + DEVICE_MS) return null;
  const given = Buffer.from(signature ?? "", "base64url");
  const made = signatureOf(master, version, [madeAt, device, personId]);
  return given.length === made.length && timingSafeEqual(given, made) ? device : null;
}

function signatureOf(
  master: MasterKey,
  version: number,
  signed: readonly [madeAt: number, device: string, personId: string],
): Buffer {
  return createHmac("sha256", derivedKey(master, DOMAIN, version))
    .update(signed.join("|"))
    .digest();
}
