// The browsers that an account knows: those with a cookie that is signed for the account under the master
// key. The cookie signs nobody in; failures of a known browser are only counted separately (`lockout.ts`).
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { MasterKey } from "../keys/master-key.ts";
import { derivedKey } from "../keys/sealing.ts";
import { DEVICE_MS } from "./cookies.ts";

const DOMAIN = "lyrebird known browser";
const DEVICE_BYTES = 16;
/**
 * The version of the master key, the time of creation, the browser, and the signature over these and the
 * person.
 */
const COOKIE = /^([1-9][0-9]{0,5})\.([0-9]{1,15})\.([0-9a-f]{32})\.([\w-]{43})$/;

/** Whose browser a cookie names, and the wall time, Unix ms, at which it is created or checked. */
type Naming = { readonly personId: string; readonly now: number };

/** The name of a new browser. */
export function newDevice(): string {
  return randomBytes(DEVICE_BYTES).toString("hex");
}

/** The cookie that makes a browser known to a person's account. */
export function deviceCookieOf(master: MasterKey, device: string, { personId, now }: Naming): string {
  const version = master.current;
  const signature = signatureOf(master, version, [now, device, personId]);
  return `${version}.${now}.${device}.${signature.toString("base64url")}`;
}

/** The browser that a cookie names; null unless the cookie is this person's and has not expired. */
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
