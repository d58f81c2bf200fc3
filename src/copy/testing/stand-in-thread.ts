// In the place of the copier's thread: says what it is woken for.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { FromThread, ThreadStart, ToThread } from "../thread-messages.ts";
import type { VenueReport } from "../venue/venue.ts";

const port = parentPort as MessagePort;
const say = (message: FromThread) => port.postMessage(message);
const { database, ...start }: ThreadStart = workerData;
let isStubborn = false;
const REPORT: VenueReport = {
  origin: "https://v.example",
  family: "SPOT",
  health: {
    isReachable: true,
    lastAnswerAt: null,
    pausedUntil: 0,
    budgetUsed: 0,
    clockOffsetMs: 0,
    answers: { ok: 0, refused: 0, limited: 0, unknown: 0 },
  },
};

port.on("message", (message: ToThread) => {
  if (message.kind === "CLOSE") {
    if (!isStubborn) port.close();
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
    case "pauses":
      say({ kind: "PAUSED", copyId: "copy", personId: "person", reason: "STOP_LOSS" });
      break;
    case "fares":
      say({ kind: "VENUES", reports: [REPORT] });
      break;
    case "fails":
      say({ kind: "FAILED", reason: "the disk is full" });
      break;
    case "logs":
      say({ kind: "LOG", line: JSON.stringify({ level: 40, time: 1, msg: "look", apiSecret: "s", of: 1 }) });
  }
  say({ kind: "COPIES_CHANGED", copyIds: [`${message.strategyId} ${message.version}`] });
});
const strategyIds = ["one", "throws", "ends", "is stubborn", "pauses", "fares", "fails", "logs"];
say({ kind: "CLAIMED", strategyIds });
say({ kind: "COPIES_CHANGED", copyIds: [JSON.stringify({ ...start, kind: database.kind })] });
