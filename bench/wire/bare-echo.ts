// The ceiling: what a gateway on node:http could do at most if it did nothing but verify. It checks the same
// signature over query and body and answers the parameters as JSON; no limits, no routes, no store. On `ws`
// it does the same with requests of the WebSocket API.
//
// A process of its own. It is sent the keys once and answers with its port.
import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";

export type EchoKeys = { readonly keys: readonly { readonly apiKey: string; readonly apiSecret: string }[] };
export type EchoReady = { readonly port: number };

const HOST = "127.0.0.1";
const KEEP_ALIVE_MS = 75_000;

const keys = new Map<string, KeyObject>();

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  const { url = "", headers } = request;
  const mark = url.indexOf("?");
  const query = mark === -1 ? "" : url.slice(mark + 1);
  const apiKey = headers["x-mbx-apikey"];
  const key = typeof apiKey === "string" ? keys.get(apiKey) : undefined;
  if (headers["content-length"] === undefined) return answer(response, key, query, "");
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => answer(response, key, query, body));
});

const webSockets = new WebSocketServer({ server, perMessageDeflate: false });
webSockets.on("connection", (webSocket) => {
  webSocket.on("message", (data) => {
    const { id, params } = JSON.parse(String(data));
    const { signature, ...signed } = params;
    const form = Object.keys(signed)
      .sort()
      .map((name) => `${name}=${signed[name]}`)
      .join("&");
    const isSigned = isSignatureOf(keys.get(signed.apiKey), form, signature);
    webSocket.send(JSON.stringify({ id, status: isSigned ? 200 : 401, result: isSigned ? signed : {} }));
  });
});

function answer(response: ServerResponse, key: KeyObject | undefined, query: string, body: string): void {
  const message = query + body;
  const cut = message.lastIndexOf("&signature=");
  const isSigned = isSignatureOf(key, message.slice(0, cut), message.slice(cut + 11));
  const text = isSigned ? JSON.stringify(parametersOf(message.slice(0, cut))) : "{}";
  response.writeHead(isSigned ? 200 : 401, {
    "content-type": "application/json;charset=UTF-8",
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

function isSignatureOf(key: KeyObject | undefined, message: string, signature: string): boolean {
  return key !== undefined && createHmac("sha256", key).update(message, "latin1").digest("hex") === signature;
}

function parametersOf(form: string): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const pair of form.split("&")) {
    const equals = pair.indexOf("=");
    parameters[pair.slice(0, equals)] = decodeURIComponent(pair.slice(equals + 1));
  }
  return parameters;
}

process.once("message", (message: EchoKeys) => {
  for (const { apiKey, apiSecret } of message.keys) keys.set(apiKey, createSecretKey(apiSecret, "utf8"));
  server.listen(0, HOST, () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ port } satisfies EchoReady);
  });
});
process.once("disconnect", () => process.exit());
