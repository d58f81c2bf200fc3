// The reference exchange's published signatures, and where the signature is cut out of what was received.
// Source: reference exchange, section 3.
import { describe, expect, test } from "vitest";
import { sign, signedMessage, verifies } from "./signatures.ts";

const SPOT_SECRET = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j";
const FUTURES_SECRET = "2b5eb11e18796d12d88f13dc27dbbd02c2cc51ff7059765ed9821957d82bb4d9";

const VECTORS = [
  {
    name: "spot, one part",
    secret: SPOT_SECRET,
    query:
      "symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559",
    body: "",
    hex: "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71",
  },
  {
    name: "spot, query and body with nothing between",
    secret: SPOT_SECRET,
    query: "symbol=LTCBTC&side=BUY&type=LIMIT&timeInForce=GTC",
    body: "quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559",
    hex: "0fd168b8ddb4876a0358a8d14d0c9f3da0e9b20c5d52b2a00fcf7d1c602f9a77",
  },
  {
    name: "spot, percent-encoded",
    secret: SPOT_SECRET,
    query:
      "symbol=%EF%BC%91%EF%BC%92%EF%BC%93%EF%BC%94%EF%BC%95%EF%BC%96&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp=1499827319559",
    body: "",
    hex: "e1353ec6b14d888f1164ae9af8228a3dbd508bc82eb867db8ab6046442f33ef3",
  },
  {
    name: "futures, one part",
    secret: FUTURES_SECRET,
    query:
      "symbol=BTCUSDT&side=BUY&type=LIMIT&quantity=1&price=9000&timeInForce=GTC&recvWindow=5000&timestamp=1591702613943",
    body: "",
    hex: "3c661234138461fcc7a7d8746c6558c9842d4e10870d2ecbedf7777cad694af9",
  },
  {
    name: "futures, query and body",
    secret: FUTURES_SECRET,
    query: "symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=GTC",
    body: "quantity=1&price=9000&recvWindow=5000&timestamp=1591702613943",
    hex: "30baaf0fab549bbeda7f5ef201898b34122da25fd23c646cac2c529aebe670a4",
  },
] as const;

describe("published signatures", () => {
  for (const { name, secret, query, body, hex } of VECTORS) {
    test(`${name}: the signature is the published one`, () => {
      expect(sign(secret, query + body)).toBe(hex);
    });

    test(`${name}: it verifies as the last parameter of either part`, () => {
      const inQuery = signedMessage(`${query}&signature=${hex}`, body);
      expect(inQuery).toEqual({ message: query + body, signature: hex });
      expect(verifies(secret, inQuery.message, hex)).toBe(true);

      const signedBody = body === "" ? `signature=${hex}` : `${body}&signature=${hex}`;
      const inBody = signedMessage(query, signedBody);
      expect(inBody).toEqual({ message: query + body, signature: hex });
      expect(verifies(secret, inBody.message, hex)).toBe(true);
    });
  }
});

describe("removing the signature", () => {
  // query, body → message. Source: the table of reference exchange, section 3; the last rows are ours.
  const ROWS = [
    ["a=1&timestamp=2&signature=X", "", "a=1&timestamp=2"],
    ["", "a=1&timestamp=2&signature=X", "a=1&timestamp=2"],
    ["a=1", "b=2&timestamp=3&signature=X", "a=1b=2&timestamp=3"],
    ["a=1&signature=X", "b=2&timestamp=3", "a=1b=2&timestamp=3"],
    ["signature=X&a=1&timestamp=2", "", "a=1&timestamp=2"],
    ["a=1&signature=X&timestamp=2", "", "a=1&timestamp=2"],
    ["a=1", "signature=X&timestamp=3", "a=1timestamp=3"],
    ["a=1", "b=2&signature=X&timestamp=3", "a=1b=2&timestamp=3"],
    ["signature=X", "a=1&timestamp=2", "a=1&timestamp=2"],
    ["signature=X", "", ""],
    // Nothing is decoded, sorted or tidied.
    ["b=%2f&a=+&&timestamp=2&signature=X", "", "b=%2f&a=+&&timestamp=2"],
    // Only the parameter of that very name is the signature.
    ["xsignature=1&a=signature=2&signature=X", "", "xsignature=1&a=signature=2"],
  ] as const;

  for (const [query, body, message] of ROWS) {
    test(`of ?${query} with body "${body}" the message is "${message}"`, () => {
      expect(signedMessage(query, body)).toEqual({ message, signature: "X" });
    });
  }

  test("without one, the message is all there is and the signature is null", () => {
    expect(signedMessage("a=1&xsignature=2", "b=3")).toEqual({
      message: "a=1&xsignature=2b=3",
      signature: null,
    });
  });

  test("an empty one is empty, not absent", () => {
    expect(signedMessage("a=1&signature=", "")).toEqual({ message: "a=1", signature: "" });
  });
});

describe("a signature verifies only", () => {
  const message = "timestamp=1499827319559";
  const hex = sign(SPOT_SECRET, message);
  const REFUSED = [
    ["uppercase", hex.toUpperCase()],
    ["cut short", hex.slice(0, 63)],
    ["with a digit more", `${hex}0`],
    ["with a line break after it", `${hex}\n`],
    ["with its first digit changed", `${hex.startsWith("0") ? "1" : "0"}${hex.slice(1)}`],
    ["not hex at all", "z".repeat(64)],
    ["empty", ""],
  ] as const;

  test("as 64 lowercase hex characters", () => {
    expect(verifies(SPOT_SECRET, message, hex)).toBe(true);
  });

  for (const [how, signature] of REFUSED) {
    test(`and not ${how}`, () => {
      expect(verifies(SPOT_SECRET, message, signature)).toBe(false);
    });
  }

  test("with the secret as text, not as the bytes that its hex spells", () => {
    const decoded = Buffer.from(FUTURES_SECRET, "hex").toString("latin1");
    expect(verifies(decoded, message, sign(FUTURES_SECRET, message))).toBe(false);
  });

  test("over bytes as they came: a message beyond ASCII is one byte a character", () => {
    // UTF-8 "é" as received on the wire.
    expect(verifies(SPOT_SECRET, "a=Ã©", sign(SPOT_SECRET, Buffer.from("a=é").toString("latin1")))).toBe(
      true,
    );
  });
});
