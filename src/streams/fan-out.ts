// Sends one message to many sockets. A message is encoded once, as the bytes of its WebSocket frame, for all
// clients. A send buffer per client and namespace passes on a message when the one before has left for the
// network. Until then it keeps the newest message of each topic and, in order, all messages that must not be
// missed (final candles, answers). So a slow client holds a bounded amount of memory and delays no other; one
// with too many unsent messages of the latter kind is disconnected. The frame goes to Engine.IO as in
// Socket.IO's own adapter; an Engine.IO without that option would encode the text for each client.
import type { Socket } from "socket.io";

/**
 * Messages that must not be missed and wait for a client until it is given up: as many finals as are fetched
 * after an outage (a thousand a topic), of as many topics as a connection may have. All clients share a
 * message.
 */
export const KEPT_MESSAGES_MAX = 20_000;

/** The part of a message that all clients share. */
export type Message = {
  /** A packet of the Socket.IO protocol. */
  readonly text: string;
  readonly options: { readonly wsPreEncodedFrame: readonly Buffer[] };
};

/** The connection below a send buffer. */
export type Transport = Pick<Socket["conn"], "write">;

/** Encodes an event of a namespace, for any number of clients. */
export function encode(namespace: string, event: string, payload: object): Message {
  // An EVENT of the Socket.IO protocol 5, within a message of the Engine.IO protocol 4.
  const text = `2${namespace},${JSON.stringify([event, payload])}`;
  return { text, options: { wsPreEncodedFrame: [textFrame(`4${text}`)] } };
}

export class Line {
  readonly #transport: Transport;
  readonly #giveUp: () => void;
  #isBusy = false;
  #isEnded = false;
  /** By topic, those that must not be missed by a number, in the order in which they go. */
  #waiting: Map<string | number, Message> | null = null;
  #keptCount = 0;
  #lastKept = 0;

  /** `giveUp` is called once when too much waits; the line is then at its end. */
  constructor(transport: Transport, giveUp: () => void) {
    this.#transport = transport;
    this.#giveUp = giveUp;
  }

  /** Sends what a newer message of the topic makes worthless. */
  sendNewest(topic: string, message: Message): void {
    if (this.#isEnded) return;
    if (!this.#isBusy) return void this.#write(message);
    this.#waiting ??= new Map();
    this.#waiting.delete(topic);
    this.#waiting.set(topic, message);
  }

  /** Sends what must not be missed. What waits of the topic, if it is of one, is worthless from now on. */
  sendKept(topic: string | null, message: Message): void {
    if (this.#isEnded) return;
    if (!this.#isBusy) return void this.#write(message);
    this.#waiting ??= new Map();
    if (topic !== null) this.#waiting.delete(topic);
    if (this.#keptCount >= KEPT_MESSAGES_MAX) {
      this.end();
      return void this.#giveUp();
    }
    this.#keptCount += 1;
    this.#lastKept += 1;
    this.#waiting.set(this.#lastKept, message);
  }

  /** Sends a message as the last one, before anything that still waits. */
  sendLast(message: Message): void {
    if (this.#isEnded) return;
    this.end();
    this.#transport.write(message.text, message.options as object);
  }

  /** Nothing goes any more. */
  end(): void {
    this.#isEnded = true;
    this.#waiting = null;
  }

  #write({ text, options }: Message): void {
    this.#isBusy = true;
    this.#transport.write(text, options as object, this.#left);
  }

  /** The last of what was written has left. */
  readonly #left = () => {
    const waiting = this.#waiting;
    if (waiting === null || waiting.size === 0) {
      this.#isBusy = false;
      return;
    }
    this.#waiting = null;
    this.#keptCount = 0;
    let left = waiting.size;
    for (const { text, options } of waiting.values()) {
      left -= 1;
      // One call when all of them have left is enough.
      if (left > 0) this.#transport.write(text, options as object);
      else this.#transport.write(text, options as object, this.#left);
    }
  };
}

const FINAL_TEXT = 0x81;
const BYTES_IN_2_OCTETS = 126;
const BYTES_IN_8_OCTETS = 127;

/** A text as one unmasked WebSocket frame. Source: RFC 6455, section 5.2. */
export function textFrame(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const lengthOctets = bytes < BYTES_IN_2_OCTETS ? 0 : bytes < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + lengthOctets + bytes);
  frame[0] = FINAL_TEXT;
  if (lengthOctets === 0) frame[1] = bytes;
  else if (lengthOctets === 2) {
    frame[1] = BYTES_IN_2_OCTETS;
    frame.writeUInt16BE(bytes, 2);
  } else {
    frame[1] = BYTES_IN_8_OCTETS;
    frame.writeBigUInt64BE(BigInt(bytes), 2);
  }
  frame.write(text, 2 + lengthOctets);
  return frame;
}
