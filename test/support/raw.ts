// Requests that no HTTP library would send: exact query, body and headers, or bytes on a socket.
import { createHmac } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { Credentials } from "./servers/gateway.ts";

export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
  readonly body: any;
  /** The body as it came. */
  readonly text: string;
};

export type RawRequest = {
  readonly method: string;
  readonly path: string;
  /** As it shall be on the wire, without the question mark. */
  readonly query?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/** HMAC-SHA256 of a message as lowercase hex. */
export function hmacHex(secret: string, message: string): string {
  return createHmac("sha256", secret).update(message).digest("hex");
}

/**
 * Sends a request as it is: no header is added but Host, Connection and, unless it is chunked,
 * Content-Length.
 */
export async function exchange(url: string, request: RawRequest): Promise<RawAnswer> {
  const answer = await exchangeText(url, request);
  const isJson = answer.text !== "" && !isOther(answer.headers["content-type"]);
  return { ...answer, body: isJson ? JSON.parse(answer.text) : null };
}

/**
 * The same without a look at the body. With a `timeout`, ms, it rejects if there is no whole answer by then.
 */
export function exchangeText(
  url: string,
  { method, path, query, body, headers }: RawRequest,
  options: Pick<RequestOptions, "agent" | "timeout"> = {},
) {
  const { hostname, port } = new URL(url);
  const isChunked = headers !== undefined && "transfer-encoding" in headers;
  return new Promise<Omit<RawAnswer, "body"> & { readonly headers: IncomingHttpHeaders }>(
    (resolve, reject) => {
      const outgoing = httpRequest({
        ...options,
        hostname,
        port,
        method,
        path: query === undefined ? path : `${path}?${query}`,
        headers: {
          ...(body === undefined || isChunked ? {} : { "content-length": String(Buffer.byteLength(body)) }),
          ...headers,
        },
      });
      outgoing.on("error", reject);
      outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${options.timeout} ms`)));
      outgoing.on("response", (response) => {
        const { statusCode: status = 0 } = response;
        text(response).then((whole) => resolve({ status, headers: response.headers, text: whole }), reject);
      });
      outgoing.end(body);
    },
  );
}

/** Whether a type of content says that it is something else than JSON. */
function isOther(contentType: string | undefined): boolean {
  return contentType !== undefined && /^text\/(csv|html|plain)/.test(contentType);
}

export type Parts = {
  /** Signed parameters in the query, before the signature. */
  readonly query?: string;
  /** Signed parameters in the body, before the signature. */
  readonly body?: string;
  /** Where the signature goes. */
  readonly carriage?: "query" | "body";
  readonly headers?: Readonly<Record<string, string>>;
};

/** Signs query and body as they are and sends them, the signature last in the part that `carriage` names. */
export function exchangeSigned(
  url: string,
  { apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">,
  method: string,
  path: string,
  { query = "", body = "", carriage = "query", headers = {} }: Parts,
) {
  const signature = `signature=${hmacHex(apiSecret, query + body)}`;
  const withSignature = (part: string) => (part === "" ? signature : `${part}&${signature}`);
  const sentQuery = carriage === "query" ? withSignature(query) : query;
  const sentBody = carriage === "body" ? withSignature(body) : body;
  return exchange(url, {
    method,
    path,
    headers: { "x-mbx-apikey": apiKey, ...headers },
    ...(sentQuery === "" ? {} : { query: sentQuery }),
    ...(sentBody === "" ? {} : { body: sentBody }),
  });
}

/** How long a busy server may take to answer, or to hang up on, bytes that are no request, ms. */
const SOCKET_MS_MAX = 30_000;

/**
 * Writes bytes to a new connection and resolves with everything that comes back until the server hangs up.
 */
export function talk(url: string, bytes: string | Uint8Array, options: { hangUp?: boolean } = {}) {
  const { hostname, port } = new URL(url);
  return new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = "";
    const settle = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(SOCKET_MS_MAX, () => {
      socket.destroy();
      reject(
        new Error(`no answer and no end within ${SOCKET_MS_MAX} ms; so far: ${JSON.stringify(received)}`),
      );
    });
    socket.on("connect", () => {
      socket.write(bytes);
      if (options.hangUp === true) socket.end();
    });
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("close", settle);
    // A server that closes while bytes are in flight resets the connection: that ends it, too.
    socket.on("error", settle);
  });
}
