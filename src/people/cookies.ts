// The two cookies of a browser: its session, and the account that knows it (see `lockout.ts`). Scripts cannot
// read them, and another site does not send them along, not even by a link: the dashboard's pages need none,
// and their requests come from this site. On https their names keep every other host from setting them. A
// browser has one set of cookies for all ports of a host, so the names include the port: two servers on one
// host do not sign each other out.

/** What a request says about its client. */
export type Caller = {
  readonly address: string;
  readonly userAgent: string;
  /** The header `cookie` as received; null if there was none. */
  readonly cookies: string | null;
};

export type CookieName = "lyrebird" | "lyrebird-device";

/** How long a session lasts, ms. */
export const SESSION_MS = 7 * 24 * 3_600_000;
/** How long an account knows a browser, ms: as long as browsers keep any cookie. */
export const DEVICE_MS = 400 * 24 * 3_600_000;

const LASTING_MS: { readonly [N in CookieName]: number } = {
  lyrebird: SESSION_MS,
  "lyrebird-device": DEVICE_MS,
};

export class Cookies {
  readonly #publicUrl: () => string;

  /** `publicUrl` is where browsers reach the server: behind a proxy its scheme and port count. */
  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl;
  }

  /** The value of a cookie of a request; null if there is none. */
  read(name: CookieName, header: string | null): string | null {
    const wanted = `${this.#nameOf(name)}=`;
    const found = header?.split(";").find((each) => each.trimStart().startsWith(wanted));
    return found === undefined ? null : found.trim().slice(wanted.length);
  }

  /** A value of `set-cookie`. */
  set(name: CookieName, value: string): string {
    return `${this.#nameOf(name)}=${value}; ${this.#attributes(LASTING_MS[name])}`;
  }

  /** A value of `set-cookie` that removes the cookie. */
  clear(name: CookieName): string {
    return `${this.#nameOf(name)}=; ${this.#attributes(0)}`;
  }

  /** Without a port if the address has none, which means the scheme's default port. */
  #nameOf(name: CookieName): string {
    const { port } = new URL(this.#publicUrl());
    return `${this.#isSecure() ? "__Host-" : ""}${name}${port === "" ? "" : `-${port}`}`;
  }

  #attributes(lastingMs: number): string {
    const secure = this.#isSecure() ? "; Secure" : "";
    return `Path=/; Max-Age=${lastingMs / 1_000}; HttpOnly; SameSite=Strict${secure}`;
  }

  #isSecure(): boolean {
    return new URL(this.#publicUrl()).protocol === "https:";
  }
}
