// Requests on the wire, over connections that are kept, and their answers as they came. Texts are bytes, one a character.
import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";

export type Sent = {
  readonly method: string;
  /** Path and query, as they shall be on the wire. */
  readonly target: string;
  /** Null for no body at all. */
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/** How long an answer may take, ms: longer than the gateway waits for anybody. */
const ANSWER_MS_MAX = 15_000;

export class Wire {
  readonly #hostname: string;
  readonly #port: string;
  readonly #agent: Agent;

  constructor(url: string, connectionsMax: number) {
    const { hostname, port } = new URL(url);
    this.#hostname = hostname;
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax, scheduling: "fifo" });
  }

  /** Sends a request as it is. Rejects if there is no whole answer. */
  send({ method, target, body, headers }: Sent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({
        agent: this.#agent,
        hostname: this.#hostname,
        port: this.#port,
        method,
        path: target,
        headers: body === null ? headers : { ...headers, "content-length": body.length },
        timeout: ANSWER_MS_MAX,
      });
      outgoing.on("error", reject);
      outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)));
      outgoing.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      });
      outgoing.end(body ?? undefined, "latin1");
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A request as a person can read it and send it again; bytes that cannot be read are escaped as Bash does it. */
export function curlOf(url: string, { method, target, body, headers }: Sent): string {
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const data = body === null ? [] : [`--data-raw ${quoted(body)}`];
  return ["curl -i --path-as-is -X", method, ...fields, ...data, quoted(url + target)].join(" ");
}

function quoted(text: string): string {
  if (!/[^ -~]/.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/[^ -~]|['\\]/g, (each) => {
    return `\\x${each.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `$'${escaped}'`;
}
