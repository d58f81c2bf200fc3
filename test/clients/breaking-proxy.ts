// A proxy that breaks connections: in the middle of an exchange, after the request was forwarded, or on
// demand.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export type BreakingProxy = AsyncDisposable & {
  readonly url: string;
  /** The next so many connections end where their answer should begin. */
  swallowAnswers(count: number): void;
  /** How many answers were swallowed. */
  swallowed(): number;
  /** All connections break now. */
  cut(): void;
};

/** Forwards to a server, byte by byte. */
export async function openBreakingProxy(targetUrl: string): Promise<BreakingProxy> {
  const { hostname, port } = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let left = 0;
  let swallowed = 0;

  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on("data", (bytes) => target.write(bytes));
    target.on("data", (bytes) => {
      if (left === 0) {
        client.write(bytes);
        return;
      }
      left -= 1;
      swallowed += 1;
      target.removeAllListeners("data");
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallowAnswers(count) {
      left = count;
    },
    swallowed: () => swallowed,
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
