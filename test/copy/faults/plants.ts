// Faults that are planted in a copy of the program, so that it can be shown that the audit finds them. The copy lies in a temporary
// directory; all but `src/` is the project's own.
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newDirectory } from "../../support/gateway.ts";
import type { CopyFaultKind } from "./faults.ts";

const ROOT = join(import.meta.dirname, "../../..");

type Change = {
  /** Below `src/`. */
  readonly file: string;
  readonly from: RegExp;
  readonly to: string;
};
type Plant = {
  readonly what: string;
  /** The kinds of faults of which the audit has to find some. */
  readonly finds: readonly CopyFaultKind[];
  readonly changes: readonly Change[];
};

/** An order that is told to be there before it is sent, which it is so much later. */
const toldBefore = (delay: string): Change => ({
  file: "copy/lanes/dealings.ts",
  from: /return this\.#deliver\(\{ kind: "ORDER", order \}, mayStillSend, null\);/,
  to: `const at = Date.now();
    setTimeout(() => void this.#deliver({ kind: "ORDER", order }, mayStillSend, null).catch(() => {}), ${delay});
    const counts = { sends: 1, queries: 0, sentAt: at, acknowledgedAt: at };
    const { clientOrderId, quantity } = order;
    const executed = { executedQuantity: ZERO, executedQuote: ZERO };
    const state = { clientOrderId, venueOrderId: "1", status: "RESTING", quantity, ...executed, updatedAt: at };
    return Promise.resolve({ kind: "PLACED", state, counts });`,
});

export const PLANTS = {
  "random-ids": {
    what: "client ids are drawn: what is sent again is another order",
    finds: ["DOUBLED"],
    changes: [{ file: "copy/client-ids.ts", from: /\.update\(text\)/, to: ".update(text + Math.random())" }],
  },
  "sent-again-at-once": {
    what: "an order whose answer did not come is sent again without asking",
    finds: ["DOUBLED"],
    changes: [
      {
        file: "copy/venue/delivery.ts",
        from: /if \(answer\.kind === "UNKNOWN"\) openSince = \w+(\(\))?;/,
        to: "",
      },
    ],
  },
  "not-found-believed": {
    what: "what the venue does not find is sent again at once, though it may be on its way",
    finds: ["DOUBLED"],
    changes: [{ file: "copy/venue/delivery.ts", from: /if \(leftMs > 0\)/, to: "if (leftMs > 1e9)" }],
  },
  "not-asked-after-restart": {
    what: "after a restart nobody asks what was sent before",
    finds: ["DOUBLED"],
    changes: [
      { file: "copy/lanes/lane.ts", from: /if \(!taken\.mayHaveSent\) return;/, to: "if (taken) return;" },
    ],
  },
  "recorded-before-sent": {
    what: "an order is recorded before it is sent",
    finds: ["LOST"],
    changes: [toldBefore("100")],
  },
  "not-serial": {
    what: "orders of one copy are sent side by side, and cancels beside them",
    finds: ["DISORDERED"],
    changes: [toldBefore("3_000 * Math.random()")],
  },
  "skipped-silently": {
    what: "what is too small leaves no line in the log",
    finds: ["LOST"],
    changes: [
      {
        file: "copy/lanes/place.ts",
        from: /turn\.add\(skipped\(sizedLine, scaled\.skip\)\);/,
        to: "",
      },
    ],
  },
  "cancels-forgotten": {
    what: "what the strategy takes back is left where it is",
    finds: ["DISORDERED"],
    changes: [
      { file: "copy/lanes/carry-out.ts", from: /return await cancel\(work, action\);/, to: "return;" },
    ],
  },
} as const satisfies Readonly<Record<string, Plant>>;
export type PlantName = keyof typeof PLANTS;

/** Makes a copy of the program with a fault in it; answers where it lies. */
export function plant(name: PlantName): string {
  const root = newDirectory();
  for (const entry of readdirSync(ROOT)) {
    if (entry !== "src" && !entry.startsWith(".")) symlinkSync(join(ROOT, entry), join(root, entry));
  }
  cpSync(join(ROOT, "src"), join(root, "src"), { recursive: true });
  for (const { file, text } of changedFiles(name)) writeFileSync(join(root, "src", file), text);
  return root;
}

/** The files that a fault changes, as they are with it. Throws if there is nothing of what it changes. */
export function changedFiles(name: PlantName): readonly { readonly file: string; readonly text: string }[] {
  return PLANTS[name].changes.map(({ file, from, to }: Change) => {
    const text = readFileSync(join(ROOT, "src", file), "utf8");
    if (!from.test(text)) throw new Error(`${name} cannot be planted: ${file} has changed`);
    return { file, text: text.replace(from, to) };
  });
}
