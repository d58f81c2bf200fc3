// The columns that every table of signals begins with.
import type { SignalJson } from "../../../../../src/dashboard-api/schemas.ts";
import { SignalLink } from "../../../trading/links.tsx";
import { Time } from "../../../ui/figures/figures.tsx";
import { type Column, column, headColumn } from "../../../ui/table.tsx";
import { signalInWords } from "./signal-words.ts";

export const SIGNAL_HEAD: readonly Column<SignalJson>[] = [
  headColumn({ header: "Received", isTime: true }, ({ signalId, receivedAt }) => (
    <span className="flex flex-col">
      <Time at={receivedAt} />
      <SignalLink signalId={signalId} />
    </span>
  )),
  column("Requested order", ({ order }) => signalInWords(order)),
];
