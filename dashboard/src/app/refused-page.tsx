import { ButtonLink } from "../ui/links.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import type { Refused } from "./audience.ts";

/** Instead of a page that is not for this person: why, and what they may do. */
export function RefusedPage({ refused: { title, why, to, action } }: { refused: Refused }) {
  return (
    <>
      <PageHeader title={title} lead={why} />
      <ButtonLink to={to}>{action}</ButtonLink>
    </>
  );
}
