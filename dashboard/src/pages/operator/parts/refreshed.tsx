// The age of the shown data, and the button that reloads it.
import { Button } from "../../../ui/button.tsx";
import { formatTime } from "../../../ui/figures/figures.tsx";

type RefreshedProps = {
  /** When the answer came, Unix ms; zero before the first. */
  at: number;
  isBusy: boolean;
  onRefresh: () => void;
};

export function Refreshed({ at, isBusy, onRefresh }: RefreshedProps) {
  return (
    <>
      <span className="numeric text-ink-soft text-sm">
        {at === 0 ? "Not loaded yet" : `As of ${formatTime(at, "time")}`}
      </span>
      <Button size="small" onClick={onRefresh} aria-disabled={isBusy}>
        Refresh
      </Button>
    </>
  );
}
