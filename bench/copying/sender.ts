// The ceiling of copying: a process that signs as many placements and sends them to the same venue, over as
// many connections, and does nothing else. Each message gives it a number of orders; it answers with their
// duration.
import { SOCKETS_MAX } from "../../src/copy/venue/signed-rest.ts";
import { ORDER_PATHS, signedPost } from "../wire/requests.ts";
import { WireConnection } from "../wire/wire.ts";
import { COPIED_SYMBOL, type CopySenderTask, type CopySent, keyOf, secretOf } from "./terms.ts";

let lastId = 0;

process.on("message", async ({ port, orders }: CopySenderTask) => {
  try {
    process.send?.({ ms: await send(port, orders), failure: null } satisfies CopySent);
  } catch (error) {
    process.send?.({ ms: 0, failure: String(error) } satisfies CopySent);
  }
});
process.once("disconnect", () => process.exit());

async function send(port: number, orders: number): Promise<number> {
  const over = Promise.withResolvers<void>();
  const count = Math.min(SOCKETS_MAX, orders);
  const opening = Array.from({ length: count }, () => WireConnection.open(port, over.reject));
  const connections = await Promise.all(opening);
  const began = performance.now();
  let sent = 0;
  let answered = 0;
  const next = (connection: WireConnection): void => {
    if (sent === orders) return;
    sent += 1;
    connection.send(placement(keyOf(sent)), (status) => {
      if (status !== 200) over.reject(new Error(`a placement was answered ${status}`));
      answered += 1;
      if (answered === orders) over.resolve();
      next(connection);
    });
  };
  try {
    for (const connection of connections) next(connection);
    await over.promise;
    return performance.now() - began;
  } finally {
    for (const connection of connections) connection.close();
  }
}

function placement(apiKey: string): string {
  lastId += 1;
  const form =
    `symbol=${COPIED_SYMBOL}&side=BUY&type=MARKET&quantity=50&newClientOrderId=bare${lastId}` +
    `&newOrderRespType=FULL&recvWindow=3000&timestamp=${Date.now()}`;
  return signedPost(ORDER_PATHS.SPOT, form, apiKey, secretOf(apiKey));
}
