// A raw keep-alive HTTP/1.1 connection that carries one request at a time. It reads no more of an answer than
// its status and its length, so that the sender costs less than whatever it measures.
import { connect, type Socket } from "node:net";

/** `body` may only be read during the call; `head` is the status line with the headers. */
export type OnAnswer = (status: number, body: Buffer, head: string) => void;
/** Called when the other side ended a connection, or violated the protocol. */
export type OnLost = (reason: string) => void;

const HOST = "127.0.0.1";
const READ_BYTES = 16_384;
const HEAD_END = Buffer.from("\r\n\r\n");
/** `HTTP/1.1 200`: the position of the three digits. */
const STATUS_AT = 9;

export class WireConnection {
  readonly #socket: Socket;
  #onAnswer: OnAnswer | null = null;
  #unread: Buffer | null = null;
  #isClosing = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Connects. `onLost` is called when the other side ends the connection, or sends an unexpected answer. */
  static open(port: number, onLost: OnLost): Promise<WireConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<WireConnection>();
    const socket = connect({
      host: HOST,
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (count, buffer) => {
          connection.#take(buffer.subarray(0, count) as Buffer, onLost);
          return true;
        },
      },
    });
    const connection = new WireConnection(socket);
    const lose = (reason: string) => {
      if (connection.#isClosing) return;
      connection.#isClosing = true;
      reject(new Error(reason));
      onLost(reason);
    };
    socket.once("connect", () => resolve(connection));
    socket.on("error", (error) => lose(error.message));
    socket.on("end", () => lose("the server closed a connection"));
    socket.on("close", () => lose("the server closed a connection"));
    return promise;
  }

  /** Sends a request as it is; the connection must be idle. */
  send(request: string, onAnswer: OnAnswer): void {
    if (this.#onAnswer !== null) throw new Error("a connection carries one request at a time");
    this.#onAnswer = onAnswer;
    this.#socket.write(request, "latin1");
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  #take(read: Buffer, onLost: OnLost): void {
    const bytes = this.#unread === null ? read : Buffer.concat([this.#unread, read]);
    const headEnd = bytes.indexOf(HEAD_END);
    const bodyAt = headEnd + HEAD_END.length;
    const head = headEnd === -1 ? "" : bytes.toString("latin1", 0, headEnd);
    const length = headEnd === -1 ? Number.POSITIVE_INFINITY : contentLength(head);
    if (bytes.length < bodyAt + length) {
      // The read buffer is overwritten by the next read.
      this.#unread = Buffer.from(bytes);
      return;
    }
    this.#unread = null;
    const onAnswer = this.#onAnswer;
    this.#onAnswer = null;
    if (onAnswer === null || bytes.length > bodyAt + length) onLost("the server answered too much");
    else onAnswer(Number(head.slice(STATUS_AT, STATUS_AT + 3)), bytes.subarray(bodyAt), head);
  }
}

function contentLength(head: string): number {
  const match = /\r\ncontent-length: ([0-9]+)/i.exec(head);
  if (match === null) throw new Error(`an answer says its length: ${head}`);
  return Number(match[1]);
}
