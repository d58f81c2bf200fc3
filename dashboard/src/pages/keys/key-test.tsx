// "Test this key": each check that a request meets, in their order, with what was found and what to do about
// it.

import { useQuery } from "@tanstack/react-query";
import type { KeyTestJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { Button } from "../../ui/button.tsx";
import { QueryState } from "../../ui/card.tsx";

/** Runs the test when it is first shown, and again when asked to. */
export function KeyTest({ keyId }: { keyId: string }) {
  // Another key is another test: the result of the one before must not show.
  return <Test key={keyId} keyId={keyId} />;
}

function Test({ keyId }: { keyId: string }) {
  const query = useQuery({
    queryKey: ["key-test", keyId],
    queryFn: () => call("POST /keys/:keyId/test", { keyId }),
    // The result of a minute ago says nothing about now.
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const { data, error, refetch, isFetching } = query;
  if (error !== null || data === undefined) return <QueryState of={query} lines={5} isBare />;
  return (
    <div className="flex flex-col items-start gap-4">
      <p role="status" className="font-medium">
        {data.isFine ? "Nothing is wrong with this key." : "Something is in the way of this key."}
      </p>
      <ol className="w-full divide-y divide-line rounded-md border border-line">
        {data.checks.map((check) => (
          <Check key={check.name} check={check} />
        ))}
      </ol>
      <Button size="small" onClick={() => void refetch()} isBusy={isFetching}>
        Test again
      </Button>
    </div>
  );
}

const OUTCOMES = {
  PASSED: { sign: "✓", word: "passed", look: "text-gain" },
  FAILED: { sign: "✕", word: "failed", look: "text-loss" },
  UNKNOWN: { sign: "?", word: "not known", look: "text-ink-soft" },
} as const;

function Check({ check }: { check: KeyTestJson["checks"][number] }) {
  const { sign, word, look } = OUTCOMES[check.outcome];
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)] gap-x-3 px-3 py-2">
      <span aria-hidden="true" className={`font-semibold ${look}`}>
        {sign}
      </span>
      <div>
        <p className="flex flex-wrap justify-between gap-x-3">
          <span className="font-medium">{check.name}</span>
          <span className={`text-xs ${look}`}>{word}</span>
        </p>
        <p className="text-ink-soft text-sm">{check.says}</p>
        {check.action !== undefined && <p className="mt-0.5 text-sm">{check.action}</p>}
      </div>
    </li>
  );
}
