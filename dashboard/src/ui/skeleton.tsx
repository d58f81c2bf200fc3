/** A grey line where text will be; what holds it says aria-busy. */
export function Skeleton({ lines = 1 }: { lines?: number }) {
  return (
    <span aria-hidden="true" className="flex flex-col gap-2">
      {Array.from({ length: lines }, (_none, line) => line).map((line) => (
        <span
          key={line}
          className={`h-3.5 rounded-sm bg-hover motion-safe:animate-pulse ${line > 0 && line === lines - 1 ? "w-2/3" : "w-full"}`}
        />
      ))}
    </span>
  );
}
