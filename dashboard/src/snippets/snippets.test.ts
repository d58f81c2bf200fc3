// What the snippets say; that they trade is shown by test/clients/snippets.test.ts, which runs them.
import { describe, expect, test } from "vitest";
import { SECRET_PLACE, snippetsFor } from "./snippets.ts";

const KEY = "lyre_bot_0123456789abcdef";
const URL = "https://bots.example.net:8443";

describe.each(["SPOT", "FUTURES"] as const)("%s", (type) => {
  const snippets = snippetsFor({ type, apiKey: KEY, publicUrl: URL });

  test("are for ccxt, python-binance and curl, in this order", () => {
    expect(snippets.map(({ title }) => title)).toEqual(["ccxt", "python-binance", "curl"]);
  });

  test("hold the key, a place for the secret, and no address but ours", () => {
    for (const { title, text } of snippets) {
      expect(text, title).toContain(KEY);
      expect(text, title).toContain(SECRET_PLACE);
      const addresses = [...text.matchAll(/https?:\/\/[\w.:-]+/g)].map(([address]) => address);
      expect(addresses.length, title).toBeGreaterThan(0);
      expect(new Set(addresses), title).toEqual(new Set([URL]));
    }
  });

  test("are the same with a slash at the end of the address", () => {
    expect(snippetsFor({ type, apiKey: KEY, publicUrl: `${URL}/` })).toEqual(snippets);
  });

  test("name the routes of the strategy's type", () => {
    const [ccxt, python, curl] = snippets.map(({ text }) => text);
    const isSpot = type === "SPOT";
    expect(ccxt).toContain(isSpot ? "new ccxt.binance(" : "new ccxt.binanceusdm(");
    expect(python).toContain(isSpot ? "client.create_order(" : "client.futures_create_order(");
    expect(curl).toContain(isSpot ? "/api/v3/order?" : "/fapi/v1/order?");
  });
});

test("ccxt's addresses all become ours, whatever they were", () => {
  const [ccxt] = snippetsFor({ type: "SPOT", apiKey: KEY, publicUrl: URL });
  const line = ccxt?.text.split("\n").find((each) => each.startsWith("for ")) ?? "";
  const exchange = {
    urls: { api: { public: "https://api.binance.com/api/v3", dapi: "http://dapi.example.com/dapi/v1" } },
  };
  new Function("exchange", line)(exchange);
  expect(exchange.urls.api).toEqual({ public: `${URL}/api/v3`, dapi: `${URL}/dapi/v1` });
});
