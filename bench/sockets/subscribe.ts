// Connections with one user data subscription each.
import type { Credentials } from "../wire/requests.ts";
import type { OnLost } from "../wire/wire.ts";
import { SocketConnection, signedMessage, WS_API_PATH } from "./wire.ts";

/** Attempts at a time that a server's queue of new connections holds. */
export const GENTLY = 64;

/**
 * Connects for each key and subscribes to its account's events; resolves when all are subscribed. `atOnce` is
 * how many connect at the same time.
 */
export async function subscribeAll(
  {
    port,
    keys,
    atOnce,
  }: { readonly port: number; readonly keys: readonly Credentials[]; readonly atOnce: number },
  handlers: {
    readonly onSubscribed?: () => void;
    /** Called with the position of the key among all. */
    readonly onEvent: (index: number, payload: Buffer) => void;
    readonly onLost: OnLost;
  },
): Promise<SocketConnection[]> {
  const connections: SocketConnection[] = [];
  while (connections.length < keys.length) {
    const first = connections.length;
    const some = keys.slice(first, first + atOnce).map(async (key, index) => {
      const onMessage = (payload: Buffer) => handlers.onEvent(first + index, payload);
      const to = { port, path: WS_API_PATH };
      const connection = await SocketConnection.open(to, { onMessage, onLost: handlers.onLost });
      await subscribe(connection, key);
      handlers.onSubscribed?.();
      return connection;
    });
    connections.push(...(await Promise.all(some)));
  }
  return connections;
}

function subscribe(connection: SocketConnection, { apiKey, apiSecret }: Credentials): Promise<void> {
  const form = `apiKey=${apiKey}&recvWindow=10000&timestamp=${Date.now()}`;
  const text = signedMessage(1, "userDataStream.subscribe.signature", form, apiSecret);
  return new Promise((resolve, reject) =>
    connection.send(text, (status, payload) => {
      if (status === 200) resolve();
      else reject(new Error(`a subscription was answered with ${payload}`));
    }),
  );
}
