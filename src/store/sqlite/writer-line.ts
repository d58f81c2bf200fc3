// A way to the thread that writes: the owner's, who starts and stops it, or a guest's, which is a port to the owner's. A guest is
// another thread of the same process that works on the same file, so that there is one writer and no second one to wait for.
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { WriteReply, WriteRequest } from "./commit-worker.ts";

export type WriterLine = {
  post(request: WriteRequest): void;
  /** `ended` is told once, after the last reply: no other comes. */
  listen(listener: { reply(reply: WriteReply): void; ended(reason: string): void }): void;
  /** Another line to the same thread, for a guest; the owner alone can open one. */
  openPort(): MessagePort;
  /** Ends it; of the owner's, everything that was posted before is carried out first, and the thread stops. */
  close(): Promise<void>;
};

/** Starts the thread. Its other lines end with it. */
export function startWriter(file: string): WriterLine {
  const worker = new Worker(new URL("./commit-worker.ts", import.meta.url), { workerData: { file } });
  const stopped = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  return {
    post: (request) => worker.postMessage(request),
    listen({ reply, ended }) {
      worker.on("message", reply);
      worker.on("error", ({ message }: Error) => ended(message));
      worker.once("exit", () => ended("the commit worker has stopped"));
    },
    openPort() {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ kind: "guest", port: port1 }, [port1]);
      return port2;
    },
    async close() {
      worker.postMessage("stop");
      await stopped;
    },
  };
}

/** A guest's line, through a port that its owner has opened. */
export function guestLine(port: MessagePort): WriterLine {
  return {
    post: (request) => port.postMessage(request),
    listen({ reply, ended }) {
      port.on("message", reply);
      port.once("close", () => ended("the commit worker has stopped"));
    },
    openPort() {
      throw new Error("the owner of a writer opens its ports");
    },
    async close() {
      port.close();
    },
  };
}
