// A client of a Socket.IO stream that subscribes and then only counts.
import { SocketConnection } from "../sockets/wire.ts";
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

const PATH = "/socket.io/?EIO=4&transport=websocket";
/** An Engine.IO packet of one character is a ping; the answer is a pong. */
const PING_LENGTH = 1;
const PONG = "3";

/**
 * Joins the namespace and resolves once subscribed. `onLost` is called when the other side ends the
 * connection.
 */
export function openStream(
  port: number,
  { namespace, auth, stream }: Subscription,
  { tally, onLost }: { readonly tally: Tally; readonly onLost: OnLost },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const lose = (reason: string) => {
    reject(new Error(reason));
    onLost(reason);
  };
  /** What the server says in turn, and what is sent then. */
  const steps: (readonly [said: string, next: (connection: SocketConnection) => void])[] = [
    ["0{", (connection) => connection.write(`40${namespace},${JSON.stringify(auth())}`)],
    [
      `40${namespace},`,
      (connection) => connection.write(`42${namespace},["subscribe",${JSON.stringify(stream)}]`),
    ],
    [`42${namespace},["subscribed",`, () => resolve()],
  ];
  const onMessage = (payload: Buffer, connection: SocketConnection) => {
    if (payload.length === PING_LENGTH) return connection.write(PONG);
    const step = steps.shift();
    if (step === undefined) {
      tally.messages += 1;
      tally.bytes += payload.length;
    } else if (payload.toString("latin1").startsWith(step[0])) step[1](connection);
    else {
      connection.close();
      lose(`a stream's handshake was answered with ${payload}`);
    }
  };
  SocketConnection.open({ port, path: PATH }, { onMessage, onLost: lose }).catch(reject);
  return promise;
}
