// Records the public market data of a symbol, as a spot pair and as a contract, into a tape for --market
// tape: node tools/record-tape.mjs BTCUSDT 600 btcusdt.ndjson.gz Each line is the receive time in ns and the
// message as received. The four UPSTREAM_… addresses name another host.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { createGzip } from "node:zlib";
import { WebSocket } from "ws";

const [symbol = "", seconds = "", file = ""] = process.argv.slice(2);
if (!/^[A-Z0-9]+$/.test(symbol) || !(Number(seconds) > 0) || file === "") {
  process.stderr.write("usage: node tools/record-tape.mjs SYMBOL SECONDS FILE\n");
  process.exit(2);
}
const {
  UPSTREAM_SPOT_REST_URL: spotRestUrl = "https://api.binance.com",
  UPSTREAM_SPOT_WS_URL: spotWsUrl = "wss://stream.binance.com:9443",
  UPSTREAM_FUTURES_REST_URL: futuresRestUrl = "https://fapi.binance.com",
  UPSTREAM_FUTURES_WS_URL: futuresWsUrl = "wss://fstream.binance.com",
} = process.env;
const MARKETS = [
  {
    name: "spot",
    depthUrl: `${spotRestUrl}/api/v3/depth?symbol=${symbol}&limit=1000`,
    streams: [[`${spotWsUrl}/stream`, "bookTicker", "trade", "aggTrade", "depth@100ms"]],
  },
  {
    name: "futures",
    depthUrl: `${futuresRestUrl}/fapi/v1/depth?symbol=${symbol}&limit=1000`,
    streams: [
      [`${futuresWsUrl}/public/stream`, "bookTicker", "depth@100ms"],
      [`${futuresWsUrl}/market/stream`, "aggTrade", "markPrice@1s"],
    ],
  },
];

const tape = createGzip();
const written = once(tape.pipe(createWriteStream(file)), "finish");
const sockets = [];
let count = 0;

function record(text) {
  count += 1;
  tape.write(`${BigInt(Date.now()) * 1_000_000n} ${text}\n`);
}

for (const { name, depthUrl, streams } of MARKETS) {
  const isListed = (await fetch(depthUrl)).ok;
  process.stdout.write(`${name}: ${isListed ? "recorded" : `${symbol} is not listed`}\n`);
  if (!isListed) continue;
  for (const [url, ...channels] of streams) {
    const names = channels.map((channel) => `${symbol.toLowerCase()}@${channel}`).join("/");
    const socket = new WebSocket(`${url}?streams=${names}`);
    socket.on("message", (data) => record(data.toString()));
    socket.on("close", () => stop("a connection was closed"));
    sockets.push(socket);
    await once(socket, "open");
  }
  // After the streams are open, so that every change that follows on the snapshot is recorded.
  record(await (await fetch(depthUrl)).text());
}
if (sockets.length === 0) process.exit(1);
setTimeout(() => stop(`${seconds} seconds are over`), Number(seconds) * 1_000);
process.on("SIGINT", () => stop("interrupted"));

let isStopped = false;
async function stop(reason) {
  if (isStopped) return;
  isStopped = true;
  for (const socket of sockets) socket.terminate();
  tape.end();
  await written;
  process.stdout.write(`${file}: ${count} messages; ${reason}\n`);
  process.exit(0);
}
