// `lyrebird audit`: who did what to which key, and when.
import { type Command, isoTime, type Options, openNamedDatabase, printRows } from "./command.ts";

export const AUDIT: Command = {
  name: "audit",
  operand: "",
  options: ["json"],
  purpose: "show what was done to keys, by whom and when, oldest first",
  details: "  --json   one line of JSON an entry",
  run: audit,
};

async function audit({ json = false, ...options }: Options): Promise<number> {
  const store = await openNamedDatabase(options);
  try {
    const apiKeys = new Map((await store.listKeys()).map(({ key }) => [key.keyId, key.apiKey]));
    const rows = (await store.listAudit()).map(({ at, who, what, keyId }) => ({
      at: isoTime(at),
      who,
      what,
      keyId,
      apiKey: apiKeys.get(keyId) ?? null,
    }));
    printRows(rows, {
      asJson: json,
      columns: {
        WHEN: ({ at }) => at,
        WHO: ({ who }) => who,
        WHAT: ({ what }) => what,
        KEY: ({ keyId, apiKey }) => apiKey ?? keyId,
      },
    });
    return 0;
  } finally {
    await store.close();
  }
}
