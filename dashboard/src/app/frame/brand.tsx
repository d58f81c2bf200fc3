import { Link } from "@tanstack/react-router";
import { BirdMark } from "../../ui/bird-mark.tsx";

/** Bird and name; leads home. */
export function Brand() {
  return (
    <Link to="/" className="flex items-center gap-2 rounded-md font-semibold text-lg tracking-tight">
      <span className="text-accent">
        <BirdMark />
      </span>
      Lyrebird
    </Link>
  );
}
