// The output of a server's first start, which is never repeated: the demo's trader, and the keys of their
// strategies.
import type { Credentials } from "../support/servers/gateway.ts";

export type DemoTrader = { readonly email: string; readonly password: string };

export function demoTraderIn(greeting: string): DemoTrader {
  const email = /^ {2}e-mail +(\S+)$/m.exec(greeting)?.[1];
  const password = /^ {2}password +(\S+)$/m.exec(greeting)?.[1];
  if (email === undefined || password === undefined) throw new Error(`no demo trader in: ${greeting}`);
  return { email, password };
}

/** Spot, then futures. */
export function demoKeysIn(greeting: string): readonly Omit<Credentials, "strategyId">[] {
  const found = greeting.matchAll(/^ {2}apiKey +(\S+)\n {2}secret +(\S+)$/gm);
  return [...found].map(([, apiKey = "", apiSecret = ""]) => ({ apiKey, apiSecret }));
}
