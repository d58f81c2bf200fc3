import type { ReactNode } from "react";

type RadioCardProps = {
  /** Of the group. */
  name: string;
  value?: string;
  isChosen: boolean;
  onChoose: () => void;
  title: string;
  /** At the right of the title. */
  aside?: ReactNode;
  says: string;
};

/** One choice of a few, with what it means. */
export function RadioCard({ name, value, isChosen, onChoose, title, aside, says }: RadioCardProps) {
  return (
    <label className="flex cursor-pointer gap-3 rounded-md border border-line-strong px-3 py-2.5 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2">
      <input
        type="radio"
        name={name}
        value={value}
        checked={isChosen}
        onChange={onChoose}
        className="mt-1 size-4 shrink-0 accent-accent"
      />
      <span className="min-w-0">
        <span className="flex flex-wrap justify-between gap-x-3">
          <span className="font-medium">{title}</span>
          {aside}
        </span>
        <span className="mt-0.5 block text-ink text-sm">{says}</span>
      </span>
    </label>
  );
}
