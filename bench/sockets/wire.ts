// A raw client of WebSockets that carries one request at a time and passes on whatever else arrives. It reads
// no more of a message than its length and its kind, so that it costs less than what it measures.
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type Credentials, signedMessage } from "../wire/requests.ts";
import type { OnAnswer, OnLost } from "../wire/wire.ts";

export const WS_API_PATH = "/ws-api/v3";

/** A payload may only be read during the call. */
type OnMessage = (payload: Buffer, connection: SocketConnection) => void;

const HOST = "127.0.0.1";
/** An address may try 300 times in five minutes. Source: reference sockets, section 2. */
const ATTEMPTS_PER_ADDRESS = 250;
const ADDRESSES_MAX = 254;
const HEAD_END = "\r\n\r\n";
const NOTHING = Buffer.alloc(0);
/** Any 16 bytes will do. */
const KEY = "TGV0IHRoZSBiZW5jaCBpbg==";
/** What a server makes of them. Source: RFC 6455, section 1.3. */
const ACCEPT = createHash("sha1").update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

/** First bytes of unfragmented frames. Source: RFC 6455, section 5.2. */
const TEXT = 0x81;
const PING = 0x89;
const PONG = 0x8a;
const MASKED = 0x80;
const MEDIUM_LENGTH = 126;
const LONG_LENGTH = 127;
const LENGTH_BITS = 0x7f;
/** Not zero, which a server would not have to undo. */
const MASK = [0x5a, 0xc3, 0x17, 0x8e] as const;

/** `{"id":1…`: an event begins with another letter. */
const ANSWER_LETTER = "i".charCodeAt(0);
const ANSWER_LETTER_AT = 2;
const STATUS = Buffer.from('"status":');

/** One buffer for all connections: what is read is consumed before the next read. */
const readBuffer = Buffer.allocUnsafe(65_536);

let attempts = 0;

export class SocketConnection {
  readonly #socket: Socket;
  readonly #onMessage: OnMessage;
  #onAnswer: OnAnswer | null = null;
  #onUpgraded: (() => void) | null;
  /** Bytes of a frame that is not complete. */
  #unread: Buffer = NOTHING;
  #isClosing = false;

  private constructor(socket: Socket, onUpgraded: () => void, onMessage: OnMessage) {
    this.#socket = socket;
    this.#onUpgraded = onUpgraded;
    this.#onMessage = onMessage;
  }

  /** Connects from an address that has not tried too often, and resolves when the server has upgraded. */
  static open(
    { port, path }: { readonly port: number; readonly path: string },
    { onMessage, onLost }: { readonly onMessage: OnMessage; readonly onLost: OnLost },
  ): Promise<SocketConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<SocketConnection>();
    const lose = (reason: string) => {
      if (connection.#isClosing) return;
      connection.close();
      reject(new Error(reason));
      onLost(reason);
    };
    const socket = connect({
      host: HOST,
      port,
      // Elsewhere than on Linux there is only one loopback address.
      ...(process.platform === "linux" && { localAddress: nextAddress() }),
      noDelay: true,
      onread: {
        buffer: readBuffer,
        callback: (count, buffer) => {
          connection.#take(buffer.subarray(0, count) as Buffer, lose);
          return true;
        },
      },
    });
    const connection = new SocketConnection(socket, () => resolve(connection), onMessage);
    socket.on("error", (error) => lose(error.message));
    socket.on("end", () => lose("the server closed a socket"));
    socket.on("close", () => lose("the server closed a socket"));
    socket.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
        `sec-websocket-version: 13\r\nsec-websocket-key: ${KEY}\r\n\r\n`,
    );
    return promise;
  }

  /** Sends a request as it is; the connection must be idle. */
  send(request: string, onAnswer: OnAnswer): void {
    if (this.#onAnswer !== null) throw new Error("a connection carries one request at a time");
    this.#onAnswer = onAnswer;
    this.write(request);
  }

  /** Sends a text that has no answer. */
  write(text: string): void {
    this.#socket.write(maskedFrame(TEXT, text));
  }

  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
  }

  #take(read: Buffer, lose: OnLost): void {
    const bytes = this.#unread.length === 0 ? read : Buffer.concat([this.#unread, read]);
    let at = 0;
    if (this.#onUpgraded !== null) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd !== -1) {
        const head = bytes.toString("latin1", 0, headEnd);
        if (!head.startsWith("HTTP/1.1 101 ") || !head.includes(ACCEPT))
          return void lose(`an upgrade was answered with ${bytes}`);
        this.#onUpgraded();
        this.#onUpgraded = null;
        at = headEnd + HEAD_END.length;
      }
    }
    while (this.#onUpgraded === null && at < bytes.length && !this.#isClosing) {
      const length = lengthAt(bytes, at);
      const payloadAt = at + headerBytes(bytes, at);
      if (length === null || bytes.length < payloadAt + length) break;
      this.#frame(bytes[at], bytes.subarray(payloadAt, payloadAt + length), lose);
      at = payloadAt + length;
    }
    this.#unread = at < bytes.length ? Buffer.from(bytes.subarray(at)) : NOTHING;
  }

  #frame(kind: number | undefined, payload: Buffer, lose: OnLost): void {
    if (kind === PING) this.#socket.write(maskedFrame(PONG, payload.toString("latin1")));
    else if (kind !== TEXT) lose(`a frame is no text: ${kind}, ${payload.toString("latin1", 2)}`);
    else if (payload[ANSWER_LETTER_AT] !== ANSWER_LETTER) this.#onMessage(payload, this);
    else {
      const onAnswer = this.#onAnswer;
      this.#onAnswer = null;
      if (onAnswer === null) return void lose("the server answered too much");
      const statusAt = payload.indexOf(STATUS) + STATUS.length;
      onAnswer(Number(payload.toString("latin1", statusAt, statusAt + 3)), payload, "");
    }
  }
}

