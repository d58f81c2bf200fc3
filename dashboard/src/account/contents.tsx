// What ends with an account, and what is kept: said before it is closed, by its owner or an operator.
import type { AccountContentsJson } from "../../../src/dashboard-api/schemas.ts";

export function AccountContents({ contents }: { contents: AccountContentsJson }) {
  const { sessions, liveKeys, openStrategies, liveCopies, connectedAccounts } = contents;
  return (
    <ul className="list-disc pl-5">
      <li>
        Address, name, password, second factor and identity forms are erased, and{" "}
        {counted(sessions, "session")} ended. The address can sign up again, as somebody new.
      </li>
      <li>{counted(liveKeys, "API key")} revoked at once.</li>
      <li>
        {counted(openStrategies, "strategy", "strategies")} closed for good: orders are canceled, positions
        closed, and copies of them end.
      </li>
      <li>
        {counted(liveCopies, "copy", "copies")} stopped without selling: what they hold stays at the exchange.
        Open orders that would buy more are withdrawn.
      </li>
      <li>{counted(connectedAccounts, "exchange account")} disconnected, and the credentials destroyed.</li>
      <li>Orders, trades and the audit trail are kept, without name and address.</li>
    </ul>
  );
}

/** "1 session is", "3 sessions are". */
function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? `${one} is` : `${many} are`}`;
}
