// Faults that are planted in a copy of the program, so that it can be shown that the audit finds them. The
// copy lies in a temporary directory; all but `src/` is the project's own.
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newDirectory } from "../../support/servers/gateway.ts";
import type { CopyFaultKind } from "./faults.ts";

const ROOT = join(import.meta.dirname, "../../..");

type Change = {
  /** Below `src/`. */
  readonly file: string;
  readonly from: RegExp;
  readonly to: string;
};
type Mutation = {
  readonly what: string;
  /** The kinds of faults of which the audit has to find some. */
  readonly finds: readonly CopyFaultKind[];
  readonly changes: readonly Change[];
};

/** An order that is said to be there before it is sent, which it is so much later. */
const toldBefore = (delay: string): Change => ({
  file: "copy/executor/submit.ts",
  from: /const answer = await attempts\.attempt\(session\);/,
  to: `setTimeout(() => void attempts.attempt(session).catch(() => {}), ${delay});
    const quantity = given.quantity ?? ZERO;
    const executed = { executedQuantity: ZERO, executedQuote: ZERO, updatedAt: now() };
    const said = { clientOrderId: "", venueOrderId: "1", status: "RESTING", quantity, ...executed };
    const answer: any = { kind: "OK", value: said };`,
});

export const MUTATIONS = {
  "random-ids": {
    what: "client ids are drawn: what is sent again is another order",
    finds: ["DOUBLED"],
    changes: [
      { file: "copy/executor/client-ids.ts", from: /\.update\(text\)/, to: ".update(text + Math.random())" },
    ],
  },
  "sent-again-at-once": {
    what: "an order whose answer did not come is sent again without asking",
    finds: ["DOUBLED"],
    changes: [
      {
        file: "copy/executor/submit.ts",
        from: /attempts\.doubt\(attempts\.askedAt\);/,
        to: "attempts.next();",
      },
    ],
  },
  "not-found-believed": {
    what: "what the venue does not find is sent again at once, though it may be on its way",
    finds: ["DOUBLED"],
    changes: [
      {
        file: "copy/executor/submit.ts",
        from: /if \(leftMs <= 0 \|\| isLeg\(this\.#row\)\) break;/,
        to: "break;",
      },
      {
        file: "copy/executor/submit.ts",
        from: /if \(isLeg\(this\.#row\)\) return "ABSENT";/,
        to: 'return "ABSENT";',
      },
    ],
  },
  "not-asked-after-restart": {
    what: "after a restart nobody asks what was sent before",
    finds: ["DOUBLED"],
    changes: [
      {
        file: "copy/executor/submit.ts",
        from: /if \(given\.status === "SENT"\) attempts\.doubt\(given\.updatedAt \+ CLOCKS_APART_MS\);/,
        to: 'if (given.status === "SENT") attempts.next();',
      },
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
    what: "what is too small is said to be canceled",
    finds: ["LOST"],
    changes: [
      {
        file: "copy/executor/place.ts",
        from: /state\.put\(\{ \.\.\.skipped\(sizedRow, scaled\.skip\), updatedAt: now\(\) \}\);/,
        to: 'state.put({ ...sizedRow, status: "CANCELED" });',
      },
    ],
  },
  "cancels-forgotten": {
    what: "what the strategy takes back is left where it is",
    finds: ["DISORDERED"],
    changes: [
      {
        file: "copy/copy-executor.ts",
        from: /return await cancel\(context, row, action\);/,
        to: 'return void state.put({ ...row, status: "DONE" });',
      },
    ],
  },
  "money-counted-twice": {
    what: "a spot copy counts what it holds twice",
    finds: ["MISSIZED"],
    changes: [
      {
        file: "copy/sizing/proportion.ts",
        from: /return workedWith\(funds\.settings, accountEquity\(funds\)\);/,
        to: `const whole = accountEquity(funds);
  return workedWith(funds.settings, add(whole, subtract(whole, funds.wallet)));`,
      },
    ],
  },
  "stops-not-placed": {
    what: "the venue is said to refuse every stop",
    finds: ["NAKED"],
    changes: [
      {
        file: "copy/venue/account.ts",
        from: /const answer = await rest\.ask\(\{ \.\.\.PLACE_LEG,/,
        to: `if (leg.type === "STOP_MARKET") return { kind: "REFUSED", code: -1111, message: "planted" };
  $&`,
      },
    ],
  },
  "exits-halved": {
    what: "what the strategy leaves, a copy leaves by half, and does not make up for it",
    finds: ["OFF_TARGET"],
    changes: [
      {
        file: "copy/sizing/proportion.ts",
        from: /function scaledPart\(quantity: Quantity, scale: Scale\): Part \{/,
        to: `function scaledPart(whole: Quantity, scale: Scale): Part {
  const isExit = scale.by === "HOLDING" || scale.by === "POSITION";
  const quantity = isExit ? whole / 2n : whole;`,
      },
      {
        file: "copy/reconcile/reconciler.ts",
        from: /if \(excess <= 0n\) return CLEAN;/,
        to: "if (excess <= 0n || !terms.isClosing) return CLEAN;",
      },
    ],
  },
} as const satisfies Readonly<Record<string, Mutation>>;
export type MutationName = keyof typeof MUTATIONS;

/** Makes a copy of the program with a fault in it; answers where it lies. */
export function mutation(name: MutationName): string {
  const root = newDirectory();
  for (const entry of readdirSync(ROOT)) {
    if (entry !== "src" && !entry.startsWith(".")) symlinkSync(join(ROOT, entry), join(root, entry));
  }
  cpSync(join(ROOT, "src"), join(root, "src"), { recursive: true });
  for (const { file, text } of changedFiles(name)) writeFileSync(join(root, "src", file), text);
  return root;
}

/** The files that a fault changes, as they are with it. Throws if there is nothing of what it changes. */
export function changedFiles(
  name: MutationName,
): readonly { readonly file: string; readonly text: string }[] {
  const texts = new Map<string, string>();
  for (const { file, from, to } of MUTATIONS[name].changes as readonly Change[]) {
    const text = texts.get(file) ?? readFileSync(join(ROOT, "src", file), "utf8");
    if (!from.test(text)) throw new Error(`${name} cannot be planted: ${file} has changed`);
    texts.set(file, text.replace(from, to));
  }
  return [...texts].map(([file, text]) => ({ file, text }));
}
