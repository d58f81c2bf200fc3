// The lines that trade on a key, one client at a time.
import { useState } from "react";
import type { StrategyType } from "../../../src/dashboard-api/schemas.ts";
import { useSession } from "../api/session.ts";
import { CodeBlock } from "../ui/copy-button.tsx";
import { SECRET_PLACE, snippetsFor } from "./snippets.ts";

/** Of a key whose strategy is of this type. */
export function SnippetTabs({ type, apiKey }: { type: StrategyType; apiKey: string }) {
  const { server } = useSession();
  const snippets = snippetsFor({ type, apiKey, publicUrl: server.publicUrl });
  const [title, setTitle] = useState(snippets[0]?.title);
  const snippet = snippets.find((each) => each.title === title) ?? snippets[0];
  if (snippet === undefined) return null;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <fieldset className="flex flex-wrap gap-1 text-sm">
        <legend className="sr-only">Client</legend>
        {snippets.map((each) => (
          <label
            key={each.title}
            className="cursor-pointer rounded-md border border-line px-3 py-1 text-ink-soft hover:text-ink has-checked:border-accent has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={`client of ${apiKey}`}
              className="sr-only"
              checked={each === snippet}
              onChange={() => setTitle(each.title)}
            />
            {each.title}
          </label>
        ))}
      </fieldset>
      <CodeBlock
        text={snippet.text}
        label={`${snippet.title} example`}
        title={snippet.install ?? snippet.language}
      />
      <p className="text-ink-soft text-sm">
        Put the key’s secret where it says <code className="font-mono">{SECRET_PLACE}</code>. Each run buys
        once.
      </p>
    </div>
  );
}
