// Who asks for something, as far as a request tells.

export type Caller = {
  /** The client's address. */
  readonly address: string;
  readonly userAgent: string;
  /** The header `cookie` as received; null if there was none. */
  readonly cookies: string | null;
};
