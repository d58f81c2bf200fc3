// The two cookies that a browser gets: of its session, and of the account it is known to (see `lockout.ts`).
// Neither can be read by scripts, nor is sent along by another site, not even when it links here: the
// dashboard's pages need none, and what they ask for comes from this site. On https their names tell browsers
// that nothing but this very host may set them. Browsers keep one set of cookies for all ports of a host, so
// the names carry the port: two servers on one host do not sign each other out.

export type CookieName = "lyrebird" | "lyrebird-device";

/** How long a session lasts, ms. */
export const SESSION_MS = 7 * 24 * 3_600_000;
/** How long a browser stays known, ms: as long as browsers keep any cookie. */
export const DEVICE_MS = 400 * 24 * 3_600_000;

const LASTING_MS: { readonly [N in CookieName]: number } = {
  lyrebird: SESSION_MS,
  "lyrebird-device": DEVICE_MS,
};

export class Cookies {
  readonly #publicUrl: () => string;

  /**
   * `publicUrl` is where browsers reach the server: behind a proxy the proxy's scheme and port count, not the
   * server's own.
   */
  constructor(publicUrl: () => string) {
    this.#publicUrl = publicUrl;
  }

  /** The value of a cookie that came with a request; null if it did not. */
  read(name: CookieName, header: string | null): string | null {
    const wanted = `${this.#nameOf(name)}=`;
    const found = header?.split(";").find((each) => each.trimStart().startsWith(wanted));
    return found === undefined ? null : found.trim().slice(wanted.length);
  }

  /** A value of `set-cookie`. */
  set(name: CookieName, value: string): string {
    return `${this.#nameOf(name)}=${value}; ${this.#attributes(LASTING_MS[name])}`;
  }

  /** A value of `set-cookie` that has the browser forget it. */
  clear(name: CookieName): string {
    return `${this.#nameOf(name)}=; ${this.#attributes(0)}`;
  }

  /** Without a port where the address has none, as that of a scheme's default port. */
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