/** The length of the payload of the frame that begins here; null while its header is not complete. */
function lengthAt(bytes: Buffer, at: number): number | null {
  const short = bytes[at + 1];
  if (short === undefined || bytes.length < at + headerBytes(bytes, at)) return null;
  const length = short & LENGTH_BITS;
  if (length === MEDIUM_LENGTH) return bytes.readUInt16BE(at + 2);
  if (length === LONG_LENGTH) return Number(bytes.readBigUInt64BE(at + 2));
  return length;
}

/** Frames of a server carry no mask: two bytes, and two or eight more for the length. */
function headerBytes(bytes: Buffer, at: number): number {
  const length = (bytes[at + 1] ?? 0) & LENGTH_BITS;
  return length === MEDIUM_LENGTH ? 4 : length === LONG_LENGTH ? 10 : 2;
}

/** Addresses of this process alone; a new one before the server would refuse the last one. */
function nextAddress(): string {
  const number = Math.floor(attempts / ATTEMPTS_PER_ADDRESS);
  attempts += 1;
  return `127.${(process.pid >> 8) & 0xff}.${process.pid & 0xff}.${1 + (number % ADDRESSES_MAX)}`;
}

/** A frame of a client; each character of the payload is a byte. */
function maskedFrame(kind: number, payload: string): Buffer {
  const isShort = payload.length < MEDIUM_LENGTH;
  const maskAt = isShort ? 2 : 4;
  const at = maskAt + MASK.length;
  const frame = Buffer.allocUnsafe(at + payload.length);
  frame[0] = kind;
  frame[1] = MASKED | (isShort ? payload.length : MEDIUM_LENGTH);
  if (!isShort) frame.writeUInt16BE(payload.length, 2);
  for (let index = 0; index < MASK.length; index++) frame[maskAt + index] = MASK[index] ?? 0;
  for (let index = 0; index < payload.length; index++)
    frame[at + index] = payload.charCodeAt(index) ^ (MASK[index & 3] ?? 0);
  return frame;
}

/** Attempts at a time that a server's queue of new connections holds. */
export const GENTLY = 64;

/** How long a client waits that is refused because the server is busy, as REST says in Retry-After, ms. */
const RETRY_MS = 1_000;
const BUSY_STATUS = 503;

export type SubscriptionHandlers = {
  /** `retries`: how often the server was too busy. */
  readonly onSubscribed?: (retries: number) => void;
  /** Events come with the position of their key. */
  readonly onEvent: (payload: Buffer, index: number) => void;
  readonly onLost: OnLost;
};

/**
 * Connects for each key, `atOnce` at the same time, and subscribes to its account's events. Resolves when all
 * are subscribed.
 */
export async function subscribeAll(
  to: { readonly port: number; readonly keys: readonly Credentials[]; readonly atOnce: number },
  { onSubscribed, onEvent, onLost }: SubscriptionHandlers,
): Promise<SocketConnection[]> {
  const connections: SocketConnection[] = [];
  while (connections.length < to.keys.length) {
    const first = connections.length;
    const some = to.keys.slice(first, first + to.atOnce).map(async (key, index) => {
      const onMessage = (payload: Buffer) => onEvent(payload, first + index);
      const connection = await SocketConnection.open(
        { port: to.port, path: WS_API_PATH },
        { onMessage, onLost },
      );
      let retries = 0;
      for (;;) {
        const [status, text] = await subscribe(connection, key);
        if (status === 200) break;
        if (status !== BUSY_STATUS) throw new Error(`a subscription was answered with ${text}`);
        retries += 1;
        await wait(RETRY_MS);
      }
      onSubscribed?.(retries);
      return connection;
    });
    connections.push(...(await Promise.all(some)));
  }
  return connections;
}

function subscribe(
  connection: SocketConnection,
  { apiKey, apiSecret }: Credentials,
): Promise<[number, string]> {
  const form = `apiKey=${apiKey}&recvWindow=10000&timestamp=${Date.now()}`;
  const text = signedMessage(1, "userDataStream.subscribe.signature", form, apiSecret);
  return new Promise((resolve) =>
    connection.send(text, (status, payload) => resolve([status, status === 200 ? "" : String(payload)])),
  );
}
