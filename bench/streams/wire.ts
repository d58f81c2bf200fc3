// A raw connection of a Socket.IO client over WebSocket that subscribes to one stream and then only counts.
// It reads no more of a frame than its length, so that a receiver costs less than whatever it measures.
import { createHash, randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { OnLost } from "../wire/wire.ts";

/** Counters of all connections of a process since they were subscribed. */
export type Tally = { messages: number; bytes: number };

export type Subscription = {
  readonly namespace: string;
  /** The auth object of the handshake, made when it is needed. */
  readonly auth: () => object;
  /** The payload of `subscribe`. */
  readonly stream: object;
};

/** As many as a key may have. Source: specification 8.3. */
export const CONNECTIONS_PER_KEY = 5;

const HOST = "127.0.0.1";
const TARGET = "/socket.io/?EIO=4&transport=websocket";
const READ_BYTES = 65_536;
const HEAD_END = "\r\n\r\n";
const NOTHING = Buffer.alloc(0);
/** Source: RFC 6455, section 1.3. */
const ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY_BYTES = 16;

/**
 * Frames of a server carry no mask: two bytes, and two or eight more for the length. Source: RFC 6455,
 * section 5.2.
 */
const TEXT = 0x81;
const MASKED = 0x80;
const MEDIUM_LENGTH = 126;
const LONG_LENGTH = 127;
const LENGTH_BITS = 0x7f;
const MASK_BYTES = 4;
/** An Engine.IO packet of one character is a ping; the answer is a pong. */
const PING_LENGTH = 1;
const PONG = "3";

export class StreamConnection {
  readonly #socket: Socket;
  readonly #tally: Tally;
  /** Unparsed bytes: of the handshake, or a header that was cut in two. */
  #unread: Buffer = NOTHING;
  /** Bytes of the present frame that are still to come. */
  #left = 0;
  /** The expected next answer of the handshake. */
  #step: (text: string) => void = () => {};
  #isUpgraded = false;
  #isSubscribed = false;
  #isClosing = false;

  private constructor(socket: Socket, tally: Tally) {
    this.#socket = socket;
    this.#tally = tally;
  }

  /** Connects and resolves once subscribed. `onLost` is called when the other side ends the connection. */
  static open(
    port: number,
    subscription: Subscription,
    { tally, onLost }: { readonly tally: Tally; readonly onLost: OnLost },
  ): Promise<StreamConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<StreamConnection>();
    const socket = connect({
      host: HOST,
      port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(READ_BYTES),
        callback: (count, buffer) => {
          connection.#take(buffer.subarray(0, count) as Buffer, lose);
          return true;
        },
      },
    });
    const connection = new StreamConnection(socket, tally);
    const lose = (reason: string) => {
      if (connection.#isClosing) return;
      connection.close();
      reject(new Error(reason));
      onLost(reason);
    };
    connection.#begin(subscription, { onSubscribed: () => resolve(connection), onRefused: lose });
    socket.on("error", (error) => lose(error.message));
    socket.on("end", () => lose("the server closed a stream's connection"));
    socket.on("close", () => lose("the server closed a stream's connection"));
    return promise;
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  /** Upgrades, joins the namespace and subscribes, each when the step before has been answered. */
  #begin(
    { namespace, auth, stream }: Subscription,
    { onSubscribed, onRefused }: { readonly onSubscribed: () => void; readonly onRefused: OnLost },
  ): void {
    const key = randomBytes(KEY_BYTES).toString("base64");
    const accept = createHash("sha1")
      .update(key + ACCEPT_SUFFIX)
      .digest("base64");
    const answers = [
      (text: string) => {
        if (!text.startsWith("HTTP/1.1 101 ") || !text.includes(accept)) return false;
        this.#isUpgraded = true;
        return true;
      },
      (text: string) => {
        if (!text.startsWith("0{")) return false;
        this.#send(`40${namespace},${JSON.stringify(auth())}`);
        return true;
      },
      (text: string) => {
        if (!text.startsWith(`40${namespace},`)) return false;
        this.#send(`42${namespace},["subscribe",${JSON.stringify(stream)}]`);
        return true;
      },
      (text: string) => {
        if (!text.startsWith(`42${namespace},["subscribed",`)) return false;
        this.#isSubscribed = true;
        onSubscribed();
        return true;
      },
    ];
    this.#step = (text) => {
      if (!answers.shift()?.(text)) onRefused(`a stream's handshake was answered with ${text}`);
    };
    this.#socket.write(
      `GET ${TARGET} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`,
    );
  }

  /** The read buffer is overwritten by the next read: unparsed bytes are copied. */
  #take(read: Buffer, lose: OnLost): void {
    const bytes = this.#unread.length === 0 ? read : Buffer.concat([this.#unread, read]);
    let at = 0;
    if (!this.#isUpgraded) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd === -1) {
        this.#unread = Buffer.from(bytes);
        return;
      }
      this.#step(bytes.toString("latin1", 0, headEnd));
      at = headEnd + HEAD_END.length;
    }
    while (at < bytes.length && !this.#isClosing) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, bytes.length - at);
        this.#left -= skipped;
        at += skipped;
        continue;
      }
      const length = lengthAt(bytes, at);
      const payloadAt = at + headerBytes(bytes, at);
      if (length === null || (!this.#isSubscribed && bytes.length < payloadAt + length)) break;
      if (bytes[at] !== TEXT) lose(`a frame is no text: ${bytes[at]}`);
      else if (length === PING_LENGTH) this.#send(PONG);
      else if (this.#isSubscribed) {
        this.#tally.messages += 1;
        this.#tally.bytes += length;
      } else this.#step(bytes.toString("utf8", payloadAt, payloadAt + length));
      at = payloadAt;
      this.#left = length;
    }
    this.#unread = at < bytes.length ? Buffer.from(bytes.subarray(at)) : NOTHING;
  }

  /** A text frame, masked with zeros as a client must. */
  #send(text: string): void {
    const payload = Buffer.from(text);
    const isShort = payload.length < MEDIUM_LENGTH;
    const header = Buffer.alloc((isShort ? 2 : 4) + MASK_BYTES);
    header[0] = TEXT;
    header[1] = MASKED | (isShort ? payload.length : MEDIUM_LENGTH);
    if (!isShort) header.writeUInt16BE(payload.length, 2);
    this.#socket.write(Buffer.concat([header, payload]));
  }
}

/** The length of the payload of the frame that begins here; null while its header is not complete. */
export function lengthAt(bytes: Buffer, at: number): number | null {
  const short = bytes[at + 1];
  if (short === undefined || bytes.length < at + headerBytes(bytes, at)) return null;
  const length = short & LENGTH_BITS;
  if (length === MEDIUM_LENGTH) return bytes.readUInt16BE(at + 2);
  if (length === LONG_LENGTH) return Number(bytes.readBigUInt64BE(at + 2));
  return length;
}

export function headerBytes(bytes: Buffer, at: number): number {
  const length = (bytes[at + 1] ?? 0) & LENGTH_BITS;
  return length === MEDIUM_LENGTH ? 4 : length === LONG_LENGTH ? 10 : 2;
}
