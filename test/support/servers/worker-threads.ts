// Threads of a program, seen through its inspector: started with `INSPECTED` in its environment, it says
// where that listens. So can a thread be ended from outside, as it would end by a fault of its own, with
// nothing in the program that is for tests.
import { once } from "node:events";
import { WebSocket } from "ws";

export const INSPECTED = { NODE_OPTIONS: "--inspect=127.0.0.1:0" } as const;

/**
 * Ends the program's thread that runs a file of this name, at once, wherever it is. `output` is what the
 * program has said.
 */
export async function endThread(output: string, fileName: string): Promise<void> {
  const url = /^Debugger listening on (\S+)$/m.exec(output)?.[1];
  if (url === undefined) throw new Error("the program was not started to be inspected");
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  try {
    const threads = new Map<string, string>();
    const attached = new Promise<string>((resolve, reject) => {
      socket.on("message", (data) => {
        const { method, params, id } = JSON.parse(String(data));
        if (method === "NodeWorker.attachedToWorker") threads.set(params.workerInfo.url, params.sessionId);
        // The inspector reports all existing threads before this reply.
        if (id !== 1) return;
        const [, sessionId] = [...threads].find(([file]) => file.endsWith(`/${fileName}`)) ?? [];
        if (sessionId === undefined) reject(new Error(`no thread runs ${fileName}: ${[...threads.keys()]}`));
        else resolve(sessionId);
      });
    });
    socket.send(
      JSON.stringify({ id: 1, method: "NodeWorker.enable", params: { waitForDebuggerOnStart: false } }),
    );
    const sessionId = await attached;
    const gone = new Promise<void>((resolve) => {
      socket.on("message", (data) => {
        const { method, params } = JSON.parse(String(data));
        if (method === "NodeWorker.detachedFromWorker" && params.sessionId === sessionId) resolve();
      });
    });
    const message = JSON.stringify({
      id: 1,
      method: "Runtime.evaluate",
      params: { expression: "process.exit(1)" },
    });
    socket.send(
      JSON.stringify({ id: 2, method: "NodeWorker.sendMessageToWorker", params: { sessionId, message } }),
    );
    await gone;
  } finally {
    socket.terminate();
  }
}
