// Replaces the copier's thread: reports what it is woken for.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { FromThread, ThreadStart, ToThread } from "../thread-host.ts";

const port = parentPort as MessagePort;
const say = (message: FromThread) => port.postMessage(message);
const { database, ...start }: ThreadStart = workerData;
let isStubborn = false;
let lingers = false;

port.on("message", (message: ToThread) => {
  if (message.kind === "CLOSE") {
    if (lingers) say({ kind: "CLOSED" });
    else if (!isStubborn) port.close();
    return;
  }
  switch (message.strategyId) {
    case "throws":
      throw new Error("a bug");
    case "ends":
      process.exit(0);
      break;
    case "is stubborn":
      isStubborn = true;
      break;
    case "lingers":
      lingers = true;
      break;
    case "pauses":
      say({ kind: "PAUSED", copyId: "copy", personId: "person", reason: "STOP_LOSS" });
      break;
    case "fails":
      say({ kind: "FAILED", reason: "the disk is full" });
      break;
    case "logs":
      say({ kind: "LOG", line: JSON.stringify({ level: 40, time: 1, msg: "look", apiSecret: "s", of: 1 }) });
  }
  say({ kind: "COPIES_CHANGED", copyIds: [`${message.strategyId} ${message.version}`] });
});
const strategyIds = ["one", "throws", "ends", "is stubborn", "lingers", "pauses", "fails", "logs"];
say({ kind: "CLAIMED", strategyIds });
say({ kind: "COPIES_CHANGED", copyIds: [JSON.stringify({ ...start, kind: database.kind })] });
