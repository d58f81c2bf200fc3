// How stock clients of JavaScript are pointed at the gateway and follow the events of their account. Each
// opener resolves when its client has subscribed, as far as the client says so. The events are the client's
// own: most hand over the exchange's messages, and `binance-api-node` has names of its own for the fields.
import { WebsocketAPIClient, WebsocketClient } from "binance";
import ApiNode from "binance-api-node";
import Binance from "node-binance-api";
import type { Key, Told } from "./client.ts";

/** `gateway.url`, as of HTTP. */
export type OpenUserData = (
  key: Key,
  url: string,
  take: (event: Told) => void,
) => Promise<{ readonly client: Told; close(): void | Promise<void> }>;

const socketsOf = (url: string) => url.replace("http", "ws");

export const binanceSpot: OpenUserData = async ({ apiKey, apiSecret }, url, take) => {
  const client: Told = new WebsocketAPIClient({
    api_key: apiKey,
    api_secret: apiSecret,
    wsUrl: socketsOf(url),
    restOptions: { baseUrl: url },
    attachEventListeners: false,
  } as Told);
  client.getWSClient().on("message", take);
  client.getWSClient().on("exception", () => {});
  await client.subscribeUserDataStream("mainWSAPI");
  return { client, close: () => client.getWSClient().closeAll(true) };
};

export const binanceFutures: OpenUserData = async ({ apiKey, apiSecret }, url, take) => {
  const client: Told = new WebsocketClient({
    api_key: apiKey,
    api_secret: apiSecret,
    wsUrl: socketsOf(url),
    restOptions: { baseUrl: url },
  });
  client.on("message", take);
  client.on("exception", () => {});
  const opened = new Promise((resolve) => client.on("open", resolve));
  await client.subscribeUsdFuturesUserDataStream();
  await opened;
  return { client, close: () => client.closeAll(true) };
};

export const nodeBinanceSpot: OpenUserData = async ({ apiKey, apiSecret }, url, take) => {
  const sockets = socketsOf(url);
  const client: Told = new (Binance as Told)().options({
    APIKEY: apiKey,
    APISECRET: apiSecret,
    recvWindow: 10_000,
    urls: {
      base: `${url}/api/`,
      stream: `${sockets}/ws/`,
      combineStream: `${sockets}/stream?streams=`,
    },
  });
  client.wsApi = `${sockets}/ws-api/v3`;
  await new Promise<Told>((resolve) => {
    client.websockets.userData(undefined, take, take, resolve);
  });
  return {
    client,
    close() {
      for (const endpoint of Object.keys(client.websockets.subscriptions()))
        client.websockets.terminate(endpoint);
    },
  };
};

export const nodeBinanceFutures: OpenUserData = async ({ apiKey, apiSecret }, url, take) => {
  const sockets = socketsOf(url);
  const client: Told = new (Binance as Told)().options({
    APIKEY: apiKey,
    APISECRET: apiSecret,
    recvWindow: 10_000,
    // It would ask for a listen key once more when the connection ends, also after the test.
    reconnect: false,
    urls: { base: `${url}/api/`, fapi: `${url}/fapi/` },
  });
  client.getFStreamSingleUrl = (category: string) => `${sockets}/${category}/ws/`;
  client.getFStreamUrl = (category: string) => `${sockets}/${category}/stream?streams=`;
  await new Promise((resolve) => {
    client.websockets.userFutureData(take, undefined, undefined, undefined, resolve);
  });
  return {
    client,
    close() {
      for (const endpoint of Object.keys(client.futuresSubscriptions))
        client.websockets.futuresTerminate(endpoint);
    },
  };
};

export const apiNodeSpot: OpenUserData = async ({ apiKey, apiSecret }, url, take) => {
  const client: Told = (ApiNode as Told)({
    apiKey,
    apiSecret,
    httpBase: url,
    wsBase: `${socketsOf(url)}/ws`,
    wsApi: `${socketsOf(url)}/ws-api/v3`,
  });
  return { client, close: await client.ws.user(take) };
};

export const apiNodeFutures: OpenUserData = async ({ apiKey, apiSecret }, url, take) => {
  const client: Told = (ApiNode as Told)({
    apiKey,
    apiSecret,
    httpBase: url,
    httpFutures: url,
    wsFutures: `${socketsOf(url)}/public/ws`,
    wsFuturesPrivate: `${socketsOf(url)}/private/ws`,
  });
  return { client, close: await client.ws.futuresUser(take) };
};
