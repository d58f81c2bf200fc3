// A text that a list is searched by, sent with its button or with Enter.
import { useState } from "react";
import { Button } from "../button.tsx";
import { TextInput } from "./field.tsx";

type SearchFormProps = {
  label: string;
  /** What the list is searched by now; give the form a key of it. */
  searched: string;
  maxLength: number;
  /** Undefined if nothing was entered. */
  onSearch: (text: string | undefined) => void;
};

export function SearchForm({ label, searched, maxLength, onSearch }: SearchFormProps) {
  const [text, setText] = useState(searched);
  return (
    <search>
      <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onSearch(text.trim() || undefined);
        }}
      >
        <div className="w-56">
          <TextInput
            label={label}
            type="search"
            maxLength={maxLength}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </div>
        <Button type="submit">Search</Button>
      </form>
    </search>
  );
}
