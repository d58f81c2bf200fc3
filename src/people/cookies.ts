// The two cookies that a browser gets: of its session, and of the account it is known to (see `lockout.ts`). Neither can be read
// by scripts, nor is sent along by another site, not even when it links here: the dashboard's pages need none, and what they ask
// for comes from this site. On https their names tell browsers that nothing but this very host may set them.

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
  readonly #isSecure: () => boolean;

  /** `isSecure` says whether browsers reach the server over https. */
  constructor(isSecure: () => boolean) {
    this.#isSecure = isSecure;
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

  #nameOf(name: CookieName): string {
    return this.#isSecure() ? `__Host-${name}` : name;
  }

  #attributes(lastingMs: number): string {
    const secure = this.#isSecure() ? "; Secure" : "";
    return `Path=/; Max-Age=${lastingMs / 1_000}; HttpOnly; SameSite=Strict${secure}`;
  }
}
