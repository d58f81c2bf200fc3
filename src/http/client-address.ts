// The address that a public request is charged to. Behind proxies every connection comes from the nearest one, so the
// client's address is what the proxies wrote into X-Forwarded-For: each adds, at the right, the address that it was asked
// from. What stands further left came with the request, and anybody can write it.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

const IPV4_WITH_PORT = /^([0-9.]+):[0-9]{1,5}$/;
const BRACKETED = /^\[([0-9a-fA-F:.]+)\](?::[0-9]{1,5})?$/;

/** The address of whom a request comes from, behind so many trusted proxies. */
export function addressOfRequest({ socket, headers }: IncomingMessage, hops: number): string {
  const forwardedFor = headers["x-forwarded-for"];
  const said = typeof forwardedFor === "string" ? forwardedFor : undefined;
  return clientAddress(socket.remoteAddress ?? "", said, hops);
}

/**
 * The client's address: the peer's own without proxies, else the entry that the outermost of `hops` trusted proxies wrote,
 * which is the one `hops` from the right.
 *
 * A header with fewer entries did not come through all the proxies, or one of them does not write it. Which of its entries
 * a proxy wrote cannot be told then, so none of them is believed and the peer's address is the answer; likewise if the
 * entry is no address. Nobody can choose that address: at worst, whoever is behind the same proxy shares a budget. Whoever
 * can reach the port without the proxies can write every entry, so the port must be open to the proxies alone.
 *
 * `forwardedFor` is the header as received, several of its kind joined by commas; undefined if there was none.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, hops: number): string {
  if (hops === 0 || forwardedFor === undefined) return peer;
  return addressOf(forwardedFor.split(",").at(-hops) ?? "") ?? peer;
}

/** An address without the port and the brackets that some proxies add, otherwise as it was spelt; null if it is none. */
function addressOf(entry: string): string | null {
  const text = entry.trim();
  const bare = IPV4_WITH_PORT.exec(text)?.[1] ?? BRACKETED.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : bare;
}
