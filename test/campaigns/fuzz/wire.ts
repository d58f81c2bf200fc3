// Requests on the wire, over connections that are kept, and their answers as they came. Texts are bytes, one
// a character.
import { Agent } from "node:http";
import { exchangeText } from "../../support/raw.ts";

export type Sent = {
  readonly method: string;
  /** Path and query, as they shall be on the wire. */
  readonly target: string;
  /** Null for no body at all. */
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
};

export type Answer = Awaited<ReturnType<typeof exchangeText>>;

/** How long an answer may take, ms: longer than the gateway waits for anybody. */
const ANSWER_MS_MAX = 15_000;

export class Wire {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(url: string, connectionsMax: number) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax, scheduling: "fifo" });
  }

  /** Sends a request as it is. Rejects if there is no whole answer. */
  send({ method, target, body, headers }: Sent): Promise<Answer> {
    const bytes = body === null ? {} : { body: Buffer.from(body, "latin1") };
    const request = { method, path: target, headers, ...bytes };
    return exchangeText(this.#url, request, { agent: this.#agent, timeout: ANSWER_MS_MAX });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/**
 * A request as a person can read it and send it again; bytes that cannot be read are escaped as Bash does it.
 */
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
