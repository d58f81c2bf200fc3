// Whether a copy holds what it should, in a word that leads to the page about it.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { driftHintQuery } from "../../api/copying.ts";
import { isOff } from "../../copying/drift.ts";
import { counted } from "../../copying/words.ts";
import { Missing } from "../../ui/badge.tsx";
import { TEXT_LINK } from "../../ui/button.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

export function DriftHint({ copyId }: { copyId: string }) {
  const { data, error } = useQuery(driftHintQuery(copyId));
  if (error !== null) return <Missing />;
  if (data === undefined) {
    return (
      <span aria-busy="true" className="block w-16">
        <Skeleton />
      </span>
    );
  }
  const off = data.rows.filter(isOff).length;
  return (
    <Link
      to="/copies/$copyId/drift"
      params={{ copyId }}
      className={off === 0 ? "hover:underline" : TEXT_LINK}
    >
      {off === 0 ? "In line" : `${counted(off, "symbol")} off`}
    </Link>
  );
}
