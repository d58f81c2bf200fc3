// Keeps a test file on this machine: a connection to any other host throws, and the file fails even if a
// client swallows what was thrown. A client whose base URL was pointed here only in part would talk to the
// real exchange.
import { Socket } from "node:net";
import { afterAll, beforeAll, expect } from "vitest";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/;

/**
 * Guards the test file that calls this at its top: every TCP and TLS connection of the process begins in
 * `connect`.
 */
export function stayOnLoopback(): void {
  const refused: string[] = [];
  const connect = Socket.prototype.connect;

  beforeAll(() => {
    Socket.prototype.connect = function guarded(this: Socket, ...parts: unknown[]) {
      const host = hostOf(parts);
      if (!LOOPBACK.test(host)) {
        refused.push(host);
        throw new Error(`a test may not connect to ${host}`);
      }
      return Reflect.apply(connect, this, parts);
    };
  });

  afterAll(() => {
    Socket.prototype.connect = connect;
    expect(refused).toEqual([]);
  });
}

/**
 * The host of any form in which `connect` is called: options, port and host, or the list that Node makes of
 * either.
 */
function hostOf([first, second]: readonly unknown[]): string {
  const target: unknown = Array.isArray(first) ? first[0] : first;
  if (typeof target === "object" && target !== null && "host" in target && typeof target.host === "string") {
    return target.host;
  }
  return typeof second === "string" ? second : "localhost";
}
